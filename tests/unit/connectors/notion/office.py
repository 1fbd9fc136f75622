"""A small Notion workspace on loopback, a source that reads it and an index to sync into."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from connectors.notion.source import NotionSource
from core.database import Database
from core.pacing import Timing
from core.settings import IngestSettings
from core.source_settings import NotionSettings
from knowledge.access import ReadableClasses
from knowledge.directory import Directory
from knowledge.documents import DocumentId
from knowledge.people import DirectoryContent, Group, Person, PersonId
from knowledge.sync_report import SyncReport
from playground.notion.editor import Editor
from playground.notion.server import PLAYGROUND_TOKEN, NotionServer, serve_notion
from playground.notion.workspace import Json, Workspace
from tests.unit.knowledge.ingesting import Workbench, open_workbench

START = datetime(2026, 3, 2, 9, 0, 30, tzinfo=UTC)
ANNA, BEN = PersonId("anna"), PersonId("ben")
STAFF = {"inherit": False, "users": [], "groups": ["staff"]}
ANNA_ONLY = {"inherit": False, "users": ["anna"], "groups": []}


@dataclass
class MovableClock:
    """A clock that tests move."""

    moment: datetime = START

    def now(self) -> datetime:
        return self.moment

    def forward(self, **time: float) -> None:
        self.moment += timedelta(**time)


@dataclass
class QuickTime:
    """Time in which waits take none, for retries."""

    passed_s: float = 0.0

    def monotonic(self) -> float:
        return self.passed_s

    async def sleep(self, seconds: float) -> None:
        self.passed_s += seconds
        await asyncio.sleep(0)

    def build(self) -> Timing:
        return Timing(monotonic=self.monotonic, sleep=self.sleep, rng=random.Random(1))


@dataclass
class Office:
    """Everything a test of the connector touches."""

    workspace: Workspace
    server: NotionServer
    editor: Editor
    bench: Workbench
    directory: Directory
    folder: Path
    clock: MovableClock
    options: dict[str, Any] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)

    @property
    def access_file(self) -> Path:
        return self.folder / "access.json"

    def open_source(self, **options: Any) -> NotionSource:
        values: dict[str, Any] = {
            "token": PLAYGROUND_TOKEN,
            "base_url": self.server.base_url,
            "access_file": str(self.access_file),
            "max_calls_per_s": 0,
            "timeout_s": 5,
            **self.options,
            **options,
        }
        return NotionSource(
            "notion",
            NotionSettings.model_validate(values),
            clock=self.clock,
            load_directory=self.directory.load,
            timing=QuickTime().build(),
        )

    async def sync(self, *, accept_deletions: bool = False, **options: Any) -> SyncReport:
        """Sync with a source opened anew, as another process would."""
        self.server.calls.reset()
        source = self.open_source(**options)
        try:
            report = await self.bench.sync(source, accept_deletions=accept_deletions)
        finally:
            await source.close()
        self.calls = dict(self.server.calls.by_kind)
        return report

    async def ids(self) -> set[str]:
        known = await self.bench.parts.ledger.known_documents("notion")
        return {one.partition(":")[2] for one in known}

    async def texts(self, question: str) -> list[str]:
        return await self.bench.texts(question)

    async def readable(self, person_id: PersonId) -> ReadableClasses:
        snapshot = await self.directory.load()
        return await self.bench.parts.registry.readable_by(snapshot.people[person_id])

    async def read_as(self, person_id: PersonId, question: str) -> list[str]:
        return await self.bench.texts(question, await self.readable(person_id))

    def grant(self, object_id: str, entry: Json | None) -> None:
        self.workspace.set_access(object_id, entry)

    def document_id(self, object_id: str) -> DocumentId:
        return DocumentId(f"notion:{object_id}")


@asynccontextmanager
async def open_office(
    database: Database, folder: Path, *, ingest: IngestSettings | None = None
) -> AsyncIterator[Office]:
    """Open an empty workspace with two people: both are staff, Ben is a salesman too."""
    clock = MovableClock()
    workspace = Workspace(clock=clock)
    workspace.write_access(folder / "access.json")
    directory = Directory(database)
    people = (
        Person(person_id=ANNA, name="Anna", email="anna@example.com"),
        Person(person_id=BEN, name="Ben"),
    )
    groups = (
        Group(source="company", group_id="staff", name="Staff", members=frozenset({ANNA, BEN})),
        Group(source="company", group_id="sales", name="Sales", members=frozenset({BEN})),
    )
    await directory.replace(DirectoryContent(people=people, groups=groups), group_source="company")
    async with (
        serve_notion(workspace) as server,
        open_workbench(database, folder, ingest=ingest) as bench,
    ):
        yield Office(
            workspace=workspace,
            server=server,
            editor=server.editor,
            bench=bench,
            directory=directory,
            folder=folder,
            clock=clock,
        )

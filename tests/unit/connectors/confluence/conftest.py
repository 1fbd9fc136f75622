"""A small wiki, served as both flavours, and a ledger in memory."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from pydantic import TypeAdapter

from connectors.confluence.connecting import connect
from connectors.confluence.source import ConfluenceSource
from core.errors import PermanentError
from core.settings import ConfluenceSettings
from knowledge.documents import Document, DocumentId
from knowledge.people import (
    DirectoryContent,
    DirectorySnapshot,
    Identity,
    Person,
    PersonId,
)
from knowledge.source import (
    AccessChanged,
    Change,
    Checkpoint,
    Cursor,
    Failed,
    Gone,
    KnownDocument,
    ScopeListed,
    Unchanged,
    Upserted,
)
from playground.confluence.editor import WikiEditor
from playground.confluence.server import ConfluenceServer, Flavour, serve_confluence
from playground.confluence.wiki import Wiki
from tests.fakes.http_server import FakeTime

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
NO_CURSOR = Cursor("")


@dataclass
class MovingClock:
    """A clock that tests move."""

    moment: datetime = NOW

    def now(self) -> datetime:
        return self.moment

    def forward(self, **parts: float) -> None:
        self.moment += timedelta(**parts)


@dataclass
class Run:
    """What one run said."""

    changes: list[Change] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def ids(self, kind: type[Change]) -> list[str]:
        """Return the native ids of one kind of change, in order."""
        return [
            one.document_id.partition(":")[2]
            for one in self.changes
            if isinstance(one, kind) and not isinstance(one, (Checkpoint, ScopeListed))
        ]

    def errors(self) -> list[str]:
        """Return the errors of listings."""
        return [one.error for one in self.changes if isinstance(one, ScopeListed) and one.error]


@dataclass
class Bench:
    """A wiki, its server, and a ledger that keeps what runs yield."""

    wiki: Wiki
    edit: WikiEditor
    clock: MovingClock
    server: ConfluenceServer
    open: Callable[..., ConfluenceSource]
    known: dict[DocumentId, KnownDocument] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)
    cursor: Cursor = NO_CURSOR

    async def sync(self, source: ConfluenceSource, *, afresh: bool = False) -> Run:
        """Read everything that has changed, as ingestion does."""
        run = Run()
        cursor = Cursor("") if afresh else self.cursor
        async for change in source.discover(cursor, dict(self.known)):
            run.changes.append(change)
            await self._take(source, change, run)
        self._drop_missing(run)
        return run

    async def rights(self, source: ConfluenceSource) -> Run:
        """Look at rights alone."""
        run = Run()
        async for change in source.discover_access(dict(self.known)):
            run.changes.append(change)
            await self._take(source, change, run)
        return run

    async def _take(self, source: ConfluenceSource, change: Change, run: Run) -> None:
        match change:
            case Upserted():
                await self._fetch(source, change, run)
            case AccessChanged():
                self._update(change.document_id, access_id=change.rule.access_id)
            case Unchanged() if change.token:
                self._update(change.document_id, token=change.token)
            case Failed():
                run.failures[change.document_id.partition(":")[2]] = change.reason
            case Gone():
                del self.known[change.document_id]
            case Checkpoint():
                self.cursor = change.cursor

    async def _fetch(self, source: ConfluenceSource, change: Upserted, run: Run) -> None:
        native = change.document_id.partition(":")[2]
        try:
            document = await source.fetch(change)
        except PermanentError as reason:
            run.failures[native] = str(reason)
            return
        run.documents[native] = self.documents[native] = document
        self.known[document.document_id] = KnownDocument(
            document_id=document.document_id,
            scope=document.scope,
            locator=document.locator,
            token=document.token,
            content_hash="",
            access_id=document.access.access_id,
        )

    def _drop_missing(self, run: Run) -> None:
        seen = {
            one.document_id for one in run.changes if isinstance(one, (Upserted, Unchanged, Failed))
        }
        listed = {
            one.scope for one in run.changes if isinstance(one, ScopeListed) and not one.error
        }
        self.known = {
            key: one for key, one in self.known.items() if one.scope not in listed or key in seen
        }

    def _update(self, document_id: DocumentId, **values: str) -> None:
        old = self.known[document_id]
        self.known[document_id] = KnownDocument(
            document_id=document_id,
            scope=old.scope,
            locator=old.locator,
            token=values.get("token", old.token),
            content_hash="",
            access_id=values.get("access_id", old.access_id),
        )

    def text(self, native: str) -> str:
        """Return all Markdown of a document as it was last read."""
        parts = self.documents[native].content.parts
        return "\n\n".join(part.markdown for part in parts)


def build_wiki(clock: MovingClock) -> WikiEditor:
    """Make two spaces with a tree, a restriction, an attachment and links."""
    edit = WikiEditor(Wiki(clock=clock))
    for person in ("ann", "bo", "cy", "dan"):
        edit.add_person(person, person.title())
    edit.add_member("staff", "ann")
    edit.add_member("staff", "bo")
    edit.add_member("staff", "cy")
    edit.add_member("finance", "ann")
    edit.add_space("HR", "人事 People", groups=["staff"])
    edit.add_space("FIN", "Finance", groups=["finance"], users=["dan"])
    edit.add_page("HR", "Home", "<p>Welcome</p>", page_id="1")
    edit.add_page(
        "HR", "Leave 休假", "<h2>Days</h2><p>25 days</p>", page_id="2", parent="1", by="bo"
    )
    edit.add_page("HR", "Pay", "<p>Bands are secret</p>", page_id="3", parent="1")
    edit.restrict("3", users=["ann"], groups=["finance"])
    edit.add_page("HR", "Bonus", "<p>Ten percent</p>", page_id="4", parent="3")
    edit.add_page("FIN", "Budget", "<p>One million</p>", page_id="5")
    return edit


def snapshot(wiki: Wiki) -> DirectorySnapshot:
    """Return a directory with everybody of the wiki."""
    people = tuple(
        Person(person_id=PersonId(one.person_id), name=one.name) for one in wiki.people.values()
    )
    accounts = tuple(
        Identity(system="confluence", native_id=one.account_id, person_id=PersonId(one.person_id))
        for one in wiki.people.values()
    )
    content = DirectoryContent(people=people, identities=accounts)
    return DirectorySnapshot(content, version=1, contractors_are_members=True)


@pytest.fixture(params=["cloud", "data_center"])
def flavour(request: pytest.FixtureRequest) -> Flavour:
    return cast(Flavour, request.param)


@pytest.fixture
async def bench(flavour: Flavour) -> AsyncIterator[Bench]:
    """Serve the small wiki; sources that were opened are closed at the end."""
    clock = MovingClock()
    edit = build_wiki(clock)
    opened: list[ConfluenceSource] = []
    async with serve_confluence(edit.wiki, flavour=flavour) as server:

        def open_source(**more: Any) -> ConfluenceSource:
            values = server.settings(**more)
            settings = TypeAdapter(ConfluenceSettings).validate_python(values)

            async def load() -> DirectorySnapshot:
                return snapshot(edit.wiki)

            # Retries wait on a clock of their own, so no test does.
            api = connect("wiki", settings, clock, timing=FakeTime().timing())
            source = ConfluenceSource("wiki", settings, clock=clock, load_directory=load, api=api)
            opened.append(source)
            return opened[-1]

        yield Bench(wiki=edit.wiki, edit=edit, clock=clock, server=server, open=open_source)
        for source in opened:
            await source.close()

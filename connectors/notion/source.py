"""A Notion workspace as a source of knowledge."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from connectors.notion.access_file import AccessFile, load_access_file
from connectors.notion.body import Node, parse_nodes
from connectors.notion.client import NotionApi
from connectors.notion.database_document import build_database
from connectors.notion.hosted_files import FileTexts, HostedFiles
from connectors.notion.ids import normalise_id
from connectors.notion.listing import Discovery
from connectors.notion.page_document import PageExtras, build_page
from connectors.notion.page_reading import DatabaseReading, PageReading
from connectors.notion.payloads import NotionObject
from connectors.notion.properties import merge_items, needs_more
from connectors.notion.round import Round, parse_locator
from connectors.notion.state import Progress, parse_state
from connectors.notion.walk import Walk
from connectors.pagination import Batch
from core.clock import Clock
from core.errors import AccessDeniedError, ResourceGoneError, SettingsError
from core.pacing import Timing
from core.settings import IngestSettings
from core.source_settings import NotionSettings
from knowledge.access import AccessRule
from knowledge.documents import Document, DocumentId, Status
from knowledge.people import DirectorySnapshot
from knowledge.source import (
    AccessChanged,
    Change,
    Cursor,
    Failed,
    Head,
    KnownDocument,
    ScopeListed,
    Upserted,
)

LoadDirectory = Callable[[], Awaitable[DirectorySnapshot]]
# Raised when pages are written otherwise than before: all are then read again.
_WRITING = "1"
FAULTS_SHOWN = 3


class NotionSource:
    """Reads a workspace; a scope is a root page or database.

    Documents are pages, rows (which are pages) and databases, known by Notion's own ids.

    Args:
        name: The source's name in the settings.
        settings: Which workspace, and what is read of it.
        clock: Tells when something was read.
        load_directory: People and groups that the access file names; None = names are taken as
            they stand.
        ingest: When a disappearance is not believed.
        timing: Time and chance of retries, for tests.
    """

    def __init__(
        self,
        name: str,
        settings: NotionSettings,
        *,
        clock: Clock,
        load_directory: LoadDirectory | None = None,
        ingest: IngestSettings | None = None,
        timing: Timing | None = None,
    ) -> None:
        self._name = name
        self._settings = settings
        self._clock = clock
        self._load_directory = load_directory
        self._ingest = ingest or IngestSettings()
        self._api = NotionApi(name, settings, clock=clock, timing=timing)
        self._files = HostedFiles(self._api, max_bytes=int(settings.max_file_mb * 1_000_000))
        self._roots = _read_roots(name, settings)
        is_set = bool(settings.access_file)
        self._access_file = Path(settings.access_file).expanduser() if is_set else None
        self._setup = _describe_setup(settings)
        self._round: Round | None = None
        self._marked: set[str] = set()
        self._people: dict[str, str] | None = None
        self._columns: dict[str, Mapping[str, Any]] = {}
        # Several pages are fetched at once; what they share is asked for once.
        self._asking = asyncio.Lock()

    @property
    def name(self) -> str:
        """The source's name in the settings; first part of its document ids."""
        return self._name

    @property
    def calls(self) -> Mapping[str, int]:
        """API calls made so far by kind."""
        return self._api.calls

    def mark(self, object_id: str) -> None:
        """Let the next run look at an object, as a webhook asks for."""
        if one := normalise_id(object_id):
            self._marked.add(one)

    async def discover(
        self, cursor: Cursor, known: Mapping[DocumentId, KnownDocument]
    ) -> AsyncIterator[Change]:
        """Yield what has changed; see `knowledge.source.Source.discover`.

        Between full listings search tells what is new, and what it lacks is asked for by id.

        Raises:
            SettingsError: The token is refused, a root is not shared, or nothing is.
        """
        round_ = await self._begin(known)
        marked, self._marked = frozenset(self._marked), set()
        discovery = Discovery(round_, self._settings, self._clock)
        async for change in discovery.discover(Progress.parse(cursor), marked):
            yield change

    async def discover_access(
        self, known: Mapping[DocumentId, KnownDocument]
    ) -> AsyncIterator[AccessChanged | Upserted | Failed | ScopeListed]:
        """Yield the documents whose rule is another one now.

        Asks Notion only where documents lie that are owed a new reading.
        """
        round_ = await self._begin(known)
        async for closed in round_.place_forgotten():
            yield closed
        discovery = Discovery(round_, self._settings, self._clock)
        for failed in discovery.tell_faults():
            yield failed
        for change in discovery.tell_rules():
            yield change

    async def fetch(self, change: Upserted) -> Document:
        """Return a page, row or database; see `knowledge.source.Source.fetch`."""
        round_ = self._round or await self._begin({})
        kind, object_id = parse_locator(change.locator)
        kept = round_.take(object_id)
        if kind == "database":
            table = (
                DatabaseReading.from_json(kept)
                if kept is not None
                else await self._read_database(round_, object_id)
            )
            return build_database(round_, table, await self._get_people())
        page = (
            PageReading.from_json(kept)
            if kept is not None
            else await self._read_page(round_, object_id)
        )
        extras = await self._read_extras(round_, page)
        return await asyncio.to_thread(build_page, round_, page, extras)

    async def head(self, known: KnownDocument) -> Head:
        """Ask for a page's moment of editing and whether it is still there, in one call."""
        kind, object_id = parse_locator(known.locator)
        state = parse_state(known.token)
        if kind == "database":
            found = await self._api.fetch_database(object_id)
        else:
            found = await self._api.fetch_page(object_id)
        if found.is_trashed:
            raise ResourceGoneError(f"{known.document_id!r} lies in Notion's trash")
        is_same = state is not None and (
            found.last_edited_time == state.edited
            if kind == "page"
            else found.last_edited_time <= state.edited
        )
        return Head(
            document_id=known.document_id,
            token=known.token if is_same else f"edited {found.last_edited_time}",
            status=Status.CURRENT,
        )

    async def fetch_access(self, known: KnownDocument) -> AccessRule:
        """Return what the access file says of a document now, going by where it lay last."""
        access = await self._load_access()
        _, object_id = parse_locator(known.locator)
        state = parse_state(known.token)
        return access.find_rule((object_id, *(state.ancestors if state else ())))

    async def check(self) -> str:
        """Tell what is shared with the integration; see `knowledge.source.CheckedSource`."""
        round_ = await self._begin({})
        first: Batch[NotionObject] = await anext(self._api.search(), Batch(items=()))
        discovery = Discovery(round_, self._settings, self._clock)
        roots = await discovery.find_roots([one.id for one in first.items])
        more = " or more" if first.cursor else ""
        shared = f"{max(len(first.items), len(roots))}{more} pages and databases are shared"
        if faults := list(round_.access.failures.values()):
            shown = "; ".join(faults[:FAULTS_SHOWN])
            raise SettingsError(
                f"{self._api.place} answers ({shared}), but {shown}; name who may read in the file "
                f"under sources.{self._name}.access_file (docs/notion.md)"
            )
        return f"{self._settings.base_url}, {shared}"

    async def close(self) -> None:
        """Release connections and parsers. Safe to call twice."""
        await self._files.close()
        await self._api.close()

    async def _begin(self, known: Mapping[DocumentId, KnownDocument]) -> Round:
        round_ = Round(
            name=self._name,
            api=self._api,
            access=await self._load_access(),
            setup=self._setup,
            today=self._clock.now().date().isoformat(),
            roots=self._roots,
            keeps_history=self._settings.keep_history,
            ingest=self._ingest,
        )
        round_.remember(known)
        self._round = round_
        self._people, self._columns = None, {}
        return round_

    async def _load_access(self) -> AccessFile:
        directory = await self._load_directory() if self._load_directory else None
        return await asyncio.to_thread(load_access_file, self._access_file, directory)

    async def _read_page(self, round_: Round, page_id: str) -> PageReading:
        read_at = self._clock.now()
        found = await self._api.fetch_page(page_id)
        if found.is_trashed:
            raise ResourceGoneError(f"page {page_id!r} lies in Notion's trash")
        await round_.put(found, "page")
        return await PageReading.read(
            self._api,
            round_.reader,
            found,
            comments=self._settings.comments,
            read_at=read_at,
        )

    async def _read_database(self, round_: Round, database_id: str) -> DatabaseReading:
        walk = self._build_walk(round_)
        reading = await walk.read_table(database_id)
        if reading is None:
            raise ResourceGoneError(f"database {database_id!r} is not there, or lies in the trash")
        return reading

    def _build_walk(self, round_: Round) -> Walk:
        now: datetime = self._clock.now()
        return Walk(
            round=round_,
            settings=self._settings,
            clock=self._clock,
            checkpoint=lambda _path: Cursor(""),
            started=now,
            only_new=True,
        )

    async def _read_extras(self, round_: Round, page: PageReading) -> PageExtras:
        nodes = parse_nodes(page.body.blocks)
        synced = await round_.reader.read_originals(nodes)
        for original in synced.values():
            if original.page not in round_.places:
                await round_.put(await self._api.fetch_page(original.page), "page")
        shown: list[Node] = [*nodes, *(node for one in synced.values() for node in one.nodes)]
        texts = await self._files.read(shown) if self._settings.files else FileTexts()
        return PageExtras(
            synced=synced,
            files=texts.texts,
            people=await self._get_people(),
            columns=await self._get_columns(round_, page.found),
            properties=await self._complete_properties(page.found),
            file_notes=tuple(texts.notes),
        )

    async def _complete_properties(self, found: NotionObject) -> dict[str, Any]:
        """Return a page's properties with what lies beyond the first 25 references."""
        complete = dict(found.properties)
        for name, value in complete.items():
            if needs_more(value):
                items = await self._api.fetch_property(found.id, str(value["id"]))
                complete[name] = merge_items(value, items)
        return complete

    async def _get_columns(self, round_: Round, found: NotionObject) -> Mapping[str, Any]:
        above = round_.places.ancestors(found.id)[:1]
        if not above or round_.kind_of(above[0]) not in {"database", "data_source"}:
            return {}
        async with self._asking:
            if above[0] not in self._columns:
                try:
                    source = await self._api.fetch_data_source(above[0])
                    self._columns[above[0]] = source.properties
                except (ResourceGoneError, AccessDeniedError):
                    self._columns[above[0]] = {}
        return self._columns[above[0]]

    async def _get_people(self) -> Mapping[str, str]:
        """Return names by user id; none when the integration may not list people."""
        async with self._asking:
            if self._people is None:
                try:
                    self._people = {one.id: one.name for one in await self._api.fetch_users()}
                except (ResourceGoneError, AccessDeniedError):
                    self._people = {}
            return self._people


def _read_roots(name: str, settings: NotionSettings) -> frozenset[str]:
    roots = {one: normalise_id(one) for one in settings.roots}
    wrong = [one for one, root in roots.items() if not root]
    if wrong:
        raise SettingsError(
            f"sources.{name}.roots: {wrong[0]!r} is no id of a Notion page; take the 32 "
            "characters at the end of its link"
        )
    return frozenset(roots.values())


def _describe_setup(settings: NotionSettings) -> str:
    """Name everything in the settings that decides how pages are read and written."""
    parts = (
        _WRITING,
        settings.api_version,
        sorted(settings.roots),
        settings.comments,
        settings.files,
        settings.keep_history,
        settings.max_table_rows,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]

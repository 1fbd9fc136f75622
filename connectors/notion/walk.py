"""Walking the tree from a root down: pages, what lies in them, databases and their rows."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from connectors.notion.body import pack, unpack
from connectors.notion.page_reading import DatabaseReading, PageReading, SourceReading
from connectors.notion.payloads import NotionObject
from connectors.notion.round import Round
from connectors.notion.state import PageState
from core.clock import Clock
from core.errors import AccessDeniedError, PermanentError, ResourceGoneError, TransientError
from core.source_settings import NotionSettings
from knowledge.source import Change, Checkpoint, Cursor, Failed, Unchanged, Upserted

CHECKPOINT_EVERY = 50
_FAULTS_IN_A_ROW = 5
_MAX_PAGES_DEEP = 150


@dataclass(slots=True, kw_only=True)
class Walk:
    """One walk; what it has seen and what it could not see.

    Attributes:
        checkpoint: The cursor for the place the walk has reached.
        only_new: Of what lies in a page only what is not known is visited.
        verifies: Pages that have not been read for `verify_days` are, whatever their moment of
            editing says.
        resume: Where an earlier walk stopped: ids from a root down.
        listed: Documents that were said anything about.
        missing_children: Known documents that are no longer where they were.
        lost: Objects that are not there: True = in the trash, False = not found.
        faults: Reason by scope whose listing is not whole.
        stale_tables: Databases whose rows have changed.
    """

    round: Round
    settings: NotionSettings
    clock: Clock
    checkpoint: Callable[[tuple[str, ...]], Cursor]
    started: datetime
    resume: tuple[str, ...] = ()
    only_new: bool = False
    verifies: bool = True
    listed: set[str] = field(default_factory=set)
    upserted: set[str] = field(default_factory=set)
    visited: set[str] = field(default_factory=set)
    lost: dict[str, bool] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    missing_children: set[str] = field(default_factory=set)
    stale_tables: dict[str, None] = field(default_factory=dict)
    _fresh: dict[str, bytes] = field(default_factory=dict)
    _path: list[str] = field(default_factory=list)
    _faults_in_a_row: int = 0

    def keep_fresh(self, found: NotionObject) -> None:
        """Keep an object that a listing has just given, so that it is not asked for again."""
        self._fresh[found.id] = pack(found.model_dump(mode="json"))

    async def visit(self, object_id: str, kind: str, *, parent: str = "") -> AsyncIterator[Change]:
        """Visit an object and everything below it, each once.

        Args:
            object_id: Its id.
            kind: `page` or `database`.
            parent: The page it was found on.

        Raises:
            TransientError: Several objects in a row could not be read: the service is down.
        """
        if object_id in self.visited or len(self._path) > _MAX_PAGES_DEEP:
            return
        self.visited.add(object_id)
        self._path.append(object_id)
        try:
            visit = self._visit_database if kind == "database" else self._visit_page
            async for change in visit(object_id, parent):
                yield self._note(change)
            if len(self.visited) % CHECKPOINT_EVERY == 0:
                yield Checkpoint(cursor=self.checkpoint(tuple(self._path)))
        finally:
            self._path.pop()

    async def refresh_table(self, database_id: str) -> AsyncIterator[Change]:
        """Read a database's table again, as far as it is shown."""
        self.visited.add(database_id)
        limit = self.settings.max_table_rows
        async for change in self._visit_database(database_id, "", limit=limit):
            yield self._note(change)

    async def read_table(self, database_id: str) -> DatabaseReading | None:
        """Read a database as far as its table is shown; None when it is not there.

        Raises:
            PermanentError, TransientError: It, or a part of it, can't be read.
        """
        read_at = self.clock.now()
        opened = await self.round.api.fetch_database(database_id)
        if opened.is_trashed:
            return None
        await self.round.put(opened, "database")
        reading = DatabaseReading(found=opened, read_at=read_at)
        failure = await self._read_sources(reading, {}, self.settings.max_table_rows)
        if failure is not None:
            raise failure
        return reading

    def fail(self, object_id: str, error: Exception) -> Failed:
        """Record an object that can't be read; its scope's listing is then not whole.

        Raises:
            TransientError: It is one of several in a row.
        """
        if isinstance(error, TransientError):
            self._faults_in_a_row += 1
            if self._faults_in_a_row >= _FAULTS_IN_A_ROW:
                raise error
        scope = self.round.scope(object_id)
        self.faults.setdefault(scope, f"{object_id!r} could not be read: {error}")
        return self.round.fail(object_id, str(error))

    async def _visit_page(self, page_id: str, parent: str) -> AsyncIterator[Change]:
        read_at = self.started if page_id in self._fresh else self.clock.now()
        opened = await self._open(page_id, self._get_page)
        if isinstance(opened, Failed):
            yield opened
            return
        if opened is None:
            # A wiki is listed as a page, but is a database.
            if page_id not in self.round.known and self.lost.get(page_id) is False:
                async for change in self._visit_database(page_id, parent):
                    yield change
            return
        await self.round.put(opened, "page", parent=parent)
        if not self.round.is_wanted(page_id):
            return
        children: dict[str, str] = {}
        async for change in self._take_page(opened, read_at, children):
            yield change
        for child in self._choose(children):
            async for change in self.visit(child, children[child], parent=page_id):
                yield change

    async def _take_page(
        self, found: NotionObject, read_at: datetime, children: dict[str, str]
    ) -> AsyncIterator[Change]:
        """Read a page unless it is as known; fills in what lies in it."""
        if self._is_as_known(found):
            for change in self._confirm(found.id):
                yield change
            children.update(self._known_children(found.id))
            return
        try:
            reading = await PageReading.read(
                self.round.api,
                self.round.reader,
                found,
                comments=self.settings.comments,
                read_at=read_at,
            )
        except (PermanentError, TransientError) as error:
            yield self.fail(found.id, error)
            children.update(self._known_children(found.id))
            return
        self._faults_in_a_row = 0
        for change in self._judge_page(reading):
            yield change
        children.update(reading.body.children)

    async def _visit_database(
        self, database_id: str, parent: str, *, limit: int = 0
    ) -> AsyncIterator[Change]:
        """Visit a database and its rows; with a limit only so many rows are listed."""
        read_at = self.clock.now()
        opened = await self._open(database_id, self.round.api.fetch_database)
        if isinstance(opened, Failed):
            yield opened
        # A linked view looks the same from the page it is on, and is never shared.
        if opened is None or isinstance(opened, Failed):
            return
        self.lost.pop(database_id, None)
        await self.round.put(opened, "database", parent=parent)
        if not self.round.is_wanted(database_id):
            return
        reading = DatabaseReading(found=opened, read_at=read_at)
        rows: dict[str, str] = {}
        failure = await self._read_sources(reading, rows, limit)
        if failure is not None:
            yield self.fail(database_id, failure)
        else:
            for change in self._judge_database(reading, rows):
                yield change
        for row in self._choose(rows):
            async for change in self.visit(row, "page", parent=database_id):
                yield change

    async def _open(
        self, object_id: str, fetch: Callable[[str], Awaitable[NotionObject]]
    ) -> NotionObject | Failed | None:
        """Fetch an object; None when it is lost."""
        try:
            found = await fetch(object_id)
        except ResourceGoneError:
            self.lost[object_id] = False
            return None
        except (PermanentError, TransientError) as error:
            return self.fail(object_id, error)
        above = self.round.places.ancestors(object_id)
        if found.is_trashed or any(self.lost.get(one) for one in above):
            self.lost[object_id] = True
            return None
        return found

    async def _read_sources(
        self, reading: DatabaseReading, rows: dict[str, str], limit: int
    ) -> PermanentError | TransientError | None:
        """Read all data sources; returns what stopped the reading of one, if anything did."""
        failure: PermanentError | TransientError | None = None
        for named in reading.found.data_sources:
            try:
                found = await self.round.api.fetch_data_source(named.id)
                if named.id != reading.found.id:
                    await self.round.put(found, "data_source")
                source = SourceReading(found=found)
                reading.sources.append(source)
                await self._read_rows(source, rows, limit)
            except (ResourceGoneError, AccessDeniedError):
                reading.notes[f"data source {named.name!r} is not shared with us"] = None
            except (PermanentError, TransientError) as error:
                failure = error
        return failure

    async def _read_rows(self, source: SourceReading, rows: dict[str, str], limit: int) -> None:
        async for row in self.round.api.query_rows(source.found.id):
            if limit and len(source.rows) >= limit:
                source.has_more = True
                return
            await self.round.put(row, "page")
            rows[row.id] = "page"
            self.keep_fresh(row)
            if len(source.rows) < self.settings.max_table_rows:
                source.rows.append(row)
            else:
                source.has_more = True

    def _judge_page(self, reading: PageReading) -> Iterable[Change]:
        page_id = reading.found.id
        known = set(self.round.places.children(page_id)) & set(self.round.known)
        self.missing_children |= known - set(reading.body.children)
        for change in self.round.judge(reading.describe()):
            if isinstance(change, Upserted):
                self.round.keep(page_id, reading.to_json())
                self.stale_tables.update(dict.fromkeys(self.round.databases_above(page_id)))
            yield change

    def _judge_database(
        self, reading: DatabaseReading, rows: Mapping[str, str]
    ) -> Iterable[Change]:
        database_id = reading.found.id
        self.stale_tables.pop(database_id, None)
        known = {
            row
            for source in reading.sources
            for row in self.round.places.children(source.found.id)
            if row in self.round.known
        }
        # When only the first rows were listed, the others are not missing.
        is_whole = len(rows) >= len(known) or not any(one.has_more for one in reading.sources)
        gone = known - set(rows) if is_whole else set()
        self.missing_children |= gone
        if database_id in self.round.known and self.is_mass(gone, known):
            # So many rows at once are not believed; the table they stand in is not either.
            yield from self._confirm(database_id)
            return
        for change in self.round.judge(reading.describe()):
            if isinstance(change, Upserted):
                self.round.keep(database_id, reading.to_json())
            yield change

    def is_mass(self, gone: set[str], known: set[str]) -> bool:
        """Tell whether so much is missing that a person must say that it is gone."""
        ingest = self.round.ingest
        is_many = len(gone) >= ingest.hold_min_documents
        return is_many and len(gone) > ingest.hold_share * len(known)

    def _confirm(self, object_id: str) -> Iterable[Change]:
        """Say of a document that was not read again what follows from where it lies."""
        yield from self.round.tell_rule(object_id)
        known = self.round.known[object_id]
        if self.round.has_moved(object_id):
            kind = self.round.states[object_id].kind if object_id in self.round.states else "page"
            yield self.round.build_upsert(object_id, kind)
            return
        yield Unchanged(document_id=known.document_id, scope=self.round.scope(object_id))

    def _note(self, change: Change) -> Change:
        if isinstance(change, Upserted | Unchanged | Failed):
            object_id = change.document_id.partition(":")[2]
            self.listed.add(object_id)
            if isinstance(change, Upserted):
                self.upserted.add(object_id)
        return change

    async def _get_page(self, page_id: str) -> NotionObject:
        fresh = self._fresh.pop(page_id, None)
        if fresh is not None:
            return NotionObject.model_validate(unpack(fresh))
        return await self.round.api.fetch_page(page_id)

    def _is_as_known(self, found: NotionObject) -> bool:
        state = self.round.states.get(found.id)
        return (
            state is not None
            and found.id in self.round.known
            and state.edited == found.last_edited_time
            and state.is_settled
            and state.setup == self.round.setup
            and not (self.verifies and self._is_due(found.id, state))
        )

    def _is_due(self, object_id: str, state: PageState) -> bool:
        """Tell whether a page must be read again by now; pages take turns over the days."""
        try:
            read_on = date.fromisoformat(state.read_on)
        except ValueError:
            return True
        share = int(object_id[:2], 16) / 256
        wait = timedelta(days=self.settings.verify_days * (0.5 + share / 2))
        return datetime.combine(read_on, datetime.min.time(), UTC) + wait <= self.clock.now()

    def _known_children(self, object_id: str) -> dict[str, str]:
        return {
            child: "database" if self.round.kind_of(child) == "database" else "page"
            for child in sorted(self.round.places.children(object_id))
        }

    def _choose(self, children: Mapping[str, str]) -> list[str]:
        """Leave out what an earlier walk has finished, as long as we are on its path."""
        ids, level = list(children), len(self._path)
        if self.only_new:
            return [one for one in ids if one not in self.round.known]
        if tuple(self._path) == self.resume[:level] and len(self.resume) > level:
            target = self.resume[level]
            return ids[ids.index(target) :] if target in children else ids
        return ids

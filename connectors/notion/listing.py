"""The two listings: everything, or what search knows to be new; and what is missing from them."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from connectors.notion.client import PAGE_SIZE, NotionApi
from connectors.notion.payloads import NotionObject
from connectors.notion.round import Round
from connectors.notion.state import FullListing, Kind, Progress, parse_moment
from connectors.notion.walk import Walk
from core.clock import Clock
from core.errors import AccessDeniedError, ResourceGoneError, SettingsError
from core.source_settings import NotionSettings
from knowledge.source import (
    AccessChanged,
    Change,
    Checkpoint,
    Cursor,
    Failed,
    ScopeListed,
    Unchanged,
    Upserted,
)

OVERLAP = timedelta(minutes=30)
"""How far a listing looks back behind the last one: search learns of edits late."""
ACCESS_FILE = "access_file"
"""Stands for the access file where a failure names a document."""
_MAX_LOOKS = 50
# Reading search to its end tells what has vanished; where it has more pages than that, only a full
# listing does.
_PAGES_TO_THE_END = 3


@dataclass(slots=True)
class Discovery:
    """One run's listing of the workspace."""

    round: Round
    settings: NotionSettings
    clock: Clock

    @property
    def _api(self) -> NotionApi:
        return self.round.api

    @property
    def _mass(self) -> int:
        """How many documents must be missing before ingestion holds them."""
        return self.round.ingest.hold_min_documents

    @property
    def _is_large(self) -> bool:
        return len(self.round.known) > PAGE_SIZE * _PAGES_TO_THE_END

    async def discover(self, progress: Progress, marked: frozenset[str]) -> AsyncIterator[Change]:
        """Yield what has changed; everything when that is due.

        Args:
            progress: Where the last run stopped.
            marked: Objects that a webhook has named.
        """
        for failed in self.tell_faults():
            yield failed
        listing = self._list_recent(progress, marked)
        if self._is_full_due(progress):
            listing = self._list_everything(progress)
        async for change in listing:
            yield change

    def tell_faults(self) -> Iterator[Failed]:
        """Yield what is wrong with the access file."""
        for object_id, reason in self.round.access.failures.items():
            yield self.round.fail(object_id or ACCESS_FILE, reason)

    def tell_rules(self) -> Iterator[AccessChanged | Upserted]:
        """Yield every rule that is another one now, and what must be written anew because of it."""
        yield from self._tell_access()
        for object_id in self.round.closed_tables:
            yield self.round.build_upsert(object_id, "database")
        for object_id, state in self.round.states.items():
            if object_id not in self.round.closed_tables and self.round.shows_old(object_id, state):
                yield self.round.build_upsert(object_id, state.kind)

    def _tell_access(self) -> Iterator[AccessChanged]:
        for object_id in self.round.known:
            yield from self.round.tell_rule(object_id)

    def _is_full_due(self, progress: Progress) -> bool:
        if progress.full is not None or not progress.full_at:
            return True
        wait = timedelta(hours=self.settings.reconcile_hours)
        is_late = parse_moment(progress.full_at) + wait <= self.clock.now()
        is_in_doubt = bool(progress.doubted) and self._is_large
        return is_late or is_in_doubt or progress.setup != self.round.setup

    # Everything

    async def _list_everything(self, progress: Progress) -> AsyncIterator[Change]:
        started = self.clock.now().isoformat()
        full = progress.full or FullListing(started=started)
        is_resumed = progress.full is not None

        def checkpoint(path: tuple[str, ...]) -> Cursor:
            going_on = replace(full, path=path, faults=dict(walk.faults))
            return Cursor(replace(progress, full=going_on).encode())

        walk = Walk(
            round=self.round,
            settings=self.settings,
            clock=self.clock,
            checkpoint=checkpoint,
            started=self.clock.now(),
            resume=full.path,
            faults=dict(full.faults),
        )
        hits: dict[str, None] = {}
        async for change in self._enumerate(walk, hits):
            yield change
        roots = await self.find_roots(hits)
        for start in (*_skip_finished(roots, full.path), *hits):
            async for change in walk.visit(start, self._kind(start)):
                yield change
        if not is_resumed:
            async for change in self._look_for_missing(walk):
                yield change
        async for change in self._refresh_tables(walk):
            yield change
        for change in self._end_scopes(walk, roots):
            yield change
        done = Progress(
            since=full.started,
            full_at=full.started,
            setup=self.round.setup,
            doubted=self._find_doubted(walk),
        )
        yield Checkpoint(cursor=Cursor(done.encode()))

    async def _enumerate(self, walk: Walk, hits: dict[str, None]) -> AsyncIterator[Change]:
        """Let search name what it knows, so that the tree is known before it is walked."""
        async for batch in self._api.search():
            for found in batch.items:
                hit = await self._take_hit(walk, found)
                hits.update(dict.fromkeys([hit] if hit else []))
            yield Checkpoint(cursor=walk.checkpoint(walk.resume))
        for told in self._tell_access():
            yield told

    async def find_roots(self, hits: Iterable[str]) -> list[str]:
        """Return the objects to walk from.

        Raises:
            SettingsError: There is nothing to read.
        """
        if self.round.roots:
            for root in sorted(self.round.roots):
                await self._open_root(root)
            return sorted(self.round.roots)
        roots = {self.round.scope(one) for one in (*hits, *self.round.known)}
        if not roots:
            raise SettingsError(
                f"{self._api.place} shows nothing: no page is shared with the integration. In "
                "Notion open a page, choose ••• > Connections and add the integration; pages "
                "below it follow"
            )
        return sorted(roots)

    async def _open_root(self, root: str) -> None:
        if self.round.places.find(root) is not None:
            return
        kinds: tuple[Kind, ...] = ("page", "database")
        for kind in kinds:
            try:
                found = await self.round.fetch_any(root, kind)
            except (ResourceGoneError, AccessDeniedError):
                continue
            await self.round.put(found, kind)
            return
        raise SettingsError(
            f"{self._api.place}: root {root!r} is not shared with the integration, or is not "
            "there; add the integration to it in Notion (••• > Connections), or take it out of "
            f"sources.{self.round.name}.roots"
        )

    async def _look_for_missing(self, walk: Walk) -> AsyncIterator[Change]:
        """Ask for known documents that the walk did not come by; the walk may have lacked them."""
        missing = [
            object_id
            for object_id, one in self.round.known.items()
            if object_id not in walk.listed
            and object_id not in walk.lost
            and one.scope not in walk.faults
        ]
        for object_id in self._top_down(missing)[:_MAX_LOOKS]:
            async for change in walk.visit(object_id, self._kind(object_id)):
                yield change

    def _end_scopes(self, walk: Walk, roots: Iterable[str]) -> Iterator[Change]:
        scopes = {one.scope for one in self.round.known.values()}
        scopes |= {self.round.scope(root) for root in roots}
        for scope in sorted(scopes):
            if walk.lost.get(scope) and self._is_small(scope):
                # The one page, or the few, went to the trash as a whole: no mass loss.
                for object_id in self._documents_of(scope):
                    if object_id not in walk.listed:
                        yield self.round.lose(object_id)
                continue
            yield ScopeListed(scope=scope, error=walk.faults.get(scope, ""))

    def _find_doubted(self, walk: Walk) -> tuple[str, ...]:
        """Return the scopes that so much is missing from that ingestion holds it."""
        doubted = []
        for scope in sorted({one.scope for one in self.round.known.values()}):
            gone = [one for one in self._documents_of(scope) if one not in walk.listed]
            if len(gone) >= self._mass or scope in gone:
                doubted.append(scope)
        return tuple(doubted)

    def _is_small(self, scope: str) -> bool:
        return len(self._documents_of(scope)) < self._mass

    def _documents_of(self, scope: str) -> list[str]:
        return [key for key, one in self.round.known.items() if one.scope == scope]

    # What is new

    async def _list_recent(
        self, progress: Progress, marked: frozenset[str]
    ) -> AsyncIterator[Change]:
        started = self.clock.now()
        walk = Walk(
            round=self.round,
            settings=self.settings,
            clock=self.clock,
            checkpoint=lambda _path: Cursor(progress.encode()),
            started=started,
            only_new=True,
            verifies=False,
        )
        present, hits = await self._search_recent(walk, progress)
        for told in self._tell_access():
            yield told
        for hit in dict.fromkeys((*hits, *map(self._find_document, sorted(marked)))):
            async for change in walk.visit(hit, self._kind(hit)):
                yield change
        missing = set(walk.missing_children)
        if present is not None:
            missing |= set(self.round.known) - present - walk.listed
        looked = self._top_down(missing)[:_MAX_LOOKS]
        for object_id in looked:
            async for change in walk.visit(object_id, self._kind(object_id)):
                yield change
        losses = self._sort_losses(walk, progress.doubted)
        async for change in self._refresh_tables(walk):
            yield change
        for change in self._tell_losses(walk, losses):
            yield change
        for change in self._rewrite_dependents(walk):
            yield change
        is_whole = len(missing) <= len(looked) and not walk.faults
        done = replace(
            progress,
            since=started.isoformat(),
            full_at=progress.full_at if is_whole else "",
            doubted=tuple(one for one, gone in losses.items() if _is_doubted(walk, one, gone)),
        )
        yield Checkpoint(cursor=Cursor(done.encode()))

    async def _search_recent(
        self, walk: Walk, progress: Progress
    ) -> tuple[set[str] | None, list[str]]:
        """Return everything search knows, None when that is too much, and what it knows anew."""
        since = parse_moment(progress.since) - OVERLAP
        present: set[str] = set()
        hits: list[str] = []
        reads_on = not self._is_large
        async for batch in self._api.search():
            oldest = since
            for found in batch.items:
                oldest = parse_moment(found.last_edited_time)
                is_new = oldest >= since or found.id not in self.round.places
                is_new = is_new and not self._has_read_table(found)
                object_id = await self._take_hit(walk, found, is_new=is_new)
                present |= {object_id} - {""}
                hits += [object_id] if is_new and object_id else []
            if not batch.cursor:
                return present, list(dict.fromkeys(hits))
            if oldest < since and not reads_on:
                break
        return None, list(dict.fromkeys(hits))

    async def _take_hit(self, walk: Walk, found: NotionObject, *, is_new: bool = True) -> str:
        """Put a search result into the tree; returns the document it is, or belongs to."""
        if found.is_trashed:
            return ""
        if found.object == "data_source":
            await self.round.put(found, "data_source")
            return found.parent.database_id
        is_page = found.object != "database"
        before = self.round.places.find(found.id)
        # A parent that is a block is only looked up when something has changed.
        if is_new or before is None or found.parent.type != "block_id":
            await self.round.put(found, "page" if is_page else "database")
        if is_new and is_page and self.round.is_wanted(found.id):
            walk.keep_fresh(found)
        return found.id

    def _has_read_table(self, found: NotionObject) -> bool:
        """Tell whether a database was read after its columns were last edited."""
        state = self.round.states.get(found.parent.database_id)
        return (
            found.object == "data_source"
            and state is not None
            and state.is_settled
            and state.setup == self.round.setup
            and found.last_edited_time <= state.edited
        )

    def _sort_losses(self, walk: Walk, before: Iterable[str]) -> dict[str, list[str]]:
        """Return what is lost by scope; the tables it stood in are to be read again.

        Args:
            walk: What was seen.
            before: Scopes that were in doubt when the last run ended: they may be whole again.
        """
        losses: dict[str, list[str]] = {scope: [] for scope in before}
        for object_id in walk.lost:
            known = self.round.known.get(object_id)
            if known is not None:
                losses.setdefault(known.scope, []).append(object_id)
                walk.stale_tables.update(dict.fromkeys(self.round.databases_above(object_id)))
        for scope in before:
            databases = (one for one in self._documents_of(scope) if self._kind(one) == "database")
            walk.stale_tables.update(dict.fromkeys(databases))
        return losses

    def _tell_losses(self, walk: Walk, losses: Mapping[str, list[str]]) -> Iterator[Change]:
        """Tell single documents that are gone; of many at once list the scope instead."""
        for scope, gone in sorted(losses.items()):
            if _is_doubted(walk, scope, gone) or not gone:
                yield from self._list_scope(scope, walk)
                continue
            for object_id in gone:
                self.round.places.drop(object_id)
                yield self.round.lose(object_id)

    def _list_scope(self, scope: str, walk: Walk) -> Iterator[Change]:
        """List a scope as search and the looks of this run have it."""
        for object_id in self._documents_of(scope):
            if object_id not in walk.lost and object_id not in walk.listed:
                walk.listed.add(object_id)
                yield Unchanged(document_id=self.round.document_id(object_id), scope=scope)
        yield ScopeListed(scope=scope, error=walk.faults.get(scope, ""))

    async def _refresh_tables(self, walk: Walk) -> AsyncIterator[Change]:
        for database_id in [*walk.stale_tables, *self.round.closed_tables]:
            if database_id in walk.visited:
                continue
            async for change in walk.refresh_table(database_id):
                yield change

    def _rewrite_dependents(self, walk: Walk) -> Iterator[Change]:
        """Write anew what lies elsewhere now, or shows pages that read differently now."""
        for object_id, state in self.round.states.items():
            is_done = object_id in walk.listed or object_id in walk.lost
            if not is_done and self.round.has_moved(object_id):
                yield from self.round.tell_rule(object_id)
                yield self.round.build_upsert(object_id, state.kind)

    def _top_down(self, ids: Iterable[str]) -> list[str]:
        return sorted(ids, key=lambda one: (len(self.round.places.ancestors(one)), one))

    def _find_document(self, object_id: str) -> str:
        """Return the database of a data source; anything else is its own document."""
        place = self.round.places.find(object_id)
        is_source = place is not None and self.round.kind_of(object_id) == "data_source"
        return place.parent if place and is_source else object_id

    def _kind(self, object_id: str) -> str:
        state = self.round.states.get(object_id)
        return state.kind if state else self.round.kind_of(object_id) or "page"


def _is_doubted(walk: Walk, scope: str, gone: list[str]) -> bool:
    """Tell whether so much of a scope is lost that ingestion must judge it as a whole."""
    is_many = len(gone) >= walk.round.ingest.hold_min_documents
    return is_many or walk.lost.get(scope) is False


def _skip_finished(roots: list[str], path: tuple[str, ...]) -> list[str]:
    """Leave out the roots that an earlier listing has finished."""
    return roots[roots.index(path[0]) :] if path and path[0] in roots else roots

"""Listing a site: whole spaces, what has changed since, and rights alone."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from connectors.confluence.attachments import list_all
from connectors.confluence.describing import Describer
from connectors.confluence.history import find_shortened
from connectors.confluence.model import (
    AttachmentEntry,
    CommentEntry,
    Entry,
    Kind,
    PageEntry,
    Space,
)
from connectors.confluence.site import Site
from connectors.confluence.subtrees import build_tree
from connectors.confluence.texts import TextLoader
from connectors.confluence.token import build_comment_states, parse_token
from core.errors import PermanentError
from knowledge.documents import DocumentId
from knowledge.source import AccessChanged, Change, Failed, Gone, ScopeListed, Upserted

# Where the zone is not known, no place on earth is further behind UTC.
_FURTHEST_BEHIND = timedelta(hours=12)
_COMPLETED_AT_ONCE = 8


@dataclass(slots=True, kw_only=True)
class Lister:
    """Lists one site in one run, which began at `now`."""

    site: Site
    describer: Describer
    texts: TextLoader
    now: datetime

    async def list_space(self, space: Space) -> AsyncIterator[Change]:
        """Yield a whole space: its pages, then its attachments, then that it was listed.

        Raises:
            PermanentError, TransientError: The listing failed part-way; nothing is missing then.
        """
        scope = self.site.scope_of(space.key)
        entries = await self._read_space(space)
        files = await self._read_attachments(space, entries)
        await self._read_comments(f'space = "{space.key}"')
        if not entries:
            reason = "it shows no page to this account; check its rights, or remove the space"
            yield ScopeListed(scope=scope, error=f"space {space.key!r} is empty: {reason}")
            return
        if reason := self.site.rights.failures.get(space.key, ""):
            document_id = self.site.id_of(f"space/{space.key}")
            yield Failed(document_id=document_id, scope=scope, reason=reason)
        listed = {self.site.id_of(one.page_id) for one in entries}
        listed |= {self.site.id_of(one.attachment_id) for one, _ in files}
        is_doubtful = self.describer.is_doubtful(scope, listed)
        self.site.shortened |= await find_shortened(self.site, entries, now=self.now)
        changes: list[Change] = []
        for entry in entries:
            changes += self.describer.describe_page(entry, is_doubtful=is_doubtful)
        self._plan(changes)
        for change in changes:
            yield change
        for file, page in files:
            for change in self.describer.describe_attachment(file, page):
                yield change
        yield ScopeListed(scope=scope)

    async def follow(self, since: datetime, followed: Collection[str]) -> AsyncIterator[Change]:
        """Yield what has changed in these spaces since a moment, as far as a search tells.

        A search knows nothing of moves, restrictions and deletions; of those, only what lies in
        the trash is yielded.
        """
        spaces = ", ".join(f'"{key}"' for key in sorted(followed))
        query = (
            f"space in ({spaces}) and type in (page, blogpost, attachment, comment) "
            f'and lastmodified >= "{self._write_time(since)}" order by lastmodified'
        )
        found = [entry async for batch in self.site.api.search(query) for entry in batch.items]
        changes = [change async for change in self._describe_found(found, followed)]
        self._plan(changes)
        for change in changes:
            yield change
        current = {one.page_id for one in found if isinstance(one, PageEntry)}
        for change in await self._find_trashed(current, followed):
            yield change

    async def list_rights(self, space: Space) -> AsyncIterator[AccessChanged | Upserted | Failed]:
        """Yield the documents of a space that are under another rule now.

        Raises:
            PermanentError, TransientError: The listing failed part-way.
        """
        entries = await self._read_space(space)
        scope = self.site.scope_of(space.key)
        if reason := self.site.rights.failures.get(space.key, ""):
            document_id = self.site.id_of(f"space/{space.key}")
            yield Failed(document_id=document_id, scope=scope, reason=reason)
        listed = {self.site.id_of(one.page_id) for one in entries}
        is_doubtful = self.describer.is_doubtful(scope, listed | self._attachment_ids(scope))
        by_page = self._known_attachments()
        for entry in entries:
            if is_doubtful and not self.site.rights.is_certain(entry):
                continue
            for change in self._compare_rules(entry, by_page):
                yield change
            held = self.describer.known.get(self.site.id_of(entry.page_id))
            token = parse_token(held.token) if held is not None else None
            if token is not None and not self.describer.has_same_includes(token):
                yield self.describer.make_upsert(entry)

    async def list_changed_subtrees(self, space: Space) -> AsyncIterator[AccessChanged]:
        """Yield what is under another rule because of the pages that decide for others.

        Asks for these pages, and for what stands below those that have changed; nothing is told
        of the rest, nor of pages whose ancestors can't be read.

        Raises:
            PermanentError, TransientError: Asking failed part-way.
        """
        site, known = self.site, self.describer.known
        tree = build_tree(known.values(), site.scope_of(space.key))
        await site.rights.read_space(space)
        decisive = await self._find_certain(tree.find_decisive())
        changed = [
            one.page_id
            for one in decisive
            if tree.access[one.page_id] != site.rights.build_rule(one).access_id
        ]
        below = tree.find_with_descendants(changed) - {one.page_id for one in decisive}
        by_page = self._known_attachments()
        for entry in (*decisive, *await self._find_certain(below)):
            for change in self._compare_rules(entry, by_page):
                yield change

    async def _find_certain(self, ids: Collection[str]) -> list[PageEntry]:
        """Return pages with everything their rules need; not those where it can't be known."""
        found = list((await self.site.find_pages(ids)).values())
        await self.site.complete_rights(found)
        return [
            one for one in found if one.restriction is not None and self.site.rights.is_certain(one)
        ]

    def _compare_rules(
        self, entry: PageEntry, by_page: Mapping[str, Collection[DocumentId]]
    ) -> Iterator[AccessChanged]:
        """Yield the rule of a page, and of its attachments, where the ledger has another one."""
        rule = self.site.rights.build_rule(entry)
        own = self.site.id_of(entry.page_id)
        for document_id in (own, *by_page.get(entry.page_id, ())):
            known = self.describer.known.get(document_id)
            if known is not None:
                yield from self.describer.compare_rule(known, rule, known.scope)

    async def _read_space(self, space: Space) -> list[PageEntry]:
        """Read all pages of a space with everything their rules need."""
        site = self.site
        await site.rights.read_space(space)
        entries: dict[str, PageEntry] = {}
        kinds = (Kind.PAGE, Kind.BLOG_POST) if site.settings.blog_posts else (Kind.PAGE,)
        for kind in kinds:
            async for batch in site.api.list_pages(space, kind):
                # A page can come twice when the listing shifts while it is read.
                entries |= {one.page_id: one for one in batch.items}
        completed = await self._complete(list(entries.values()))
        site.forget_space(space.key)
        site.take_pages(completed)
        await site.complete_rights(completed)
        tokens = [
            token
            for one in self.describer.known.values()
            if one.scope == site.scope_of(space.key) and (token := parse_token(one.token))
        ]
        await self.describer.prepare_includes([one for one in tokens if one.includes])
        return completed

    async def _complete(self, entries: list[PageEntry]) -> list[PageEntry]:
        """Ask for what the listing left out, page by page; what can't be read is for nobody."""
        limit = asyncio.Semaphore(_COMPLETED_AT_ONCE)

        async def complete(entry: PageEntry) -> PageEntry:
            if entry.restriction is not None and entry.labels is not None:
                return entry
            async with limit:
                try:
                    return await self.site.api.complete(entry)
                except PermanentError:
                    return entry

        return list(await asyncio.gather(*(complete(entry) for entry in entries)))

    async def _read_attachments(
        self, space: Space, entries: Iterable[PageEntry]
    ) -> list[tuple[AttachmentEntry, PageEntry]]:
        if not self.site.settings.attachments:
            return []
        pages = {entry.page_id: entry for entry in entries}
        found = [one async for one in list_all(self.site, space.key) if one.page_id in pages]
        self.site.take_attachments(found)
        self.site.listed_files.add(space.key)
        return [(one, pages[one.page_id]) for one in found]

    async def _read_comments(self, where: str) -> None:
        if not self.site.settings.comments:
            return
        by_page: dict[str, list[CommentEntry]] = {}
        async for batch in self.site.api.search(f"{where} and type = comment"):
            for entry in batch.items:
                if isinstance(entry, CommentEntry):
                    by_page.setdefault(entry.page_id, []).append(entry)
        self.site.comments |= {
            page_id: build_comment_states(found) for page_id, found in by_page.items()
        }

    async def _describe_found(
        self, found: Collection[Entry], followed: Collection[str]
    ) -> AsyncIterator[Change]:
        site, known = self.site, self.describer.known
        pages = [one for one in found if isinstance(one, PageEntry)]
        site.take_pages(pages)
        changed = {one.page_id: one for one in pages if not self._is_version_known(one)}
        owed = self._find_including(changed) | self._find_commented(found)
        files = [one for one in found if isinstance(one, AttachmentEntry) and self._is_new(one)]
        wanted = (owed | {one.page_id for one in files}) - {one.page_id for one in pages}
        others = await site.find_pages(wanted) if wanted else {}
        by_id = {**others, **{one.page_id: one for one in pages}}
        touched = {
            key: one
            for key, one in by_id.items()
            if (key in owed or key in changed) and one.space in followed
        }
        lending = [by_id[one.page_id] for one in files if one.page_id in by_id]
        await site.complete_rights([*touched.values(), *lending], afresh=True)
        for key, entry in touched.items():
            held = known.get(site.id_of(key))
            rule = site.rights.build_rule(entry)
            if held is not None:
                for changed_rule in self.describer.compare_rule(held, rule, held.scope):
                    yield changed_rule
            yield self.describer.make_upsert(entry)
        site.take_attachments(files)
        for file in files if site.settings.attachments else ():
            if page := by_id.get(file.page_id):
                for change in self.describer.describe_attachment(file, page):
                    yield change

    def _is_version_known(self, entry: PageEntry) -> bool:
        held = self.describer.known.get(self.site.id_of(entry.page_id))
        token = parse_token(held.token) if held is not None else None
        return token is not None and token.is_version_of(entry)

    def _is_new(self, entry: AttachmentEntry) -> bool:
        held = self.describer.known.get(self.site.id_of(entry.attachment_id))
        number = held.token.split("/")[1:2] if held is not None else []
        return number != [str(entry.revision.number)]

    def _find_including(self, changed: Collection[str]) -> set[str]:
        """Return the pages that show one of the changed ones."""
        found: set[str] = set()
        for known in self.describer.known.values() if changed else ():
            token = parse_token(known.token) if "/" in known.locator else None
            if token and any(state.page_id in changed for state in token.includes):
                found.add(known.locator.rpartition("/")[2])
        return found

    def _find_commented(self, found: Collection[Entry]) -> set[str]:
        """Return the pages with comments that the ledger does not have."""
        pages: set[str] = set()
        for one in found if self.site.settings.comments else ():
            if isinstance(one, CommentEntry):
                held = self.describer.known.get(self.site.id_of(one.page_id))
                token = parse_token(held.token) if held is not None else None
                state = (one.comment_id, one.revision.number)
                if token is not None and state not in token.comments:
                    self.site.comments.pop(one.page_id, None)
                    pages.add(one.page_id)
        return pages

    async def _find_trashed(
        self, current: Collection[str], followed: Collection[str]
    ) -> list[Gone]:
        """Return known documents that lie in the trash by their own id."""
        spaces = [self.site.spaces[key] for key in sorted(followed)]
        trashed = await self.site.api.list_trash(spaces)
        by_page = self._known_attachments() if trashed else {}
        return [
            Gone(document_id=document_id, scope=known.scope)
            for page_id in sorted(trashed - set(current))
            for document_id in (self.site.id_of(page_id), *by_page.get(page_id, ()))
            if (known := self.describer.known.get(document_id))
        ]

    def _known_attachments(self) -> dict[str, list[DocumentId]]:
        found: dict[str, list[DocumentId]] = {}
        for known in self.describer.known.values():
            kind, _, rest = known.locator.partition("/")
            if kind == Kind.ATTACHMENT:
                found.setdefault(rest.partition("/")[0], []).append(known.document_id)
        return found

    def _attachment_ids(self, scope: str) -> set[DocumentId]:
        return {
            one.document_id
            for one in self.describer.known.values()
            if one.scope == scope and one.locator.startswith(f"{Kind.ATTACHMENT}/")
        }

    def _plan(self, changes: Iterable[Change]) -> None:
        """Announce the texts that will be asked for."""
        ids: dict[str, list[str]] = {}
        for change in changes:
            if isinstance(change, Upserted):
                kind, _, page_id = change.locator.partition("/")
                ids.setdefault(kind, []).append(page_id)
        for kind in (Kind.PAGE, Kind.BLOG_POST):
            self.texts.plan(ids.get(kind, []), kind)

    def _write_time(self, since: datetime) -> str:
        """Return the moment as a search reads it: whole minutes, in the zone of the site."""
        since -= timedelta(hours=self.site.settings.overlap_hours)
        if self.site.settings.time_zone:
            since = since.astimezone(ZoneInfo(self.site.settings.time_zone))
        else:
            since -= _FURTHEST_BEHIND
        return since.strftime("%Y-%m-%d %H:%M")

"""A Confluence site as a source of knowledge."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from datetime import timedelta

from connectors.confluence.attachments import read_attachment
from connectors.confluence.checking import check_spaces
from connectors.confluence.connecting import connect
from connectors.confluence.describing import Describer
from connectors.confluence.listing import Lister
from connectors.confluence.model import ConfluenceApi, Kind, PageEntry, PageText, Space
from connectors.confluence.pages import read_page
from connectors.confluence.principals import Principals
from connectors.confluence.progress import Followed, parse_cursor
from connectors.confluence.rights import Rights
from connectors.confluence.site import Site
from connectors.confluence.texts import TextLoader
from connectors.confluence.token import parse_token, read_attachment_number
from connectors.files.parser_pool import ParserPool
from core.clock import Clock
from core.errors import (
    PermanentError,
    ResourceGoneError,
    SettingsError,
    TransientError,
    UnsupportedContentError,
)
from core.settings import ConfluenceSettings, IngestSettings
from knowledge.access import NOBODY, AccessRule
from knowledge.documents import Document, DocumentId, Status
from knowledge.people import DirectorySnapshot, Group, PersonId
from knowledge.source import (
    AccessChanged,
    Change,
    Checkpoint,
    Cursor,
    Failed,
    Head,
    KnownDocument,
    ScopeListed,
    Unchanged,
    Upserted,
)

LoadDirectory = Callable[[], Awaitable[DirectorySnapshot]]

_CHECKPOINT_EVERY = 100
# Of a space with fewer pages all are listed as quickly.
_FIRST_DECISIVE = 500
_PARSER_TIMEOUT_S = 120.0


class ConfluenceSource:
    """Reads the spaces of a site; each is a scope `NAME/KEY`.

    An empty cursor lists everything. A cursor follows what has changed since, and lists everything
    again when that was too long ago; spaces whose listing failed are listed again by every run.

    Args:
        name: The source's name in the settings.
        settings: Which site, and what is read of it.
        clock: What time it is.
        load_directory: People and their accounts, for rules that name single accounts.
        ingest: When a disappearance is not believed.
        api: The site; None = as settings say.
    """

    def __init__(
        self,
        name: str,
        settings: ConfluenceSettings,
        *,
        clock: Clock,
        load_directory: LoadDirectory | None = None,
        ingest: IngestSettings | None = None,
        api: ConfluenceApi | None = None,
    ) -> None:
        self._name = name
        self._settings = settings
        self._clock = clock
        self._load_directory = load_directory
        self._ingest = ingest or IngestSettings()
        self._api = api or connect(name, settings, clock)
        self._texts = TextLoader(self._api)
        self._pool = ParserPool(size=1, timeout_s=_PARSER_TIMEOUT_S)
        self._site: Site | None = None
        self._names: dict[str, str] = {}
        self._opening = asyncio.Lock()

    @property
    def name(self) -> str:
        """The source's name in the settings; first part of its document ids."""
        return self._name

    @property
    def group_source(self) -> str:
        """See `GroupSource`."""
        return self._settings.group_source or self._name

    @property
    def calls(self) -> Mapping[str, int]:
        """Calls made to the site so far, by kind."""
        return self._api.calls

    async def discover(
        self, cursor: Cursor, known: Mapping[DocumentId, KnownDocument]
    ) -> AsyncIterator[Change]:
        """Yield changes; see `Source` and the class."""
        followed, now = parse_cursor(cursor), self._clock.now()
        is_due = followed.is_due(now, timedelta(hours=self._settings.full_every_hours))
        recalled = () if is_due else followed.recall_spaces(self._settings.spaces, now)
        lister = await self._begin(known, recalled)
        site = lister.site
        self._plan_run(followed, site, is_due=is_due)
        if not recalled:
            followed.spaces, followed.spaces_at = tuple(site.spaces.values()), now
            followed.asked = self._settings.spaces
        for lost in self._find_lost(known, site):
            yield lost
        up_to_date = site.spaces.keys() - set(followed.todo)
        if followed.since is not None and up_to_date:
            async for change in lister.follow(followed.since, up_to_date):
                yield change
        followed.since = now
        yield Checkpoint(cursor=followed.encode())
        for key in list(followed.todo):
            async for change in self._list_space(lister, site.spaces[key], followed):
                yield change
        yield Checkpoint(cursor=followed.encode())

    async def discover_access(
        self, known: Mapping[DocumentId, KnownDocument]
    ) -> AsyncIterator[AccessChanged | Upserted | Failed | ScopeListed]:
        """Yield what is under another rule now; see `BulkRightsSource`."""
        lister = await self._begin(known)
        for space in lister.site.spaces.values():
            scope = lister.site.scope_of(space.key)
            held = sum(one.scope == scope for one in known.values())
            every = self._settings.rights_every_page
            try:
                if held > min(_FIRST_DECISIVE, every):
                    async for changed in lister.list_changed_subtrees(space):
                        yield changed
                    yield ScopeListed(scope=scope, is_whole=False)
                if held <= every:
                    async for change in lister.list_rights(space):
                        yield change
                    yield ScopeListed(scope=scope)
            except (PermanentError, TransientError) as error:
                yield ScopeListed(scope=scope, error=str(error))

    async def fetch(self, change: Upserted) -> Document:
        """Return a page, blog post or attachment; see `Source`."""
        site = await self._get_site()
        kind, _, rest = change.locator.partition("/")
        if kind == Kind.ATTACHMENT:
            return await self._fetch_attachment(site, rest)
        entry, text = await self._fetch_page(site, rest, Kind(kind))
        await site.complete_rights([entry])
        return await read_page(site, entry, text, now=self._clock.now())

    async def head(self, known: KnownDocument) -> Head:
        """Ask for version and status in one call; see `Source`."""
        kind, _, rest = known.locator.partition("/")
        if kind == Kind.ATTACHMENT:
            attachment = await self._api.fetch_attachment(rest.partition("/")[2])
            is_same = read_attachment_number(known.token) == attachment.revision.number
            token = known.token if is_same else f"changed to {attachment.revision.number}"
            return Head(document_id=known.document_id, token=token, status=Status.CURRENT)
        head = await self._api.fetch_head(rest, Kind(kind))
        held = parse_token(known.token)
        is_same = held is not None and held.is_at(head)
        return Head(
            document_id=known.document_id,
            token=known.token if is_same else f"changed to {head.number}",
            status=Status.ARCHIVED if head.is_archived else Status.CURRENT,
        )

    async def fetch_access(self, known: KnownDocument) -> AccessRule:
        """Return who may read a document now, asked afresh; see `Source`."""
        site = await self._get_site()
        kind, _, rest = known.locator.partition("/")
        page_id, page_kind = rest.partition("/")[0], Kind.PAGE
        if kind == Kind.BLOG_POST:
            page_kind = Kind.BLOG_POST
        try:
            entry, _ = await self._api.fetch_page(page_id, page_kind)
        except PermanentError:
            return NOBODY
        if space := site.spaces.get(entry.space):
            await site.rights.read_space(space)
        site.take_pages([entry])
        await site.complete_rights([entry], afresh=True)
        return site.rights.build_rule(entry)

    async def fetch_groups(self, group_ids: Collection[str]) -> tuple[Group, ...]:
        """Return groups with their members as they are now; see `GroupSource`."""
        principals = await self._load_principals()
        groups: list[Group] = []
        for group_id in sorted(set(group_ids)):
            try:
                accounts = await self._api.fetch_members(group_id)
            except ResourceGoneError:
                accounts = frozenset()
            groups.append(
                Group(
                    source=self.group_source,
                    group_id=group_id,
                    name=group_id,
                    members=principals.find_members(accounts),
                )
            )
        return tuple(groups)

    async def fetch_groups_of(self, person: PersonId) -> frozenset[str] | None:
        """Return the groups somebody is in now; see `GroupSource`."""
        found: set[str] = set()
        try:
            for account in (await self._load_principals()).find_accounts(person):
                found |= await self._api.fetch_groups_of(account)
        except PermanentError:
            return None
        return frozenset(found)

    async def check(self) -> str:
        """Tell which spaces the account sees, and whether it sees who may; see `CheckedSource`."""
        site = (await self._begin({})).site
        await check_spaces(site)
        return f"{self._api.site}, spaces {', '.join(sorted(site.spaces))}"

    async def close(self) -> None:
        """Release connections and parser processes. Safe to call twice."""
        await self._texts.close()
        await self._pool.close()
        await self._api.close()

    async def _begin(
        self, known: Mapping[DocumentId, KnownDocument], recalled: tuple[Space, ...] = ()
    ) -> Lister:
        """Look at everything anew, and take over what the ledger holds.

        Nothing of an earlier run may be believed: a page that is shown in another one may lie in a
        space that is listed after it, or in none that is listed at all.
        """
        spaces = recalled or await self._fetch_spaces()
        site = await self._build_site(spaces)
        self._site = site
        site.held = {
            document_id: token
            for document_id, one in known.items()
            if (token := parse_token(one.token)) is not None
        }
        missing = set(self._settings.spaces) - site.spaces.keys()
        scopes = {one.scope for one in known.values()}
        wrong = sorted(key for key in missing if site.scope_of(key) not in scopes)
        if wrong or not spaces:
            named = f"space {wrong[0]!r} is not there" if wrong else "no space is there"
            raise SettingsError(
                f"{site.api.site!r}: {named}, or the account can't see it; give it read access or "
                f"mend sources.{self._name}.spaces"
            )
        describer = Describer(site=site, known=known, holds=self._ingest)
        return Lister(site=site, describer=describer, texts=self._texts, now=self._clock.now())

    def _plan_run(self, followed: Followed, site: Site, *, is_due: bool) -> None:
        """Decide which spaces are listed whole: all, or those that are new or still owed."""
        keys = frozenset(site.spaces)
        if is_due:
            followed.todo, followed.listed_at = sorted(keys), self._clock.now()
            return
        added = keys - {one.key for one in followed.spaces} - set(followed.todo)
        followed.todo = [key for key in followed.todo if key in keys] + sorted(added)

    def _find_lost(
        self, known: Mapping[DocumentId, KnownDocument], site: Site
    ) -> list[ScopeListed]:
        """Return the scopes that are configured and held, but can't be seen any more."""
        lost = sorted(set(self._settings.spaces) - site.spaces.keys())
        held = {one.scope for one in known.values()}
        reason = "can't be seen any more; give the account read access or remove it from spaces"
        return [
            ScopeListed(scope=site.scope_of(key), error=f"space {key!r} {reason}")
            for key in lost
            if site.scope_of(key) in held
        ]

    async def _list_space(
        self, lister: Lister, space: Space, followed: Followed
    ) -> AsyncIterator[Change]:
        """Yield a space with checkpoints; one that fails stays to be done."""
        try:
            count = 0
            async for change in lister.list_space(space):
                yield change
                count += isinstance(change, Upserted | Unchanged)
                if count and count % _CHECKPOINT_EVERY == 0:
                    yield Checkpoint(cursor=followed.encode())
        except (PermanentError, TransientError) as error:
            yield ScopeListed(scope=lister.site.scope_of(space.key), error=str(error))
            return
        followed.todo.remove(space.key)
        yield Checkpoint(cursor=followed.encode())

    async def _fetch_page(self, site: Site, page_id: str, kind: Kind) -> tuple[PageEntry, PageText]:
        entry = site.pages.get(page_id)
        text = await self._texts.get(page_id)
        if entry is not None and text is not None:
            is_late = text.revision.number < entry.revision.number
            if not is_late and entry.labels is not None:
                return entry, text
        if entry is not None and entry.labels is not None and entry.restriction is not None:
            found = await self._api.fetch_texts([page_id], kind)
            text = found.get(page_id)
            if text is not None and text.revision.number >= entry.revision.number:
                return entry, text
        entry, text = await self._api.fetch_page(page_id, kind)
        site.take_pages([entry])
        return entry, text

    async def _fetch_attachment(self, site: Site, rest: str) -> Document:
        page_id, _, attachment_id = rest.partition("/")
        entry = site.attachments.get(attachment_id)
        if entry is None or not entry.download:
            entry = await self._api.fetch_attachment(attachment_id)
        page = site.pages.get(page_id)
        if page is None:
            page = (await site.find_pages([page_id])).get(page_id)
        if page is None:
            raise UnsupportedContentError(
                f"attachment {entry.file_name!r}: its page {page_id!r} can't be read"
            )
        await site.complete_rights([page])
        return await read_attachment(site, entry, page, self._pool)

    async def _get_site(self) -> Site:
        """Return what the last run knew of the site; without one, its spaces alone."""
        async with self._opening:
            if self._site is None:
                self._site = await self._build_site(await self._fetch_spaces())
            return self._site

    async def _build_site(self, spaces: tuple[Space, ...]) -> Site:
        principals = await self._load_principals()
        rights = Rights(
            api=self._api, principals=principals, fixed_readers=self._settings.space_readers
        )
        return Site(
            name=self._name,
            settings=self._settings,
            api=self._api,
            principals=principals,
            rights=rights,
            spaces={space.key: space for space in spaces},
            names=self._names,
        )

    async def _load_principals(self) -> Principals:
        directory = await self._load_directory() if self._load_directory else None
        return Principals(
            directory=directory,
            source=self._name,
            system=self._settings.identity_system,
            group_source=self.group_source,
            anonymous_is_members=self._settings.anonymous_is_members,
        )

    async def _fetch_spaces(self) -> tuple[Space, ...]:
        try:
            return await self._api.fetch_spaces(self._settings.spaces)
        except ResourceGoneError as error:
            raise SettingsError(
                f"{self._api.site!r} has no list of spaces; check sources.{self._name}.url (on "
                f"Cloud it ends in /wiki) and sources.{self._name}.flavour"
            ) from error

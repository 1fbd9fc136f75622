"""The REST API v1, as far as both flavours have it in common."""

from collections.abc import AsyncIterator
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

from connectors.confluence.model import (
    AccountIds,
    AttachmentEntry,
    CommentEntry,
    Entry,
    Kind,
    PageEntry,
    Readers,
    Revision,
)
from connectors.confluence.payloads import (
    Content,
    Contents,
    Group,
    Groups,
    Listing,
    Restriction,
    Subjects,
    User,
    Users,
    Version,
)
from connectors.pagination import Batch, read_batches, read_items
from connectors.rest import RestClient
from core.errors import PermanentError, ServiceUnavailableError, SettingsError
from core.http import Params

L = TypeVar("L", bound=Listing)

# What every listing is asked to say of an entry, beside its restrictions.
LIGHT = "version,space,container,extensions,metadata.labels"
RIGHTS = "ancestors,restrictions.read.restrictions.user,restrictions.read.restrictions.group"
BATCH = 200
SMALLEST_BATCH = 10
LISTING_ATTEMPTS = 2
# Stands for a reader without an id; no account is called so.
_NAMELESS = ("(without an id)",)


class V1:
    """Listings and look-ups of v1."""

    def __init__(self, rest: RestClient) -> None:
        self.rest = rest

    async def search(self, query: str) -> AsyncIterator[Batch[Entry]]:
        """Yield what a CQL query finds; see `ConfluenceApi.search`."""
        listing = self.list_contents("rest/api/content/search", {"cql": query}, kind="search")
        async for batch in listing:
            found = (read_entry(content) for content in batch.items)
            entries = tuple(entry for entry in found if entry is not None)
            yield Batch(items=entries, cursor=batch.cursor)

    async def list_contents(
        self, path: str, params: Params, *, kind: str, expand: str = f"{LIGHT},{RIGHTS}"
    ) -> AsyncIterator[Batch[Content]]:
        """Yield a v1 listing batch by batch.

        Data Center lowers page sizes and its `next` under-counts, so the next start is counted
        from what came. A batch that rights break (one ancestor can't be read) comes without them.
        """

        async def fetch(cursor: str, size: int) -> Batch[Content]:
            options = {**params, **_position(cursor), "limit": size}
            try:
                reply = await self._fetch(path, {**options, "expand": expand}, kind)
            except SettingsError:
                raise
            except PermanentError:
                if RIGHTS not in expand:
                    raise
                reply = await self._fetch(path, {**options, "expand": LIGHT}, kind)
            return Batch(items=reply.results, cursor=_next(reply, cursor))

        place = f"{self.rest.http.place}: {kind}"
        async for batch in read_batches(fetch, place=place, size=BATCH, smallest=SMALLEST_BATCH):
            yield batch

    async def fetch_restriction(self, content_id: str) -> Readers:
        """Return who may read one piece of content by its own restriction.

        Raises:
            PermanentError: It can't be read, or the reply leaves out whom it names.
        """
        path = f"rest/api/content/{content_id}/restriction/byOperation/read"
        expand = "restrictions.user,restrictions.group"
        found = await self.rest.get(path, Restriction, params={"expand": expand}, kind="rights")
        readers = read_subjects(found.restrictions)
        if readers is None:
            raise PermanentError(
                f"{self.rest.http.place} does not say whom the restriction of {content_id!r} names"
            )
        return readers

    async def list_users(self, path: str) -> frozenset[AccountIds]:
        """Return the members that a group's listing names."""
        members: set[AccountIds] = set()
        async for reply in self.list_by_start(path, Users, {}, kind="groups"):
            members |= {read_account(user) for user in reply.results}
        return frozenset(members - {()})

    async def list_groups_of(self, named: Params) -> frozenset[str]:
        """Return the groups of an account, by what restrictions call them."""
        found: set[str] = set()
        async for reply in self.list_by_start(
            "rest/api/user/memberof", Groups, named, kind="groups"
        ):
            found |= {_name_group(group) for group in reply.results}
        return frozenset(found - {""})

    async def list_by_start(
        self, path: str, model: type[L], params: Params, *, kind: str
    ) -> AsyncIterator[L]:
        """Yield the pages of a listing that counts from a start."""

        async def fetch(cursor: str, size: int) -> Batch[L]:
            start = int(cursor or 0)
            options = {**params, "start": start, "limit": size}
            reply = await self.rest.get(path, model, params=options, kind=kind)
            return Batch(items=(reply,), cursor=_next_start(reply, start))

        async for reply in read_items(fetch, place=f"{self.rest.http.place}: {path}", size=BATCH):
            yield reply

    async def _fetch(self, path: str, params: Params, kind: str) -> Contents:
        return await self.rest.get(
            path, Contents, params=params, kind=kind, attempts=LISTING_ATTEMPTS
        )


def read_entry(content: Content) -> Entry | None:
    """Return what a v1 content says; None for kinds that are not read, and for drafts."""
    if content.status not in {"current", "archived"} or content.version is None:
        return None
    match content.type:
        case "page" | "blogpost":
            return read_page(content)
        case "attachment":
            return read_attachment(content)
        case "comment":
            return CommentEntry(
                comment_id=content.id,
                page_id=content.container.id if content.container else "",
                revision=read_revision(content.version),
                body=content.body.text or "",
            )
        case _:
            return None


def read_page(content: Content) -> PageEntry:
    """Return a page or blog post."""
    ancestors = None
    if content.ancestors is not None:
        ancestors = tuple(parent.id for parent in content.ancestors)
    labels = content.metadata.labels
    return PageEntry(
        page_id=content.id,
        space=content.space.key if content.space else "",
        title=content.title,
        revision=read_revision(content.version),
        kind=Kind(content.type),
        is_archived=content.status == "archived",
        parent_id=ancestors[-1] if ancestors else "",
        ancestors=ancestors,
        restriction=_read_restriction(content),
        labels=None if labels is None else tuple(label.name for label in labels.results),
    )


def read_attachment(content: Content) -> AttachmentEntry:
    """Return an attachment."""
    return AttachmentEntry(
        attachment_id=content.id,
        page_id=content.container.id if content.container else "",
        space=content.space.key if content.space else "",
        file_name=content.title,
        media_type=content.extensions.media_type or content.metadata.media_type,
        size=content.extensions.file_size,
        download=content.links.download,
        revision=read_revision(content.version),
    )


def read_revision(version: Version | None) -> Revision:
    """Return a version; content without one was asked for wrongly.

    Raises:
        PermanentError: The version is missing.
    """
    if version is None:
        raise PermanentError("Confluence sent content without its version; update the server")
    return Revision(
        number=version.number,
        at=version.when,
        author=read_account(version.by),
        author_name=version.by.display_name,
        message=version.message or "",
    )


def read_account(user: User) -> AccountIds:
    """Return all ids of an account."""
    return tuple(one for one in (user.account_id, user.user_key, user.username) if one)


def read_subjects(subjects: Subjects) -> Readers | None:
    """Return whom a restriction names; a group by id where there is one, else by name.

    None when the reply leaves one of the lists out. Who is named without an id, as deleted
    accounts are, stays as a reader that is nobody: else the restriction would look lifted.
    """
    if subjects.user.results is None or subjects.group.results is None:
        return None
    users = {read_account(user) for user in subjects.user.results}
    groups = {_name_group(group) for group in subjects.group.results}
    if () in users or "" in groups:
        users.add(_NAMELESS)
    return Readers(users=frozenset(users - {()}), groups=frozenset(groups - {""}))


def _name_group(group: Group) -> str:
    return group.id or group.name


def _read_restriction(content: Content) -> Readers | None:
    if content.restrictions is None or content.restrictions.read is None:
        return None
    return read_subjects(content.restrictions.read.restrictions)


def _position(cursor: str) -> dict[str, str | int]:
    if not cursor:
        return {}
    return {"cursor": cursor[2:]} if cursor.startswith("c:") else {"start": int(cursor[2:])}


def _next(reply: Contents, cursor: str) -> str:
    named = parse_qs(urlsplit(reply.links.next).query).get("cursor")
    if named:
        return f"c:{named[0]}"
    following = _next_start(reply, int(cursor[2:]) if cursor.startswith("s:") else 0)
    return f"s:{following}" if following else ""


def _next_start(reply: Listing, start: int) -> str:
    """Return where a listing goes on; empty at its end.

    A page of which the account may see nothing comes empty, and the listing goes on behind it.

    Raises:
        ServiceUnavailableError: There is more, but the reply does not say where.
    """
    if not reply.links.next:
        return ""
    if reply.results:
        return str(start + len(reply.results))
    named = parse_qs(urlsplit(reply.links.next).query).get("start", [""])[0]
    if not named.isdecimal() or int(named) <= start:
        raise ServiceUnavailableError(
            "Confluence says that a listing goes on, but not where; what is left is not known"
        )
    return named

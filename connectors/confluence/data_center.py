"""Confluence Server and Data Center."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from connectors.confluence.model import (
    AccountIds,
    AttachmentEntry,
    CommentEntry,
    Kind,
    PageEntry,
    PageHead,
    PageText,
    Readers,
    Space,
)
from connectors.confluence.payloads import (
    Content,
    Contents,
    PermissionSet,
    SpacePermissionV1,
    SpacesV1,
    SpaceV1,
    User,
    Version,
    Versions,
)
from connectors.confluence.site_api import SiteApi
from connectors.confluence.v1 import (
    BATCH,
    LIGHT,
    RIGHTS,
    read_account,
    read_attachment,
    read_entry,
    read_page,
    read_revision,
)
from connectors.pagination import Batch
from connectors.rest import Payload
from core.errors import PermanentError, ResourceGoneError, ServiceUnavailableError
from core.http import Params

_TRASHED = frozenset({"trashed", "deleted", "draft"})
_PERMISSIONS_RPC = "rpc/json-rpc/confluenceservice-v2/getSpacePermissionSets"


class _Permissions(Payload):
    results: tuple[SpacePermissionV1, ...] = ()


class _PermissionSets(Payload):
    results: tuple[PermissionSet, ...] = ()


@dataclass(slots=True, kw_only=True)
class DataCenterApi(SiteApi):
    """Asks `{base}/rest/api`; see `ConfluenceApi`."""

    async def fetch_spaces(self, keys: Collection[str]) -> tuple[Space, ...]:
        """See `ConfluenceApi`; the listing names personal spaces only when asked for by key."""
        found = {space.key: space async for space in self._list_spaces()}
        for key in set(keys) - found.keys():
            try:
                one = await self.rest.get(f"rest/api/space/{key}", SpaceV1, kind="spaces")
            except ResourceGoneError:
                continue
            found[one.key] = _read_space(one)
        return tuple(space for key, space in found.items() if not keys or key in keys)

    async def list_pages(self, space: Space, kind: Kind) -> AsyncIterator[Batch[PageEntry]]:
        """See `ConfluenceApi`."""
        for status in ("current", "archived"):
            params = {"spaceKey": space.key, "type": kind.value, "status": status}
            listing = self._v1.list_contents("rest/api/content", params, kind="listing")
            try:
                async for batch in listing:
                    yield Batch(
                        items=tuple(read_page(content) for content in batch.items),
                        cursor=batch.cursor,
                    )
            except PermanentError:
                # Servers that can't archive pages do not know the status.
                if status == "current":
                    raise

    async def complete(self, entry: PageEntry) -> PageEntry:
        """See `ConfluenceApi`."""
        full, _ = await self.fetch_page(entry.page_id, entry.kind)
        return full

    async def fetch_texts(self, ids: Sequence[str], kind: Kind) -> Mapping[str, PageText]:
        """See `ConfluenceApi`; a search does not find what is archived."""
        query = f"id in ({', '.join(ids)}) and type = {kind.value}"
        listing = self._v1.list_contents(
            "rest/api/content/search",
            {"cql": query},
            kind="texts",
            expand="body.storage,version,space",
        )
        return {
            content.id: _read_text(content) async for batch in listing for content in batch.items
        }

    async def fetch_page(
        self,
        page_id: str,
        kind: Kind,  # noqa: ARG002 - ids are shared by all kinds here
    ) -> tuple[PageEntry, PageText]:
        """See `ConfluenceApi`."""
        try:
            content = await self._fetch_content(page_id, f"body.storage,{LIGHT},{RIGHTS}", "page")
        except ResourceGoneError:
            # One unreadable ancestor makes the whole reply a 404.
            content = await self._fetch_content(page_id, f"body.storage,{LIGHT}", "page")
        return read_page(content), _read_text(content)

    async def find_page(self, space: str, title: str, kind: Kind) -> PageEntry | None:
        """See `ConfluenceApi`."""
        named = {"spaceKey": space, "title": title, "type": kind.value}
        params = {**named, "expand": f"{LIGHT},{RIGHTS}"}
        found = await self.rest.get("rest/api/content", Contents, params=params, kind="find")
        entries = [read_entry(content) for content in found.results]
        return next((one for one in entries if isinstance(one, PageEntry)), None)

    async def fetch_versions(
        self, page_id: str, kind: Kind, numbers: Collection[int]
    ) -> tuple[PageText, ...]:
        """See `ConfluenceApi`; one call where the server puts texts into the list of versions."""
        del kind
        found: dict[int, PageText] = {}
        async for version in self._list_versions(page_id):
            content = version.content
            if version.number not in numbers or content is None:
                continue
            if (body := content.body.text) is not None:
                found[version.number] = PageText(
                    page_id=page_id,
                    title=content.title,
                    body=body,
                    revision=read_revision(version),
                )
        for number in set(numbers) - found.keys():
            try:
                found[number] = await self._fetch_version(page_id, number)
            except ResourceGoneError:
                continue
        return tuple(found[number] for number in sorted(found))

    async def fetch_moments(
        self, page_id: str, kind: Kind, since: datetime
    ) -> tuple[datetime, ...]:
        """See `ConfluenceApi`."""
        del kind
        found: list[datetime] = []
        async for version in self._list_versions(page_id, with_text=False):
            found.append(read_revision(version).at)
            if found[-1] < since:
                break
        return tuple(found)

    async def fetch_ancestors(self, page_id: str) -> tuple[str, ...]:
        """See `ConfluenceApi`."""
        content = await self._fetch_content(page_id, "ancestors", "rights")
        return tuple(parent.id for parent in content.ancestors or ())

    async def fetch_space_readers(self, space: Space) -> Readers:
        """See `ConfluenceApi`; servers before 9.1 answer over JSON-RPC only."""
        path = f"rest/api/space/{space.key}/permissions"
        try:
            reply = await self.rest.http.request_json("GET", path, kind="rights", attempts=1)
        except (ResourceGoneError, ServiceUnavailableError):
            return await self._fetch_older_readers(space)
        listed = {"results": reply} if isinstance(reply, list) else reply
        found = self.rest.parse(listed, _Permissions, path)
        return _read_permissions(found.results)

    async def list_attachments(self, page_id: str, kind: Kind) -> tuple[AttachmentEntry, ...]:
        """See `ConfluenceApi`."""
        del kind
        path = f"rest/api/content/{page_id}/child/attachment"
        listing = self._v1.list_contents(path, {}, kind="attachments", expand=LIGHT)
        return tuple(
            [read_attachment(content) async for batch in listing for content in batch.items]
        )

    async def list_comments(self, page_id: str, kind: Kind) -> tuple[CommentEntry, ...]:
        """See `ConfluenceApi`."""
        del kind
        listing = self._v1.list_contents(
            f"rest/api/content/{page_id}/child/comment",
            {"depth": "all"},
            kind="comments",
            expand="body.storage,version",
        )
        found = [read_entry(content) async for batch in listing for content in batch.items]
        return tuple(sorted((c for c in found if isinstance(c, CommentEntry)), key=_by_time))

    async def fetch_attachment(self, attachment_id: str) -> AttachmentEntry:
        """See `ConfluenceApi`."""
        return read_attachment(await self._fetch_content(attachment_id, LIGHT, "attachments"))

    async def fetch_head(
        self,
        page_id: str,
        kind: Kind,  # noqa: ARG002 - ids are shared by all kinds here
    ) -> PageHead:
        """See `ConfluenceApi`."""
        content = await self._fetch_content(page_id, "version,ancestors", "head")
        parents = [parent.id for parent in content.ancestors or ()]
        return PageHead(
            number=read_revision(content.version).number,
            title=content.title,
            place=parents[-1] if parents else "",
            is_archived=content.status == "archived",
        )

    async def list_trash(self, spaces: Sequence[Space]) -> frozenset[str]:
        """See `ConfluenceApi`: one call a space."""
        gone: set[str] = set()
        for space in spaces:
            params: Params = {"spaceKey": space.key, "status": "trashed", "limit": BATCH}
            found = await self.rest.get("rest/api/content", Contents, params=params, kind="trash")
            gone |= {content.id for content in found.results if content.status == "trashed"}
        return frozenset(gone)

    async def fetch_names(self, accounts: Collection[str]) -> Mapping[str, str]:
        """See `ConfluenceApi`: one call or two an account."""
        names: dict[str, str] = {}
        for account in sorted(accounts):
            for key in ("key", "username"):
                try:
                    user = await self.rest.get(
                        "rest/api/user", User, params={key: account}, kind="users"
                    )
                except PermanentError:
                    continue
                names[account] = user.display_name
                break
        return names

    async def fetch_members(self, group: str) -> frozenset[AccountIds]:
        """See `ConfluenceApi`."""
        return await self._v1.list_users(f"rest/api/group/{quote(group, safe='')}/member")

    async def fetch_groups_of(self, account: str) -> frozenset[str]:
        """See `ConfluenceApi`."""
        try:
            return await self._v1.list_groups_of({"key": account})
        except ResourceGoneError:
            return await self._v1.list_groups_of({"username": account})

    def page_url(self, entry: PageEntry) -> str:
        """See `ConfluenceApi`."""
        return f"{self.site}/pages/viewpage.action?pageId={entry.page_id}"

    async def _fetch_content(self, content_id: str, expand: str, kind: str) -> Content:
        content = await self.rest.get(
            f"rest/api/content/{content_id}",
            Content,
            params={"expand": expand, "status": "any"},
            kind=kind,
        )
        if content.status in _TRASHED:
            raise ResourceGoneError(f"{self.rest.http.place}: {content_id!r} is in the trash")
        return content

    async def _fetch_version(self, page_id: str, number: int) -> PageText:
        params: Params = {"status": "historical", "version": number}
        content = await self.rest.get(
            f"rest/api/content/{page_id}",
            Content,
            params={**params, "expand": "body.storage,version"},
            kind="versions",
        )
        return _read_text(content)

    async def _list_versions(
        self, page_id: str, *, with_text: bool = True
    ) -> AsyncIterator[Version]:
        path = f"rest/api/content/{page_id}/version"
        expand = {"expand": "content.body.storage"} if with_text else {}
        async for reply in self._v1.list_by_start(path, Versions, expand, kind="versions"):
            for version in reply.results:
                yield version

    async def _list_spaces(self) -> AsyncIterator[Space]:
        params = {"type": "global", "status": "current"}
        listing = self._v1.list_by_start("rest/api/space", SpacesV1, params, kind="spaces")
        async for reply in listing:
            for space in reply.results:
                yield _read_space(space)

    async def _fetch_older_readers(self, space: Space) -> Readers:
        reply = await self.rest.http.request_json(
            "POST", _PERMISSIONS_RPC, json=[space.key], kind="rights", is_repeatable=True
        )
        listed = {"results": reply} if isinstance(reply, list) else {}
        found = self.rest.parse(listed, _PermissionSets, _PERMISSIONS_RPC)
        grants = [grant for one in found.results if one.type == "VIEWSPACE" for grant in one.grants]
        if not grants:
            raise PermanentError(
                f"{self.rest.http.place} does not say who may view space {space.key!r}"
            )
        users = {await self._find_account(grant.user_name) for grant in grants if grant.user_name}
        return Readers(
            users=frozenset(users),
            groups=frozenset(grant.group_name for grant in grants if grant.group_name),
            is_anonymous=any(not (grant.user_name or grant.group_name) for grant in grants),
        )

    async def _find_account(self, username: str) -> AccountIds:
        try:
            user = await self.rest.get(
                "rest/api/user", User, params={"username": username}, kind="users"
            )
        except ResourceGoneError:
            return (username,)
        return read_account(user) or (username,)


def _read_space(space: SpaceV1) -> Space:
    return Space(key=space.key, space_id=str(space.id), name=space.name or space.key)


def _read_text(content: Content) -> PageText:
    body = content.body.text
    if body is None:
        # An empty page has an empty text.
        raise PermanentError(f"Confluence sent {content.id!r} without its text")
    return PageText(
        page_id=content.id,
        title=content.title,
        body=body,
        revision=read_revision(content.version),
    )


def _read_permissions(permissions: Sequence[SpacePermissionV1]) -> Readers:
    """Return who is given `read` on the space itself; any other permission is not a right to it."""
    named = [
        one.subject
        for one in permissions
        if one.subject is not None
        and (one.operation.operation_key or one.operation.key) == "read"
        and one.operation.target == "space"
    ]
    users = (
        tuple(one for one in (subject.user_key, subject.username) if one)
        for subject in named
        if subject.type != "group"
    )
    return Readers(
        users=frozenset(users) - {()},
        groups=frozenset(one.name for one in named if one.type == "group") - {""},
        is_anonymous=any(one.type == "anonymous" for one in named),
    )


def _by_time(comment: CommentEntry) -> tuple[str, str]:
    return comment.revision.at.isoformat(), comment.comment_id

"""Confluence Cloud: v2 for what it has, v1 for search, restrictions and groups."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar
from urllib.parse import parse_qs, quote, urlsplit

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
    AttachmentsV2,
    AttachmentV2,
    CommentsV2,
    Labels,
    Listing,
    PagesV2,
    PageV2,
    Parents,
    SpacePermissionsV2,
    SpacesV2,
    Users,
    VersionsV2,
)
from connectors.confluence.site_api import SiteApi
from connectors.confluence.v1 import LISTING_ATTEMPTS
from connectors.confluence.v2 import read_attachment, read_page, read_revision, read_text
from connectors.pagination import Batch, read_batches
from core.errors import PermanentError, ResourceGoneError, ServiceUnavailableError
from core.http import Params

L = TypeVar("L", bound=Listing)

_BATCH = 250
_SMALLEST_BATCH = 10
_SEEN = "current,archived"
# Replies to replies; the site itself indents no further.
_DEEPEST_REPLY = 5
_COLLECTIONS = {Kind.PAGE: "pages", Kind.BLOG_POST: "blogposts"}


@dataclass(slots=True, kw_only=True)
class CloudApi(SiteApi):
    """Asks `{site}/wiki`; see `ConfluenceApi`."""

    _keys: dict[str, str] = field(init=False, default_factory=dict)
    """Space keys by id, as far as they were seen."""

    async def fetch_spaces(self, keys: Collection[str]) -> tuple[Space, ...]:
        """See `ConfluenceApi`."""
        params: Params = {"keys": ",".join(sorted(keys))} if keys else {"type": "global"}
        spaces: list[Space] = []
        async for reply in self._list("api/v2/spaces", SpacesV2, params, kind="spaces"):
            found = [one for one in reply.results if keys or one.status == "current"]
            self._keys |= {one.id: one.key for one in found}
            spaces += [Space(key=one.key, space_id=one.id, name=one.name) for one in found]
        return tuple(spaces)

    async def list_pages(self, space: Space, kind: Kind) -> AsyncIterator[Batch[PageEntry]]:
        """See `ConfluenceApi`: v2 says what there is, a search adds rights and labels in bulk."""
        self._keys[space.space_id] = space.key
        query = f'space = "{space.key}" and type = {kind.value}'
        searched: dict[str, PageEntry] = {}
        try:
            async for found in self._v1.search(query):
                searched |= {one.page_id: one for one in found.items if isinstance(one, PageEntry)}
        except ResourceGoneError:
            searched.clear()
        path = f"api/v2/spaces/{space.space_id}/{_COLLECTIONS[kind]}"
        async for reply in self._list(path, PagesV2, {"status": _SEEN}, kind="listing"):
            listed = [read_page(page, space.key, kind) for page in reply.results]
            yield Batch(
                items=tuple(_merge(one, searched.get(one.page_id)) for one in listed if one),
                cursor=reply.links.next,
            )

    async def complete(self, entry: PageEntry) -> PageEntry:
        """See `ConfluenceApi`."""
        path = f"api/v2/{_COLLECTIONS[entry.kind]}/{entry.page_id}/labels"
        found = await self.rest.get(path, Labels, kind="labels")
        return replace(
            entry,
            labels=tuple(label.name for label in found.results),
            restriction=await self._v1.fetch_restriction(entry.page_id),
        )

    async def fetch_texts(self, ids: Sequence[str], kind: Kind) -> Mapping[str, PageText]:
        """See `ConfluenceApi`."""
        params = {"id": ",".join(ids), "status": _SEEN, "body-format": "storage"}
        found: dict[str, PageText] = {}
        path = f"api/v2/{_COLLECTIONS[kind]}"
        async for reply in self._list(path, PagesV2, params, kind="texts"):
            found |= {page.id: read_text(page) for page in reply.results}
        return found

    async def fetch_page(self, page_id: str, kind: Kind) -> tuple[PageEntry, PageText]:
        """See `ConfluenceApi`: four calls, none of which waits for the search index."""
        page = await self._fetch(page_id, kind, {"body-format": "storage"}, "page")
        key = await self._find_key(page.space_id or "")
        entry = read_page(page, key, kind)
        if entry is None:
            raise ResourceGoneError(f"{self.rest.http.place}: {page_id!r} is a draft")
        entry = await self.complete(entry)
        ancestors = await self.fetch_ancestors(page_id) if entry.parent_id else ()
        return replace(entry, ancestors=ancestors), read_text(page)

    async def find_page(self, space: str, title: str, kind: Kind) -> PageEntry | None:
        """See `ConfluenceApi`."""
        ids = [one for one, key in self._keys.items() if key == space]
        if not ids:
            ids = [one.space_id for one in await self.fetch_spaces([space])]
        if not ids:
            return None
        params = {"space-id": ids[0], "title": title, "status": "current"}
        path = f"api/v2/{_COLLECTIONS[kind]}"
        found = await self.rest.get(path, PagesV2, params=params, kind="find")
        for page in found.results:
            entry = read_page(page, space, kind)
            if entry is not None:
                entry = await self.complete(entry)
                parents = await self.fetch_ancestors(page.id) if entry.parent_id else ()
                return replace(entry, ancestors=parents)
        return None

    async def fetch_versions(
        self, page_id: str, kind: Kind, numbers: Collection[int]
    ) -> tuple[PageText, ...]:
        """See `ConfluenceApi`: one call for up to 50 versions."""
        found: dict[int, PageText] = {}
        path = f"api/v2/{_COLLECTIONS[kind]}/{page_id}/versions"
        params = {"body-format": "storage", "sort": "-modified-date"}
        async for reply in self._list(path, VersionsV2, params, kind="versions", size=50):
            for version in reply.results:
                page = version.page
                if version.number not in numbers or page is None:
                    continue
                if (body := page.body.text) is not None:
                    found[version.number] = PageText(
                        page_id=page_id,
                        title=page.title,
                        body=body,
                        revision=read_revision(version),
                    )
            oldest = min((one.number for one in reply.results), default=0)
            if not numbers or oldest <= min(numbers):
                break
        return tuple(found[number] for number in sorted(found))

    async def fetch_moments(
        self, page_id: str, kind: Kind, since: datetime
    ) -> tuple[datetime, ...]:
        """See `ConfluenceApi`."""
        found: list[datetime] = []
        path = f"api/v2/{_COLLECTIONS[kind]}/{page_id}/versions"
        params = {"sort": "-modified-date"}
        async for reply in self._list(path, VersionsV2, params, kind="versions", size=50):
            found += [one.at for one in reply.results]
            if not found or found[-1] < since:
                break
        return tuple(found)

    async def fetch_ancestors(self, page_id: str) -> tuple[str, ...]:
        """See `ConfluenceApi`; folders and databases count too."""
        found = await self.rest.get(
            f"api/v2/pages/{page_id}/ancestors", Parents, params={"limit": _BATCH}, kind="rights"
        )
        return tuple(parent.id for parent in found.results)

    async def fetch_space_readers(self, space: Space) -> Readers:
        """See `ConfluenceApi`."""
        users: set[AccountIds] = set()
        groups: set[str] = set()
        is_anonymous = False
        path = f"api/v2/spaces/{space.space_id}/permissions"
        async for reply in self._list(path, SpacePermissionsV2, {}, kind="rights"):
            for one in reply.results:
                if (one.operation.key, one.operation.target) != ("read", "space"):
                    continue
                match one.principal.type:
                    case "user":
                        users.add((one.principal.id,))
                    case "group":
                        groups.add(one.principal.id)
                    case "anonymous":
                        is_anonymous = True
        return Readers(users=frozenset(users), groups=frozenset(groups), is_anonymous=is_anonymous)

    async def list_attachments(self, page_id: str, kind: Kind) -> tuple[AttachmentEntry, ...]:
        """See `ConfluenceApi`."""
        path = f"api/v2/{_COLLECTIONS[kind]}/{page_id}/attachments"
        found: list[AttachmentEntry] = []
        async for reply in self._list(path, AttachmentsV2, {}, kind="attachments"):
            found += [read_attachment(one) for one in reply.results if one.status == "current"]
        return tuple(found)

    async def list_comments(self, page_id: str, kind: Kind) -> tuple[CommentEntry, ...]:
        """See `ConfluenceApi`: footer and inline comments, and a call for each one's replies."""
        found: dict[str, CommentEntry] = {}
        for name in ("footer-comments", "inline-comments"):
            paths = [f"api/v2/{_COLLECTIONS[kind]}/{page_id}/{name}"]
            for _ in range(_DEEPEST_REPLY):
                some = [one for path in paths for one in await self._list_comments(path, page_id)]
                new = {one.comment_id: one for one in some if one.comment_id not in found}
                found |= new
                paths = [f"api/v2/{name}/{one}/children" for one in new]
        return tuple(sorted(found.values(), key=lambda one: (one.revision.at, one.comment_id)))

    async def fetch_attachment(self, attachment_id: str) -> AttachmentEntry:
        """See `ConfluenceApi`."""
        found = await self.rest.get(
            f"api/v2/attachments/{attachment_id}", AttachmentV2, kind="attachments"
        )
        if found.status != "current":
            raise ResourceGoneError(f"{self.rest.http.place}: {attachment_id!r} is in the trash")
        return read_attachment(found)

    async def fetch_head(self, page_id: str, kind: Kind) -> PageHead:
        """See `ConfluenceApi`."""
        page = await self._fetch(page_id, kind, {}, "head")
        if page.version is None:
            raise PermanentError(f"{self.rest.http.place} sent {page_id!r} without its version")
        return PageHead(
            number=page.version.number,
            title=page.title,
            place=page.parent_id or "",
            is_archived=page.status == "archived",
        )

    async def list_trash(self, spaces: Sequence[Space]) -> frozenset[str]:
        """See `ConfluenceApi`: one call."""
        params: Params = {
            "space-id": ",".join(space.space_id for space in spaces),
            "status": "trashed,deleted",
            "sort": "-modified-date",
            "limit": _BATCH,
        }
        found = await self.rest.get("api/v2/pages", PagesV2, params=params, kind="trash")
        return frozenset(page.id for page in found.results if page.status in {"trashed", "deleted"})

    async def fetch_names(self, accounts: Collection[str]) -> Mapping[str, str]:
        """See `ConfluenceApi`: one call for up to 250 accounts."""
        names: dict[str, str] = {}
        asked = sorted(accounts)
        for start in range(0, len(asked), _BATCH):
            found = await self.rest.post(
                "api/v2/users-bulk",
                Users,
                json={"accountIds": asked[start : start + _BATCH]},
                kind="users",
                is_repeatable=True,
            )
            names |= {user.account_id: user.display_name for user in found.results}
        return names

    async def fetch_members(self, group: str) -> frozenset[AccountIds]:
        """See `ConfluenceApi`."""
        return await self._v1.list_users(f"rest/api/group/{quote(group, safe='')}/membersByGroupId")

    async def fetch_groups_of(self, account: str) -> frozenset[str]:
        """See `ConfluenceApi`."""
        return await self._v1.list_groups_of({"accountId": account})

    def page_url(self, entry: PageEntry) -> str:
        """See `ConfluenceApi`."""
        folder = "blog" if entry.kind is Kind.BLOG_POST else "pages"
        return f"{self.site}/spaces/{entry.space}/{folder}/{entry.page_id}"

    async def _list_comments(self, path: str, page_id: str) -> list[CommentEntry]:
        listing = self._list(path, CommentsV2, {"body-format": "storage"}, kind="comments")
        return [
            CommentEntry(
                comment_id=one.id,
                page_id=page_id,
                revision=read_revision(one.version),
                body=one.body.text or "",
            )
            async for reply in listing
            for one in reply.results
            if one.status == "current"
        ]

    async def _fetch(self, page_id: str, kind: Kind, params: Params, label: str) -> PageV2:
        path = f"api/v2/{_COLLECTIONS[kind]}/{page_id}"
        page = await self.rest.get(path, PageV2, params=params, kind=label)
        if page.status not in {"current", "archived"}:
            raise ResourceGoneError(f"{self.rest.http.place}: {page_id!r} is {page.status}")
        return page

    async def _find_key(self, space_id: str) -> str:
        if space_id not in self._keys:
            params = {"ids": space_id}
            found = await self.rest.get("api/v2/spaces", SpacesV2, params=params, kind="spaces")
            self._keys |= {one.id: one.key for one in found.results}
        return self._keys.get(space_id, "")

    async def _list(
        self, path: str, model: type[L], params: Params, *, kind: str, size: int = _BATCH
    ) -> AsyncIterator[L]:
        """Yield the pages of a v2 listing, which goes on at the cursor its `next` names."""

        async def fetch(cursor: str, limit: int) -> Batch[L]:
            options: dict[str, str | int] = {**params, "limit": limit}
            if cursor:
                options["cursor"] = cursor
            reply = await self.rest.get(
                path, model, params=options, kind=kind, attempts=LISTING_ATTEMPTS
            )
            named = parse_qs(urlsplit(reply.links.next).query).get("cursor", [""])
            if reply.links.next and not named[0]:
                raise ServiceUnavailableError(f"{place} goes on, but the reply does not say where")
            return Batch(items=(reply,), cursor=named[0])

        place = f"{self.rest.http.place}: {path}"
        async for batch in read_batches(fetch, place=place, size=size, smallest=_SMALLEST_BATCH):
            yield batch.items[0]


def _merge(listed: PageEntry, searched: PageEntry | None) -> PageEntry:
    """Add what the search knows; place and version are v2's, for the search index lags behind."""
    if searched is None:
        return listed
    return replace(
        listed,
        restriction=searched.restriction,
        labels=searched.labels,
        revision=replace(
            listed.revision,
            author_name=searched.revision.author_name
            if searched.revision.number == listed.revision.number
            else "",
        ),
    )

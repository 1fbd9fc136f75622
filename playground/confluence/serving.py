"""What the routes of both flavours share: what the account sees, paging, search."""

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from aiohttp import web

from playground.confluence.faults import Faults
from playground.confluence.query import parse_query
from playground.confluence.shapes import Json, Shapes, build_items
from playground.confluence.wiki import Wiki, WikiComment, WikiFile, WikiPage

T = TypeVar("T")

# Asked for texts or rights, servers return fewer entries than they were asked for.
_MOST, _MOST_WITH_RIGHTS, _MOST_WITH_TEXTS = 200, 100, 25
_DEFAULT_LIMIT = 25


class ApiError(Exception):
    """A refusal."""

    def __init__(self, status: int, message: str, *, retry_after: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class BrokenOffError(Exception):
    """The connection breaks in the middle of a reply."""


class Serving:
    """A wiki as the account of the API sees it.

    Attributes:
        lowers_pages: Whether listings return fewer entries than asked for.
        has_permissions: False = an older server, which says permissions over JSON-RPC only.
    """

    def __init__(self, wiki: Wiki, faults: Faults, *, is_cloud: bool, zone: ZoneInfo) -> None:
        self.wiki = wiki
        self.faults = faults
        self.shapes = Shapes(wiki, is_cloud=is_cloud)
        self.zone = zone
        self.base_url = ""
        self.prefix = ""
        self.lowers_pages = True
        self.has_permissions = True

    def pages(self) -> list[WikiPage]:
        """Return all pages the account sees, other people's drafts never."""
        return [
            one
            for one in self.wiki.pages.values()
            if one.page_id not in self.wiki.hidden and one.status != "draft"
        ]

    def get_page(self, page_id: str) -> WikiPage:
        """Return a page.

        Raises:
            ApiError: 404, also for what exists but is hidden.
        """
        page = self.wiki.pages.get(page_id)
        if page is None or page_id in self.wiki.hidden or page.status == "draft":
            raise ApiError(404, f"No content found with id : {page_id}")
        return page

    def get_file(self, file_id: str) -> WikiFile:
        """Return an attachment of a page that the account sees."""
        file = self.wiki.files.get(file_id)
        if file is None or self.get_page(file.page_id).status not in {"current", "archived"}:
            raise ApiError(404, f"No content found with id : {file_id}")
        return file

    async def search(self, request: web.Request) -> web.Response:
        """Answer a CQL search."""
        condition, is_descending = parse_query(request.query.get("cql", ""), self.zone)
        items = build_items(self.wiki, seen=self.pages())
        found = [(item, one) for item, one in items if condition(item)]
        found.sort(key=lambda pair: (pair[0].modified, pair[0].content_id), reverse=is_descending)
        return self.answer_v1(request, [one for _, one in found])

    def answer_v1(self, request: web.Request, found: Sequence[object]) -> web.Response:
        """Answer with one page of a v1 listing of contents."""
        expand = read_expand(request)
        if self.faults.break_expanded_rights and any("restrictions" in one for one in expand):
            raise ApiError(404, "No content found with id : ContentId{id=1}")
        return self.answer_start(request, found, lambda one: self._shape(one, expand))

    def answer_start(
        self, request: web.Request, found: Sequence[T], shape: Callable[[T], Json]
    ) -> web.Response:
        """Answer with one page of a listing that counts from a start, or from a cursor."""
        asked = int(request.query.get("limit", _DEFAULT_LIMIT))
        start = int(request.query.get("start", 0))
        if cursor := request.query.get("cursor"):
            start = _read_cursor(cursor)
        size = min(asked, self._most(request))
        self._cut(request, start)
        part = found[start : start + size]
        links: Json = {"base": self.base_url, "context": self.prefix}
        if start + size < len(found):
            links["next"] = self._write_next(request, start, len(part))
        return web.json_response(
            {
                "results": [shape(one) for one in part],
                "start": start,
                "limit": size,
                "size": len(part),
                "_links": links,
            }
        )

    def answer_v2(
        self, request: web.Request, found: Sequence[T], shape: Callable[[T], Json]
    ) -> web.Response:
        """Answer with one page of a v2 listing."""
        size = min(int(request.query.get("limit", _DEFAULT_LIMIT)), self._most(request), 250)
        cursor = request.query.get("cursor")
        start = _read_cursor(cursor) if cursor else 0
        self._cut(request, start)
        part = found[start : start + size]
        links: Json = {"base": self.base_url}
        headers: dict[str, str] = {}
        if start + size < len(found):
            after = start if self.faults.repeat_cursor else start + size
            path = request.path
            links["next"] = f"{path}?limit={size}&cursor={_write_cursor(after)}"
            headers["Link"] = f'<{links["next"]}>; rel="next"'
        results = [shape(one) for one in part]
        return web.json_response({"results": results, "_links": links}, headers=headers)

    def send_file(self, file: WikiFile) -> web.Response:
        """Answer with a file's bytes."""
        return web.Response(body=file.current.content or b"\x89PNG", content_type=file.media_type)

    def _shape(self, one: object, expand: frozenset[str]) -> Json:
        match one:
            case WikiPage():
                return self.shapes.page(one, expand)
            case WikiFile():
                return self.shapes.file(one)
            case WikiComment():
                return self.shapes.comment(one)
            case _:
                raise TypeError(type(one))

    def _write_next(self, request: web.Request, start: int, count: int) -> str:
        query: Mapping[str, Any] = dict(request.query)
        path = request.path.removeprefix(self.prefix)
        if self.shapes.is_cloud and path.endswith("/search"):
            after = start if self.faults.repeat_cursor else start + count
            return f"{path}?cursor={_write_cursor(after)}&limit={query.get('limit', '')}"
        # Data Center counts from where it would be without what it left out.
        return f"{path}?start={start + max(1, count // 2)}&limit={query.get('limit', '')}"

    def _most(self, request: web.Request) -> int:
        if not self.lowers_pages:
            return _MOST
        expand = read_expand(request)
        if "body.storage" in expand or request.query.get("body-format"):
            return _MOST_WITH_TEXTS
        return _MOST_WITH_RIGHTS if any("restrictions" in one for one in expand) else _MOST

    def _cut(self, request: web.Request, start: int) -> None:
        target = f"{request.path.removeprefix(self.prefix)}?{request.query_string}"
        if self.faults.cuts(target, start):
            if self.faults.cuts_connection:
                raise BrokenOffError
            raise ApiError(500, "Internal error.")


def read_expand(request: web.Request) -> frozenset[str]:
    """Return what a call wants to be expanded, with all beginnings of each."""
    found: set[str] = set()
    for one in request.query.get("expand", "").split(","):
        found.add(one.strip())
    return frozenset(found)


def read_list(request: web.Request, name: str) -> list[str]:
    """Return a parameter that may be repeated or separated by commas."""
    return [one for text in request.query.getall(name, []) for one in text.split(",") if one]


def _write_cursor(start: int) -> str:
    return base64.urlsafe_b64encode(f"at:{start}".encode()).decode()


def _read_cursor(cursor: str) -> int:
    try:
        return int(base64.urlsafe_b64decode(cursor).decode().removeprefix("at:"))
    except ValueError as error:
        raise ApiError(400, "Invalid cursor") from error

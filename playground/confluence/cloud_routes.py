"""Routes of Confluence Cloud."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from playground.confluence.serving import ApiError, Serving, read_list
from playground.confluence.shapes import Json
from playground.confluence.wiki import WikiPage, WikiPerson, WikiSpace

Route = tuple[str, str, Callable[[web.Request], Awaitable[web.StreamResponse]]]

_KINDS = {"pages": "page", "blogposts": "blogpost"}


class CloudRoutes:
    """Answers v2, and what of v1 is still in use."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def routes(self) -> list[Route]:
        """Return all routes."""
        v2 = "/api/v2"
        kinds = "{kind:pages|blogposts}"
        return [
            ("GET", f"{v2}/spaces", self._list_spaces),
            ("GET", f"{v2}/spaces/{{id}}/{kinds}", self._list_space),
            ("GET", f"{v2}/spaces/{{id}}/permissions", self._list_permissions),
            ("GET", f"{v2}/{kinds}", self._list_pages),
            ("GET", f"{v2}/{kinds}/{{id}}", self._show_page),
            ("GET", f"{v2}/{kinds}/{{id}}/versions", self._list_versions),
            ("GET", f"{v2}/{kinds}/{{id}}/labels", self._list_labels),
            ("GET", f"{v2}/{kinds}/{{id}}/attachments", self._list_files),
            ("GET", f"{v2}/{kinds}/{{id}}/{{place:footer|inline}}-comments", self._list_comments),
            ("GET", f"{v2}/{{place:footer|inline}}-comments/{{id}}/children", self._list_replies),
            ("GET", f"{v2}/pages/{{id}}/ancestors", self._list_ancestors),
            ("GET", f"{v2}/attachments/{{id}}", self._show_file),
            ("POST", f"{v2}/users-bulk", self._list_users),
            ("GET", "/rest/api/content/search", self._serving.search),
            (
                "GET",
                "/rest/api/content/{id}/restriction/byOperation/read",
                self._show_restriction,
            ),
            ("GET", "/rest/api/group/{id}/membersByGroupId", self._list_members),
            ("GET", "/rest/api/user/memberof", self._list_groups),
            ("GET", "/rest/api/content/{page}/child/attachment/{id}/download", self._send_file),
        ]

    async def _list_spaces(self, request: web.Request) -> web.Response:
        keys, ids = read_list(request, "keys"), read_list(request, "ids")
        found = [
            one
            for one in self._serving.wiki.spaces.values()
            if (not keys or one.key in keys) and (not ids or one.space_id in ids)
        ]
        return self._serving.answer_v2(request, found, _shape_space)

    async def _list_space(self, request: web.Request) -> web.Response:
        space = self._get_space(request)
        return self._answer_pages(
            request, [one for one in self._serving.pages() if one.space == space.key]
        )

    async def _list_pages(self, request: web.Request) -> web.Response:
        ids, spaces = read_list(request, "id"), read_list(request, "space-id")
        title = request.query.get("title")
        wiki = self._serving.wiki
        found = [
            one
            for one in self._serving.pages()
            if (not ids or one.page_id in ids)
            and (not spaces or wiki.spaces[one.space].space_id in spaces)
            and (title is None or one.title == title)
        ]
        return self._answer_pages(request, found)

    def _answer_pages(self, request: web.Request, found: list[WikiPage]) -> web.Response:
        statuses = read_list(request, "status") or ["current", "archived"]
        kind = _KINDS[request.match_info["kind"]]
        wanted = [one for one in found if one.kind == kind and one.status in statuses]
        if request.query.get("sort") == "-modified-date":
            wanted.sort(key=lambda one: one.current.when, reverse=True)
        with_body = request.query.get("body-format") == "storage"
        return self._serving.answer_v2(
            request, wanted, lambda one: self._serving.shapes.page_v2(one, with_body=with_body)
        )

    async def _show_page(self, request: web.Request) -> web.Response:
        page = self._get_page(request)
        with_body = request.query.get("body-format") == "storage"
        return web.json_response(self._serving.shapes.page_v2(page, with_body=with_body))

    async def _list_versions(self, request: web.Request) -> web.Response:
        page = self._get_page(request)
        shapes = self._serving.shapes
        with_body = request.query.get("body-format") == "storage"

        def shape(number: int) -> Json:
            shaped = shapes.version_v2(next(one for one in page.versions if one.number == number))
            shaped["page"] = shapes.page_v2(page, with_body=with_body, number=number)
            return shaped

        numbers = [one.number for one in reversed(page.versions)]
        return self._serving.answer_v2(request, numbers, shape)

    async def _list_labels(self, request: web.Request) -> web.Response:
        labels = self._get_page(request).labels
        return self._serving.answer_v2(request, labels, lambda one: {"id": one, "name": one})

    async def _list_files(self, request: web.Request) -> web.Response:
        files = self._serving.wiki.files_of(self._get_page(request).page_id)
        return self._serving.answer_v2(request, files, self._serving.shapes.file_v2)

    async def _list_comments(self, request: web.Request) -> web.Response:
        on_page = self._serving.wiki.comments_of(self._get_page(request).page_id)
        is_inline = request.match_info["place"] == "inline"
        comments = [one for one in on_page if not one.parent_id and one.is_inline is is_inline]
        return self._serving.answer_v2(request, comments, self._serving.shapes.comment_v2)

    async def _list_replies(self, request: web.Request) -> web.Response:
        comment = self._serving.wiki.comments.get(request.match_info["id"])
        is_inline = request.match_info["place"] == "inline"
        if comment is None or comment.is_inline is not is_inline:
            raise ApiError(404, "Not found.")
        on_page = self._serving.wiki.comments_of(self._serving.get_page(comment.page_id).page_id)
        replies = [one for one in on_page if one.parent_id == comment.comment_id]
        return self._serving.answer_v2(request, replies, self._serving.shapes.comment_v2)

    async def _list_ancestors(self, request: web.Request) -> web.Response:
        page = self._get_page(request)
        wiki = self._serving.wiki
        return self._serving.answer_v2(
            request,
            wiki.ancestors_of(page),
            lambda one: {"id": one, "type": "folder" if one in wiki.folders else "page"},
        )

    async def _list_permissions(self, request: web.Request) -> web.Response:
        space = self._get_space(request)
        wiki = self._serving.wiki
        named = [("group", one) for one in space.view.get("groups", ())]
        named += [("user", wiki.account_of(one)) for one in space.view.get("users", ())]
        named += [("anonymous", "")] if space.is_anonymous else []
        # A right to write or to export is no right to read.
        grants = [(kind, who, "read", "space") for kind, who in named]
        grants += [("group", "site-admins", "administer", "space")]
        grants += [("group", "everybody", "read", "comment")]

        def shape(grant: tuple[str, str, str, str]) -> Json:
            kind, who, key, target = grant
            return {
                "id": f"{kind}-{who}-{key}",
                "principal": {"type": kind, "id": who},
                "operation": {"key": key, "targetType": target},
            }

        return self._serving.answer_v2(request, grants, shape)

    async def _show_file(self, request: web.Request) -> web.Response:
        file = self._serving.get_file(request.match_info["id"])
        return web.json_response(self._serving.shapes.file_v2(file))

    async def _send_file(self, request: web.Request) -> web.Response:
        return self._serving.send_file(self._serving.get_file(request.match_info["id"]))

    async def _list_users(self, request: web.Request) -> web.Response:
        asked = (await request.json())["accountIds"]
        found = [self._serving.wiki.find_account(one) for one in asked]
        users = [self._serving.shapes.user(one.person_id) for one in found if one]
        return web.json_response({"results": users})

    async def _show_restriction(self, request: web.Request) -> web.Response:
        return web.json_response(read_restriction(self._serving, request.match_info["id"]))

    async def _list_members(self, request: web.Request) -> web.Response:
        return answer_members(self._serving, request)

    async def _list_groups(self, request: web.Request) -> web.Response:
        person = self._serving.wiki.find_account(request.query.get("accountId", ""))
        return answer_groups(self._serving, request, person)

    def _get_page(self, request: web.Request) -> WikiPage:
        page = self._serving.get_page(request.match_info["id"])
        kind = request.match_info.get("kind")
        if kind and _KINDS[kind] != page.kind:
            raise ApiError(404, "Not found.")
        return page

    def _get_space(self, request: web.Request) -> WikiSpace:
        for space in self._serving.wiki.spaces.values():
            if space.space_id == request.match_info["id"]:
                return space
        raise ApiError(404, "No space found.")


def read_restriction(serving: Serving, content_id: str) -> Json:
    """Return the restriction of a page or folder."""
    if content_id in serving.wiki.folders and content_id not in serving.wiki.hidden:
        return serving.shapes.restriction(None)
    return serving.shapes.restriction(serving.get_page(content_id))


def answer_members(serving: Serving, request: web.Request) -> web.Response:
    """Answer with the members of a group."""
    group = request.match_info["id"]
    if group not in serving.wiki.groups:
        raise ApiError(404, "Group not found.")
    return serving.answer_start(request, serving.shapes.members(group), lambda one: one)


def answer_groups(
    serving: Serving, request: web.Request, person: WikiPerson | None
) -> web.Response:
    """Answer with the groups of an account."""
    if person is None:
        raise ApiError(404, "No user found.")
    groups = [name for name, who in serving.wiki.groups.items() if person.person_id in who]
    return serving.answer_start(request, groups, serving.shapes.group)


def _shape_space(space: WikiSpace) -> Json:
    return {
        "id": space.space_id,
        "key": space.key,
        "name": space.name,
        "type": "global",
        "status": "current",
    }

"""Routes of Confluence Server and Data Center."""

from aiohttp import web

from playground.confluence.cloud_routes import (
    Route,
    answer_groups,
    answer_members,
    read_restriction,
)
from playground.confluence.serving import ApiError, Serving, read_expand
from playground.confluence.shapes import Json
from playground.confluence.wiki import WikiPage, WikiPerson, WikiSpace


class DataCenterRoutes:
    """Answers v1, and the old RPC."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def routes(self) -> list[Route]:
        """Return all routes."""
        v1 = "/rest/api"
        return [
            ("GET", f"{v1}/space", self._list_spaces),
            ("GET", f"{v1}/space/{{key}}", self._show_space),
            ("GET", f"{v1}/space/{{key}}/permissions", self._list_permissions),
            ("GET", f"{v1}/content", self._list_contents),
            ("GET", f"{v1}/content/search", self._serving.search),
            ("GET", f"{v1}/content/{{id}}", self._show_content),
            ("GET", f"{v1}/content/{{id}}/version", self._list_versions),
            ("GET", f"{v1}/content/{{id}}/child/attachment", self._list_files),
            ("GET", f"{v1}/content/{{id}}/child/comment", self._list_comments),
            ("GET", f"{v1}/content/{{id}}/restriction/byOperation/read", self._show_restriction),
            ("GET", f"{v1}/user", self._show_user),
            ("GET", f"{v1}/group/{{id}}/member", self._list_members),
            ("GET", f"{v1}/user/memberof", self._list_groups),
            ("GET", "/download/attachments/{page}/{name}", self._send_file),
            (
                "POST",
                "/rpc/json-rpc/confluenceservice-v2/getSpacePermissionSets",
                self._list_permission_sets,
            ),
        ]

    async def _list_spaces(self, request: web.Request) -> web.Response:
        spaces = list(self._serving.wiki.spaces.values())
        return self._serving.answer_start(request, spaces, _shape_space)

    async def _show_space(self, request: web.Request) -> web.Response:
        return web.json_response(_shape_space(self._get_space(request)))

    async def _list_permissions(self, request: web.Request) -> web.Response:
        space = self._get_space(request)
        if not self._serving.has_permissions:
            raise ApiError(404, "Not found.")
        shapes = self._serving.shapes
        subjects = [shapes.user(one) | {"type": "user"} for one in space.view.get("users", ())]
        subjects += [shapes.group(one) for one in space.view.get("groups", ())]
        subjects += [{"type": "anonymous"}] if space.is_anonymous else []
        rows = [_permit("read", subject) for subject in subjects]
        rows.append(_permit("administer", {"type": "group", "name": "confluence-administrators"}))
        return web.json_response(rows)

    async def _list_permission_sets(self, request: web.Request) -> web.Response:
        (key,) = await request.json()
        space = self._serving.wiki.spaces.get(key)
        if space is None:
            raise ApiError(404, "No such space.")
        grants: list[Json] = [
            {"type": "VIEWSPACE", "userName": one, "groupName": None}
            for one in space.view.get("users", ())
        ]
        grants += [
            {"type": "VIEWSPACE", "userName": None, "groupName": one}
            for one in space.view.get("groups", ())
        ]
        admins = [{"type": "SETSPACEPERMISSIONS", "groupName": "confluence-administrators"}]
        return web.json_response(
            [
                {"type": "VIEWSPACE", "spacePermissions": grants},
                {"type": "SETSPACEPERMISSIONS", "spacePermissions": admins},
            ]
        )

    async def _list_contents(self, request: web.Request) -> web.Response:
        query = request.query
        if query.get("spaceKey") and query["spaceKey"] not in self._serving.wiki.spaces:
            raise ApiError(404, "No space found.")
        found = [
            one
            for one in self._serving.pages()
            if one.status == query.get("status", "current")
            and ("spaceKey" not in query or one.space == query["spaceKey"])
            and one.kind == query.get("type", "page")
            and ("title" not in query or one.title == query["title"])
        ]
        return self._serving.answer_v1(request, found)

    async def _show_content(self, request: web.Request) -> web.Response:
        content_id, expand = request.match_info["id"], read_expand(request)
        if content_id in self._serving.wiki.files:
            file = self._serving.get_file(content_id)
            return web.json_response(self._serving.shapes.file(file))
        page = self._serving.get_page(content_id)
        number = int(request.query.get("version", 0))
        status = request.query.get("status", "current")
        if status not in {"any", "historical", page.status}:
            raise ApiError(404, f"No content found with id : {content_id}")
        if number and number not in {one.number for one in page.versions}:
            raise ApiError(404, "No such version.")
        return web.json_response(self._serving.shapes.page(page, expand, number=number))

    async def _list_versions(self, request: web.Request) -> web.Response:
        page = self._get_page(request)
        shapes = self._serving.shapes

        def shape(number: int) -> Json:
            version = next(one for one in page.versions if one.number == number)
            shaped = shapes.version(version)
            if "content.body.storage" in read_expand(request):
                shaped["content"] = shapes.page(page, {"body.storage"}, number=number)
            return shaped

        numbers = [one.number for one in reversed(page.versions)]
        return self._serving.answer_start(request, numbers, shape)

    async def _list_files(self, request: web.Request) -> web.Response:
        files = self._serving.wiki.files_of(self._get_page(request).page_id)
        return self._serving.answer_v1(request, files)

    async def _list_comments(self, request: web.Request) -> web.Response:
        comments = self._serving.wiki.comments_of(self._get_page(request).page_id)
        return self._serving.answer_v1(request, comments)

    async def _show_restriction(self, request: web.Request) -> web.Response:
        return web.json_response(read_restriction(self._serving, request.match_info["id"]))

    async def _show_user(self, request: web.Request) -> web.Response:
        person = self._find_person(request)
        if person is None:
            raise ApiError(404, "No user found.")
        return web.json_response(self._serving.shapes.user(person.person_id))

    async def _list_members(self, request: web.Request) -> web.Response:
        return answer_members(self._serving, request)

    async def _list_groups(self, request: web.Request) -> web.Response:
        return answer_groups(self._serving, request, self._find_person(request))

    async def _send_file(self, request: web.Request) -> web.Response:
        for file in self._serving.wiki.files_of(request.match_info["page"]):
            if file.name == request.match_info["name"]:
                return self._serving.send_file(self._serving.get_file(file.file_id))
        raise ApiError(404, "No such attachment.")

    def _find_person(self, request: web.Request) -> WikiPerson | None:
        wiki = self._serving.wiki
        named = wiki.people.get(request.query.get("username", ""))
        return named or wiki.find_account(request.query.get("key", ""))

    def _get_page(self, request: web.Request) -> WikiPage:
        return self._serving.get_page(request.match_info["id"])

    def _get_space(self, request: web.Request) -> WikiSpace:
        space = self._serving.wiki.spaces.get(request.match_info["key"])
        if space is None:
            raise ApiError(404, "No space found.")
        return space


def _shape_space(space: WikiSpace) -> Json:
    return {"id": int(space.space_id), "key": space.key, "name": space.name, "type": "global"}


def _permit(key: str, subject: Json) -> Json:
    return {"operation": {"operationKey": key, "targetType": "space"}, "subject": subject}

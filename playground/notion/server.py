"""The API over HTTP: tokens, versions, paging, refusals and faults as the real one has them."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from aiohttp import web

from playground.calls import Calls
from playground.guard import PLAIN_POLICY, build_guard
from playground.notion.editor import Editor
from playground.notion.faults import Faults
from playground.notion.shapes import LEGACY, VERSIONS, count_sources, round_to_minute, shape_object
from playground.notion.web import WorkspacePages, is_page
from playground.notion.workspace import Json, Workspace

MAX_PAGE_SIZE = 100
PLAYGROUND_TOKEN = "secret_playground"  # noqa: S105 - of a stand-in
_HOSTED = ("file", "pdf", "image", "video", "audio")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class ApiError(Exception):
    """A refusal in Notion's form."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class NotionServer:
    """Serves a workspace.

    Attributes:
        editor: Changes the workspace.
        token: The secret that calls must carry.
        faults: What goes wrong from now on.
        calls: What was asked so far, by kind.
        row_limit: Rows a query gives at most.
        leads_here: Whether addresses of pages lead to this server instead of notion.so.
    """

    def __init__(self, workspace: Workspace, *, token: str = PLAYGROUND_TOKEN) -> None:
        self.workspace = workspace
        self.editor = Editor(workspace)
        self.token = token
        self.faults = Faults()
        self.calls = Calls()
        self.row_limit = 10_000
        self.leads_here = False
        self.base_url = ""
        self._signatures = 0

    def build_app(self) -> web.Application:
        """Return the application."""
        guard = build_guard(is_page, policy=PLAIN_POLICY)
        app = web.Application(middlewares=[guard, self._guard])
        routes = (
            ("POST", "/v1/search", self._search),
            ("GET", "/v1/users", self._list_users),
            ("GET", "/v1/users/me", self._show_bot),
            ("GET", "/v1/comments", self._list_comments),
            ("GET", "/v1/pages/{id}", self._show_page),
            ("GET", "/v1/pages/{id}/properties/{property}", self._list_property),
            ("GET", "/v1/databases/{id}", self._show_database),
            ("POST", "/v1/databases/{id}/query", self._query_database),
            ("GET", "/v1/data_sources/{id}", self._show_source),
            ("POST", "/v1/data_sources/{id}/query", self._query_source),
            ("GET", "/v1/blocks/{id}", self._show_block),
            ("GET", "/v1/blocks/{id}/children", self._list_children),
        )
        for method, path, handler in routes:
            app.router.add_route(method, path, handler)
        app.router.add_get("/files/{id}/{name}", self._send_file)
        WorkspacePages(self.workspace, self.editor).register(app)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.startswith("/v1/"):
            return await handler(request)
        try:
            await self._check(request)
            return await handler(request)
        except ApiError as error:
            return _refuse(error.status, error.code, str(error))
        except web.HTTPNotFound:
            return _refuse(400, "invalid_request_url", "Invalid request URL.")

    async def _check(self, request: web.Request) -> None:
        number = self.calls.count(_kind_of(request))
        faults, path = self.faults, request.path.removeprefix("/v1")
        if faults.should_hang(number):
            await asyncio.sleep(3600)
        if faults.rate_limit_every and number % faults.rate_limit_every == 0:
            raise web.HTTPTooManyRequests(
                headers={"Retry-After": faults.retry_after},
                text=json.dumps({"object": "error", "status": 429, "code": "rate_limited"}),
                content_type="application/json",
            )
        if faults.fail_every and number % faults.fail_every == 0:
            raise ApiError(faults.fail_status, "service_unavailable", "Try again later.")
        if faults.should_fail(path):
            raise ApiError(faults.fail_status, "service_unavailable", "Try again later.")
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            raise ApiError(401, "unauthorized", "API token is invalid.")
        version = request.headers.get("Notion-Version", "")
        if not version:
            raise ApiError(400, "missing_version", "Notion-Version header should be defined.")
        if version not in VERSIONS:
            raise ApiError(400, "validation_error", "Notion-Version is not known.")
        if version == LEGACY and path.startswith("/data_sources"):
            raise ApiError(400, "invalid_request_url", "Invalid request URL.")

    # Objects

    async def _show_page(self, request: web.Request) -> web.Response:
        found = self.workspace.find(request.match_info["id"])
        if found is not None and found["object"] != "page":
            raise ApiError(400, "validation_error", "Provided ID is a database, not a page.")
        return web.json_response(self._shape(self._need(found, request), request))

    async def _show_database(self, request: web.Request) -> web.Response:
        found = self._need(self.workspace.find(request.match_info["id"], "database"), request)
        self._refuse_several(found, request)
        return web.json_response(self._shape(found, request))

    async def _show_source(self, request: web.Request) -> web.Response:
        found = self._need(self.workspace.find(request.match_info["id"], "data_source"), request)
        return web.json_response(self._shape(found, request))

    async def _show_block(self, request: web.Request) -> web.Response:
        found = self._need(self.workspace.find_block(request.match_info["id"]), request)
        return web.json_response(self._shape_block(found))

    async def _show_bot(self, _request: web.Request) -> web.Response:
        return web.json_response({"object": "user", "id": str(UUID(int=1)), "type": "bot"})

    # Listings

    async def _search(self, request: web.Request) -> web.Response:
        body = await request.json()
        wanted = (body.get("filter") or {}).get("value")
        legacy = _version_of(request) == LEGACY
        if wanted == ("data_source" if legacy else "database"):
            raise ApiError(400, "validation_error", f"filter.value {wanted!r} is not expected.")
        kind = "data_source" if wanted == "database" else wanted
        found = [one for one in self.workspace.searchable() if kind in {None, one["object"]}]
        return self._page(request, found, body, shape=lambda one: self._shape(one, request))

    async def _query_database(self, request: web.Request) -> web.Response:
        if _version_of(request) != LEGACY:
            raise ApiError(400, "invalid_request_url", "Invalid request URL.")
        found = self._need(self.workspace.find(request.match_info["id"], "database"), request)
        self._refuse_several(found, request)
        return await self._query(request, found["data_sources"][0]["id"])

    async def _query_source(self, request: web.Request) -> web.Response:
        source_id = request.match_info["id"]
        found = self._need(self.workspace.find(source_id, "data_source"), request)
        self._need(self.workspace.find(found["parent"]["database_id"]), request)
        return await self._query(request, source_id)

    async def _query(self, request: web.Request, source_id: str) -> web.Response:
        body = await request.json()
        since = str((body.get("filter") or {}).get("created_time", {}).get("on_or_after", ""))
        rows = [
            one
            for one in self.workspace.rows(source_id)
            if round_to_minute(one["created_time"]) >= since
        ]
        return self._page(
            request,
            rows[: self.row_limit],
            body,
            shape=lambda one: self._shape(one, request),
            is_cut=len(rows) > self.row_limit,
        )

    async def _list_children(self, request: web.Request) -> web.Response:
        blocks = self.workspace.children(request.match_info["id"])
        if blocks is None:
            raise _not_found(request.match_info["id"])
        return self._page(request, blocks, request.query, shape=self._shape_block)

    async def _list_users(self, request: web.Request) -> web.Response:
        return self._page(request, self.workspace.users, request.query)

    async def _list_comments(self, request: web.Request) -> web.Response:
        found = self.workspace.comments.get(request.query["block_id"], [])
        return self._page(request, found, request.query)

    async def _list_property(self, request: web.Request) -> web.Response:
        page = self._need(self.workspace.find(request.match_info["id"]), request)
        for value in page["properties"].values():
            if value["id"] == request.match_info["property"]:
                kind = value["type"]
                items = [
                    {"object": "property_item", "type": kind, kind: one}
                    for one in value.get("~all", value[kind])
                ]
                return self._page(request, items, request.query)
        raise _not_found(request.match_info["property"])

    async def _send_file(self, request: web.Request) -> web.Response:
        file_id = request.match_info["id"]
        self.calls.count("file")
        found = self.workspace.files.get(file_id)
        if found is None or not request.query.get("X-Amz-Signature"):
            raise web.HTTPForbidden
        return web.Response(body=found.data, content_type="application/octet-stream")

    # Forms

    def _page(
        self,
        request: web.Request,
        items: Sequence[Json],
        asked: Any,  # noqa: ANN401 - JSON or a query
        *,
        shape: Callable[[Json], Json] = dict,
        is_cut: bool = False,
    ) -> web.Response:
        size, offset = _read_size(asked), _read_cursor(asked)
        if self.faults.is_cut(request.path.removeprefix("/v1"), offset, MAX_PAGE_SIZE):
            raise ApiError(self.faults.fail_status, "internal_server_error", "Unexpected error.")
        end = offset + size
        has_more = end < len(items) or self.faults.repeats_cursor
        following = offset if self.faults.repeats_cursor else end
        reply: Json = {
            "object": "list",
            "results": [shape(one) for one in items[offset:end]],
            "has_more": has_more,
            "next_cursor": str(UUID(int=following)) if has_more else None,
        }
        if is_cut and not has_more:
            reply["request_status"] = {
                "type": "incomplete",
                "incomplete_reason": "query_result_limit_reached",
            }
        return web.json_response(reply)

    def _shape(self, found: Json, request: web.Request) -> Json:
        shaped = shape_object(self.workspace, found, _version_of(request))
        for value in shaped.get("properties", {}).values():
            if isinstance(value, dict):
                value.pop("~all", None)
        if self.leads_here and shaped["object"] == "page":
            shaped["url"] = f"{self.base_url}/page/{shaped['id']}"
        return shaped

    def _shape_block(self, block: Json) -> Json:
        """Give hosted files an address that is good for an hour, another one every time."""
        shaped: Json = json.loads(json.dumps(block))
        body = shaped.get(shaped["type"])
        if shaped["type"] in _HOSTED and isinstance(body, dict) and body.get("type") == "file":
            file_id = body["file"]["id"]
            self._signatures += 1
            signature = hashlib.sha256(f"{file_id}{self._signatures}".encode()).hexdigest()
            name = self.workspace.files[file_id].name
            body["file"] = {
                "url": f"{self.base_url}/files/{file_id}/{name}?X-Amz-Signature={signature}",
                "expiry_time": f"2026-01-01T00:00:{self._signatures % 60:02}.000Z",
            }
        if "last_edited_time" in shaped:
            shaped["last_edited_time"] = round_to_minute(shaped["last_edited_time"])
        return shaped

    def _need(self, found: Json | None, request: web.Request) -> Json:
        if found is None:
            raise _not_found(request.match_info["id"])
        return found

    def _refuse_several(self, found: Json, request: web.Request) -> None:
        if _version_of(request) == LEGACY and count_sources(found) > 1:
            raise ApiError(
                400,
                "validation_error",
                "Databases with multiple data sources are not supported in this API version.",
            )


@asynccontextmanager
async def serve_notion(
    workspace: Workspace,
    *,
    token: str = PLAYGROUND_TOKEN,
    port: int = 0,
) -> AsyncIterator[NotionServer]:
    """Serve a workspace on loopback; `base_url` is set when it is ready."""
    server = NotionServer(workspace, token=token)
    runner = web.AppRunner(server.build_app(), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    server.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


def _refuse(status: int, code: str, message: str) -> web.Response:
    body = {"object": "error", "status": status, "code": code, "message": message}
    return web.json_response(body, status=status)


def _not_found(object_id: str) -> ApiError:
    return ApiError(
        404,
        "object_not_found",
        f"Could not find object with ID: {object_id}. Make sure the relevant pages and databases "
        "are shared with your integration.",
    )


def _version_of(request: web.Request) -> str:
    return request.headers.get("Notion-Version", "")


def _kind_of(request: web.Request) -> str:
    parts = [one for one in request.path.removeprefix("/v1").split("/") if one]
    return parts[2] if len(parts) > 2 else parts[0]  # noqa: PLR2004 - /pages/{id}/properties


def _read_size(asked: Any) -> int:  # noqa: ANN401 - JSON or a query
    size = int(asked.get("page_size", MAX_PAGE_SIZE))
    if not 1 <= size <= MAX_PAGE_SIZE:
        raise ApiError(400, "validation_error", f"page_size should be <= {MAX_PAGE_SIZE}.")
    return size


def _read_cursor(asked: Any) -> int:  # noqa: ANN401 - JSON or a query
    cursor = asked.get("start_cursor")
    if not cursor:
        return 0
    try:
        return UUID(str(cursor)).int
    except ValueError as error:
        raise ApiError(400, "validation_error", "start_cursor is not valid.") from error

"""The board over HTTP, as strict as the REST API: credentials, required fields, known names."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

from aiohttp import web

from playground.calls import Calls
from playground.guard import PLAIN_POLICY, build_guard
from playground.jira.board import Board, Issue
from playground.jira.faults import Faults
from playground.jira.fields import LONGEST_TEXT, JiraError, Json, check_fields
from playground.jira.query import QueryError, search
from playground.jira.views import Views

Flavour = Literal["cloud", "data_center"]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

USER = "bot@example.com"
TOKEN = "playground-jira-token"  # noqa: S105 - of a stand-in


class JiraServer:
    """Serves a board.

    Attributes:
        faults: What goes wrong from now on.
        calls: What was asked so far, by kind.
        base_url: What clients are given.
    """

    def __init__(self, board: Board, *, flavour: Flavour = "cloud") -> None:
        self.board = board
        self.flavour = flavour
        self.faults = Faults()
        self.calls = Calls()
        self.base_url = ""

    @property
    def page_url(self) -> str:
        """Where people look at the board."""
        return f"{self.base_url}/board"

    def build_app(self) -> web.Application:
        """Return the application."""
        guard = build_guard(lambda path: not path.startswith("/rest/"), policy=PLAIN_POLICY)
        app = web.Application(middlewares=[guard, self._answer])
        # Cloud has done away with the search that Data Center still has, and the other way round.
        tail = "/search/jql" if self.flavour == "cloud" else "/search"
        app.router.add_get(f"/rest/api/2{tail}", self._search)
        app.router.add_post("/rest/api/2/issue", self._create)
        app.router.add_get("/rest/api/2/issue/{key}", self._show)
        app.router.add_get("/rest/api/2/issue/{key}/comment", self._list_comments)
        app.router.add_post("/rest/api/2/issue/{key}/comment", self._comment)
        app.router.add_get("/rest/api/2/myself", self._say_who)
        Views(self.board).register(app)
        return app

    def settings(self, **more: Any) -> Json:  # noqa: ANN401 - of any section
        """Return the settings of a tracker that is this one."""
        own: Json = {
            "kind": "jira",
            "url": self.base_url,
            "flavour": self.flavour,
            "token": TOKEN,
            "is_private": True,
        }
        if self.flavour == "cloud":
            own["user"] = USER
        return {**own, **more}

    @web.middleware
    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.startswith("/rest/"):
            return await handler(request)
        self.calls.count(f"{request.method} {request.path.removeprefix('/rest/api/2/')}")
        try:
            if refused := await self._fail_early(request):
                return refused
            response = await handler(request)
        except JiraError as error:
            return web.json_response(error.body, status=error.status)
        except QueryError as error:
            return web.json_response({"errorMessages": [str(error)], "errors": {}}, status=400)
        if request.method == "POST" and self.faults.strikes("hangs_after_write"):
            await asyncio.sleep(3600)
        if request.method == "POST" and self.faults.strikes("failures_after_write"):
            raise web.HTTPServiceUnavailable(text="upstream timed out")
        return response

    async def _fail_early(self, request: web.Request) -> web.Response | None:
        faults = self.faults
        if faults.strikes("hangs"):
            await asyncio.sleep(3600)
        if faults.login_page:
            return web.Response(text="<html><form>Log in</form></html>", content_type="text/html")
        is_write = request.method == "POST"
        if is_write and faults.strikes("limited_writes"):
            headers = {"Retry-After": faults.retry_after}
            return web.Response(status=429, text="Rate limit exceeded", headers=headers)
        if faults.strikes("failures") or (is_write and faults.strikes("failed_writes")):
            return web.Response(status=faults.fail_status, text="try again later")
        if request.headers.get("Authorization") != self._wanted():
            raise JiraError(401, "You are not authenticated. Authentication required.")
        if is_write and faults.forbids:
            raise JiraError(403, "You do not have permission to do this.")
        return None

    async def _search(self, request: web.Request) -> web.Response:
        limit = int(request.query.get("maxResults", 50))
        found = search(self.board, request.query.get("jql", ""))[:limit]
        fields = set(request.query.get("fields", "").split(","))
        issues = [self._shape(one, fields) for one in found]
        body: Json = {"issues": issues}
        if self.flavour == "cloud":
            body["isLast"] = True
        else:
            body |= {"startAt": 0, "maxResults": limit, "total": len(issues)}
        return web.json_response(body)

    async def _create(self, request: web.Request) -> web.Response:
        body = await _read_body(request, {"fields", "update", "properties"})
        fields = body.get("fields")
        if not isinstance(fields, dict):
            raise JiraError(400, "one of 'fields' or 'update' required")
        checked = check_fields(self.board, fields)
        issue = self.board.create(**checked, reporter=USER)
        issue.unseen_searches = self.faults.unseen_searches
        return web.json_response(
            {
                "id": issue.issue_id,
                "key": issue.key,
                "self": f"{self.base_url}/rest/api/2/issue/{issue.issue_id}",
            },
            status=201,
        )

    async def _show(self, request: web.Request) -> web.Response:
        return web.json_response(self._shape(self._find(request), None))

    async def _list_comments(self, request: web.Request) -> web.Response:
        issue = self._find(request)
        comments = list(issue.comments)
        if request.query.get("orderBy") == "-created":
            comments.reverse()
        limit = int(request.query.get("maxResults", 50))
        shown = [
            {"id": one.comment_id, "body": one.body, "created": one.created.isoformat()}
            for one in comments[:limit]
        ]
        return web.json_response(
            {"startAt": 0, "maxResults": limit, "total": len(comments), "comments": shown}
        )

    async def _comment(self, request: web.Request) -> web.Response:
        issue = self._find(request)
        body = (await _read_body(request, {"body", "visibility", "properties"})).get("body")
        if not isinstance(body, str) or not body.strip():
            raise JiraError(400, comment="Comment body can not be empty!")
        if len(body) > LONGEST_TEXT:
            raise JiraError(400, comment=f"The entered text is too long: {LONGEST_TEXT} allowed.")
        made = self.board.comment(issue, body, author=USER)
        return web.json_response({"id": made.comment_id, "body": made.body}, status=201)

    async def _say_who(self, _request: web.Request) -> web.Response:
        return web.json_response({"emailAddress": USER, "displayName": "Zhixing", "active": True})

    def _find(self, request: web.Request) -> Issue:
        issue = self.board.issues.get(request.match_info["key"])
        if issue is None:
            raise JiraError(404, "Issue does not exist or you do not have permission to see it.")
        return issue

    def _shape(self, issue: Issue, fields: set[str] | None) -> Json:
        every: Json = {
            "summary": issue.summary,
            "description": issue.description,
            "status": {"name": issue.status},
            "priority": {"name": issue.priority},
            "labels": issue.labels,
            "project": {"key": issue.project},
            "issuetype": {"name": issue.issue_type},
        }
        shown = every if fields is None else {k: v for k, v in every.items() if k in fields}
        return {"id": issue.issue_id, "key": issue.key, "fields": shown}

    def _wanted(self) -> str:
        if self.flavour == "data_center":
            return f"Bearer {TOKEN}"
        return "Basic " + base64.b64encode(f"{USER}:{TOKEN}".encode()).decode()


@asynccontextmanager
async def serve_jira(
    board: Board, *, flavour: Flavour = "cloud", port: int = 0
) -> AsyncIterator[JiraServer]:
    """Serve on loopback until the block ends; port 0 = a free one."""
    server = JiraServer(board, flavour=flavour)
    runner = web.AppRunner(server.build_app(), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    server.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


async def _read_body(request: web.Request, known: set[str]) -> Json:
    if request.content_type != "application/json":
        raise JiraError(415, "Unsupported Media Type")
    try:
        body = json.loads(await request.text())
    except ValueError as error:
        raise JiraError(400, "There was an error parsing JSON.") from error
    if not isinstance(body, dict):
        raise JiraError(400, "There was an error parsing JSON.")
    if unknown := sorted(body.keys() - known):
        raise JiraError(400, f'Unrecognized field "{unknown[0]}"')
    return body

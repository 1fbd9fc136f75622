"""The workspace's server: the Web API under /api/, the socket, and response_urls."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from playground.guard import Handler, build_guard
from playground.mail import Mailbox
from playground.slack.arguments import Arguments, read_arguments
from playground.slack.chat_methods import ChatMethods
from playground.slack.delivery import Delivery
from playground.slack.faults import Calls, Faults
from playground.slack.front import POLICY, Front
from playground.slack.people import People
from playground.slack.read_methods import ReadMethods, auth_test
from playground.slack.refusals import SlackRefusalError
from playground.slack.response_urls import ResponseUrls
from playground.slack.sight import Sight
from playground.slack.view_methods import ViewMethods
from playground.slack.workspace import Json, Workspace

BOT_TOKEN, APP_TOKEN = "xoxb-playground-token", "xapp-playground-token"
SCOPES = frozenset(
    {
        "app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write",
        "commands", "groups:history", "groups:read", "im:history", "im:read", "im:write",
        "mpim:history", "mpim:read", "reactions:write", "usergroups:read", "users:read",
        "users:read.email",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method of the Web API; without a scope any token of its kind may call it."""

    run: Callable[[Arguments], Json]
    scope: str = ""
    is_app_level: bool = False


class SlackServer:
    """One workspace and everything that serves it.

    Attributes:
        scopes: What the app was granted.
        people: What people do in the workspace.
        mailbox: Mail that the workspace's people get, for the page to show.
        front: The page.
    """

    def __init__(self, workspace: Workspace, mailbox: Mailbox) -> None:
        self.workspace = workspace
        self.mailbox = mailbox
        self.faults = Faults()
        self.calls = Calls()
        self.scopes = set(SCOPES)
        self.delivery = Delivery(workspace, self.faults)
        self.chat = ChatMethods(workspace, self.delivery, self.faults)
        self.reading = ReadMethods(workspace)
        self.views = ViewMethods(workspace)
        self.response_urls = ResponseUrls(workspace, self.chat, self.faults)
        self.people = People(workspace, self.delivery, self.views, self.response_urls)
        self.front = Front(workspace, self.people, Sight(workspace, self.views, mailbox))
        mailbox.on_arrival = self.front.changes.announce
        self.base_url = ""
        self._methods = self._build_methods()

    @property
    def api_url(self) -> str:
        """The Web API's base address, as the app's setting wants it."""
        return f"{self.base_url}/api/"

    def build_app(self) -> web.Application:
        """Build the application."""
        guard = build_guard(Front.is_page, policy=POLICY)
        app = web.Application(client_max_size=2**22, middlewares=[guard, self._announce])
        app.router.add_route("*", "/api/{method}", self._answer)
        app.router.add_get("/link/", self.delivery.sockets.serve)
        app.router.add_post("/respond/{number}", self.response_urls.serve)
        self.front.register(app)
        return app

    @web.middleware
    async def _announce(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Whatever was asked of the server may have changed the workspace."""
        try:
            return await handler(request)
        finally:
            self.front.changes.announce()

    async def _answer(self, request: web.Request) -> web.Response:
        name = request.match_info["method"]
        self.calls.by_method[name] += 1
        try:
            return await self._run(request, name)
        except SlackRefusalError as error:
            self.calls.refused.append((name, error.code))
            headers = {}
            if error.status == web.HTTPTooManyRequests.status_code:
                headers["Retry-After"] = str(self.faults.retry_after)
            said = {"ok": False, "error": error.code, **error.details}
            return web.json_response(said, status=error.status, headers=headers)

    async def _run(self, request: web.Request, name: str) -> web.Response:
        if self.faults.is_due(self.faults.limit, name):
            raise SlackRefusalError("ratelimited", status=429)
        if self.faults.is_due(self.faults.fail, name):
            raise SlackRefusalError("internal_error", status=500)
        if name in self.faults.refuse:
            raise SlackRefusalError(self.faults.refuse[name])
        method = self._methods.get(name)
        if method is None:
            raise SlackRefusalError("unknown_method", req_method=name)
        args = await read_arguments(request)
        self._check_token(request, args, method)
        found = method.run(args)
        if self.faults.is_due(self.faults.lose, name):
            if request.transport is not None:
                request.transport.abort()
            await asyncio.sleep(0)
        scopes = ",".join(sorted(self.scopes)) if not method.is_app_level else "connections:write"
        return web.json_response({"ok": True, **found}, headers={"X-OAuth-Scopes": scopes})

    def _check_token(self, request: web.Request, args: Arguments, method: Method) -> None:
        header = request.headers.get("Authorization", "")
        token = header.removeprefix("Bearer ") if header else args.text("token")
        if not token:
            raise SlackRefusalError("not_authed")
        if token not in {BOT_TOKEN, APP_TOKEN}:
            raise SlackRefusalError("invalid_auth")
        if (token == APP_TOKEN) is not method.is_app_level:
            raise SlackRefusalError("not_allowed_token_type")
        if method.scope and method.scope not in self.scopes:
            provided = ",".join(sorted(self.scopes))
            raise SlackRefusalError("missing_scope", needed=method.scope, provided=provided)

    def _open_connection(self, _args: Arguments) -> Json:
        return {"url": self.delivery.sockets.give_ticket()}

    def _build_methods(self) -> Mapping[str, Method]:
        chat, reading, views = self.chat, self.reading, self.views
        return {
            "auth.test": Method(run=auth_test),
            "apps.connections.open": Method(run=self._open_connection, is_app_level=True),
            "chat.postMessage": Method(run=chat.post_message, scope="chat:write"),
            "chat.update": Method(run=chat.update, scope="chat:write"),
            "chat.delete": Method(run=chat.delete, scope="chat:write"),
            "chat.postEphemeral": Method(run=chat.post_ephemeral, scope="chat:write"),
            "chat.getPermalink": Method(run=chat.get_permalink),
            "chat.startStream": Method(run=chat.start_stream, scope="chat:write"),
            "chat.appendStream": Method(run=chat.append_stream, scope="chat:write"),
            "chat.stopStream": Method(run=chat.stop_stream, scope="chat:write"),
            "conversations.list": Method(run=reading.list_conversations, scope="channels:read"),
            "conversations.info": Method(run=reading.conversation_info, scope="channels:read"),
            "conversations.members": Method(
                run=reading.conversation_members, scope="channels:read"
            ),
            "conversations.open": Method(run=reading.open_conversation, scope="im:write"),
            "conversations.history": Method(run=reading.history, scope="channels:history"),
            "conversations.replies": Method(run=reading.replies, scope="channels:history"),
            "users.info": Method(run=reading.user_info, scope="users:read"),
            "users.list": Method(run=reading.list_users, scope="users:read"),
            "users.lookupByEmail": Method(run=reading.lookup_by_email, scope="users:read.email"),
            "usergroups.list": Method(run=reading.list_groups, scope="usergroups:read"),
            "usergroups.users.list": Method(run=reading.list_group_users, scope="usergroups:read"),
            "views.open": Method(run=views.open),
            "views.push": Method(run=views.push),
            "views.update": Method(run=views.update),
            "views.publish": Method(run=views.publish),
            "reactions.add": Method(run=views.add_reaction, scope="reactions:write"),
            "assistant.threads.setStatus": Method(run=views.set_status, scope="chat:write"),
            "assistant.threads.setSuggestedPrompts": Method(
                run=views.set_prompts, scope="assistant:write"
            ),
        }


@asynccontextmanager
async def serve_slack(
    workspace: Workspace | Path, *, port: int = 0, mailbox: Mailbox | None = None
) -> AsyncIterator[SlackServer]:
    """Serve a workspace on loopback until the block ends.

    Args:
        workspace: One that is there, or the folder of a company.
        port: 0 = a free one.
        mailbox: Where people's mail is; None = they have none.

    Raises:
        SettingsError: The folder's files are not of their form.
    """
    if isinstance(workspace, Path):
        workspace = await asyncio.to_thread(Workspace.load, workspace)
    server = SlackServer(workspace, mailbox or Mailbox())
    runner = web.AppRunner(server.build_app(), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=512)
    await site.start()
    address = f"127.0.0.1:{runner.addresses[0][1]}"
    server.base_url = f"http://{address}"
    server.delivery.sockets.address = f"ws://{address}/link/"
    server.response_urls.base_url = server.base_url
    try:
        yield server
    finally:
        await server.front.close()
        await server.delivery.close()
        await runner.cleanup()

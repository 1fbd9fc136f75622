"""The workspace's web page: what it shows, live, and what people do in it."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

from aiohttp import WSMsgType, web

from core.errors import ZhixingError
from playground.slack.changes import Changes, compare
from playground.slack.features import COMMANDS, MESSAGE_SHORTCUTS, SHORTCUTS
from playground.slack.page_actions import Asked, PageActions
from playground.slack.people import People
from playground.slack.refusals import SlackRefusalError
from playground.slack.sight import Sight, show_person
from playground.slack.workspace import BOT_USER_ID, Json, Workspace

WEB = Path(__file__).parent / "web"
# Everything comes from here; nothing that a page's author names is ever fetched.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Many changes at once go out together.
PAUSE_S = 0.04
HEARTBEAT_S = 20.0
_PAGES = ("/web/", "/page/")


class Front:
    """Serves the page.

    Attributes:
        links: Addresses of other pages to show, by name.
        changes: Whoever changes the workspace announces it here.
    """

    def __init__(self, workspace: Workspace, people: People, sight: Sight) -> None:
        self._workspace = workspace
        self._sight = sight
        self._actions = PageActions(workspace, people, sight)
        self.links: dict[str, str] = {}
        self.changes = Changes()
        self._sockets: set[web.WebSocketResponse] = set()

    def register(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/", self._show)
        app.router.add_get("/mail", self._show)
        app.router.add_static("/web/", WEB)
        app.router.add_get("/page/setting", self._show_setting)
        app.router.add_get("/page/live", self._stream)
        app.router.add_post("/page/{action}", self._act)

    @staticmethod
    def is_page(path: str) -> bool:
        """Tell whether a path belongs to the page, not to the Web API."""
        return path in {"/", "/mail"} or path.startswith(_PAGES)

    async def close(self) -> None:
        """End every connection."""
        for socket in list(self._sockets):
            with contextlib.suppress(ConnectionError):
                await socket.close()

    async def _show(self, request: web.Request) -> web.FileResponse:
        return web.FileResponse(WEB / ("mail.html" if request.path == "/mail" else "index.html"))

    async def _show_setting(self, _request: web.Request) -> web.Response:
        members = [one for one in self._workspace.members.values() if not one.is_bot]
        return web.json_response(
            {
                "people": [show_person(one) for one in members if not one.deleted],
                "bot": BOT_USER_ID,
                "links": self.links,
                "commands": COMMANDS,
                "shortcuts": SHORTCUTS,
                "message_shortcuts": MESSAGE_SHORTCUTS,
            }
        )

    async def _stream(self, request: web.Request) -> web.WebSocketResponse:
        """Send everything a person sees, then what changes, until they go."""
        user = request.query.get("as", "")
        look: Callable[[], dict[str, Json]]
        if request.query.get("all") == "mail":
            look = self._sight.look_at_mail
        else:
            try:
                user = self._find_user(user)
            except LookupError as error:
                raise web.HTTPNotFound(text=str(error.args[0])) from error
            self._workspace.open_im(user)

            def look() -> dict[str, Json]:
                return self._sight.look(user)

        socket = web.WebSocketResponse(heartbeat=HEARTBEAT_S)
        await socket.prepare(request)
        self._sockets.add(socket)
        sending = asyncio.create_task(self._send(socket, look))
        try:
            async for message in socket:
                if message.type is WSMsgType.ERROR:
                    break
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            self._sockets.discard(socket)
        return socket

    async def _send(
        self, socket: web.WebSocketResponse, look: Callable[[], dict[str, Json]]
    ) -> None:
        seen: dict[str, Json] = {}
        count = -1
        with contextlib.suppress(ConnectionError):
            while True:
                count = await self.changes.wait(count)
                now = look()
                difference = compare(seen, now)
                if difference is not None:
                    await socket.send_json(difference)
                seen = now
                await asyncio.sleep(PAUSE_S)

    async def _act(self, request: web.Request) -> web.Response:
        if request.content_type != "application/json":
            return _refuse("invalid_json", 415)
        try:
            values = await request.json()
            if not isinstance(values, dict):
                return _refuse("invalid_json", 400)
            asked = Asked(values)
            user = self._find_user(asked.text("as"))
            done = await self._actions.run(request.match_info["action"], user, asked)
        except (ValueError, RecursionError):
            return _refuse("invalid_json", 400)
        except (LookupError, SlackRefusalError, ZhixingError) as error:
            return _refuse(str(error.args[0] if error.args else error), 400)
        return web.json_response(done)

    def _find_user(self, user: str) -> str:
        member = self._workspace.members.get(user)
        if member is None or member.is_bot or member.deleted:
            raise LookupError("user_not_found")
        return user


def _refuse(code: str, status: int) -> web.Response:
    return web.json_response({"error": code}, status=status)

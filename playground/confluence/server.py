"""The wiki over HTTP, as Cloud (v2 and v1) or as Data Center (v1), with their quirks."""

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal
from zoneinfo import ZoneInfo

from aiohttp import web

from playground.calls import Calls
from playground.confluence.cloud_routes import CloudRoutes
from playground.confluence.data_center_routes import DataCenterRoutes
from playground.confluence.faults import Faults
from playground.confluence.query import QueryError
from playground.confluence.serving import ApiError, BrokenOffError, Serving
from playground.confluence.views import Views
from playground.confluence.wiki import Wiki
from playground.guard import PLAIN_POLICY, build_guard

Flavour = Literal["cloud", "data_center"]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

PLAYGROUND_EMAIL = "bot@example.com"
PLAYGROUND_TOKEN = "playground-wiki-token"  # noqa: S105 - of a stand-in


class ConfluenceServer:
    """Serves a wiki.

    Attributes:
        faults: What goes wrong from now on.
        calls: What was asked so far, by kind.
        base_url: What clients are given: with `/wiki` on Cloud, with `/confluence` otherwise.
    """

    def __init__(
        self, wiki: Wiki, *, flavour: Flavour = "cloud", time_zone: str = "Asia/Shanghai"
    ) -> None:
        self.wiki = wiki
        self.flavour = flavour
        self.faults = Faults()
        self.calls = Calls()
        self.prefix = "/wiki" if flavour == "cloud" else "/confluence"
        self.base_url = ""
        self.serving = Serving(
            wiki, self.faults, is_cloud=flavour == "cloud", zone=ZoneInfo(time_zone)
        )
        self.serving.prefix = self.prefix

    def build_app(self) -> web.Application:
        """Return the application."""
        guard = build_guard(self._is_page, policy=PLAIN_POLICY)
        app = web.Application(middlewares=[guard, self._guard])
        routes: Sequence[tuple[str, str, Handler]]
        if self.flavour == "cloud":
            routes = CloudRoutes(self.serving).routes()
        else:
            routes = DataCenterRoutes(self.serving).routes()
        for method, path, handler in routes:
            app.router.add_route(method, self.prefix + path, handler)
        for method, path, handler in Views(self.wiki, self.prefix).routes():
            app.router.add_route(method, self.prefix + path, handler)
        return app

    def settings(self, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - of any section
        """Return the settings of a source that reads this wiki."""
        own: dict[str, Any] = {
            "kind": "confluence",
            "url": self.base_url,
            "flavour": self.flavour,
            "token": PLAYGROUND_TOKEN,
        }
        if self.flavour == "cloud":
            own["email"] = PLAYGROUND_EMAIL
        return {**own, **more}

    def _is_page(self, path: str) -> bool:
        return path.startswith((f"{self.prefix}/ui", f"{self.prefix}/spaces/"))

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        path = request.path.removeprefix(self.prefix)
        if self._is_page(request.path):
            return await handler(request)
        try:
            await self._check(request, path)
            response = await handler(request)
        except ApiError as error:
            return _refuse(error.status, str(error), retry_after=error.retry_after)
        except QueryError as error:
            return _refuse(400, f"Could not parse cql : {error}")
        except BrokenOffError:
            return await _break_off(request)
        except web.HTTPNotFound:
            return web.Response(status=404, text="<html>dead link</html>", content_type="text/html")
        if self.faults.rewrites and isinstance(response, web.Response):
            target = f"{path}?{request.query_string}"
            response.text = self.faults.rewrite(target, response.text or "")
        if self.faults.calm_retry_after:
            response.headers["Retry-After"] = self.faults.calm_retry_after
        elif self.flavour == "data_center":
            response.headers["Retry-After"] = "0"
        return response

    async def _check(self, request: web.Request, path: str) -> None:
        number = self.calls.count(_kind_of(request.method, path))
        faults = self.faults
        target = f"{path}?{request.query_string}"
        if faults.hang_every and number % faults.hang_every == 0:
            await asyncio.sleep(3600)
        if faults.login_page:
            raise web.HTTPOk(text="<html><form>Log in</form></html>", content_type="text/html")
        if faults.limit_every and number % faults.limit_every == 0:
            raise ApiError(
                faults.limit_status, "Rate limit exceeded.", retry_after=faults.retry_after
            )
        if (faults.fail_every and number % faults.fail_every == 0) or faults.takes_down(target):
            raise ApiError(faults.fail_status, "Try again later.")
        if any(text in path for text in faults.refuse):
            raise ApiError(403, "Not permitted.")
        if request.headers.get("Authorization") != self._wanted_authorization():
            raise ApiError(401, "Unauthorized; scope does not match")

    def _wanted_authorization(self) -> str:
        if self.flavour == "data_center":
            return f"Bearer {PLAYGROUND_TOKEN}"
        pair = f"{PLAYGROUND_EMAIL}:{PLAYGROUND_TOKEN}".encode()
        return "Basic " + base64.b64encode(pair).decode()


@asynccontextmanager
async def serve_confluence(
    wiki: Wiki,
    *,
    flavour: Flavour = "cloud",
    time_zone: str = "Asia/Shanghai",
    port: int = 0,
) -> AsyncIterator[ConfluenceServer]:
    """Serve on loopback until the block ends; port 0 = a free one."""
    server = ConfluenceServer(wiki, flavour=flavour, time_zone=time_zone)
    runner = web.AppRunner(server.build_app(), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    server.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}{server.prefix}"
    server.serving.base_url = server.base_url
    try:
        yield server
    finally:
        await runner.cleanup()


def _refuse(status: int, message: str, *, retry_after: str = "") -> web.Response:
    headers = {"Retry-After": retry_after} if retry_after else {}
    return web.json_response(
        {"statusCode": status, "message": message}, status=status, headers=headers
    )


async def _break_off(request: web.Request) -> web.StreamResponse:
    """Send the beginning of a reply, then cut the connection."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = 100_000
    await response.prepare(request)
    await response.write(b'{"results": [{"id": "')
    if request.transport is not None:
        request.transport.abort()
    return response


def _kind_of(method: str, path: str) -> str:
    """Return what a call is counted as: its path without ids."""
    parts = [part for part in path.split("/") if part and not part.isdecimal()]
    return f"{method} {'/'.join(parts[:5])}"

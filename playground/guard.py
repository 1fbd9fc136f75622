"""Keeps other sites, open in the same browser, from driving what is served on this machine."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Middleware

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

# Plain pages: nothing but their own style, and forms that lead to themselves.
PLAIN_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_FROM_HERE = frozenset({"same-origin", "none"})
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def build_guard(is_page: Callable[[str], bool], *, policy: str) -> Middleware:
    """Return a middleware for a server with pages for people and an API for programs.

    A name that was made to point here (DNS rebinding) is refused, and so is whatever a page of
    another origin asks for, but for following a link to a page. Of the API, browsers get nothing:
    its tokens are no secrets.

    Args:
        is_page: Whether a path is one of the pages.
        policy: Content-Security-Policy of the pages.
    """

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if _read_name(request.host) not in LOOPBACK:
            raise web.HTTPMisdirectedRequest(text="ask for it as 127.0.0.1 or localhost")
        if not is_page(request.path):
            if "Origin" in request.headers or "Sec-Fetch-Site" in request.headers:
                raise web.HTTPForbidden(text="not for browsers")
            return await handler(request)
        if not _is_from_here(request):
            raise web.HTTPForbidden(text="asked for by another site")
        try:
            response = await handler(request)
        except web.HTTPException as error:
            error.headers.update(_HEADERS)
            raise
        if not response.prepared:
            response.headers.update(_HEADERS)
            response.headers["Content-Security-Policy"] = policy
        return response

    return guard


def _is_from_here(request: web.Request) -> bool:
    origin = request.headers.get("Origin")
    if origin is not None:
        return origin == f"{request.scheme}://{request.host}"
    site = request.headers.get("Sec-Fetch-Site", "none")
    is_link = request.method == "GET" and request.headers.get("Sec-Fetch-Mode") == "navigate"
    return site in _FROM_HERE or (is_link and request.headers.get("Sec-Fetch-Dest") == "document")


def _read_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""

"""Keeps other sites, open in the same browser, from driving what is served on this machine."""

from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Middleware

from core.web_guard import HEADERS, LOOPBACK, is_asked_as, is_from_here

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

# Plain pages: nothing but their own style, and forms that lead to themselves.
PLAIN_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


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
        if not is_asked_as(request, LOOPBACK):
            raise web.HTTPMisdirectedRequest(text="ask for it as 127.0.0.1 or localhost")
        if not is_page(request.path):
            if "Origin" in request.headers or "Sec-Fetch-Site" in request.headers:
                raise web.HTTPForbidden(text="not for browsers")
            return await handler(request)
        if not is_from_here(request):
            raise web.HTTPForbidden(text="asked for by another site")
        try:
            response = await handler(request)
        except web.HTTPException as error:
            error.headers.update(HEADERS)
            raise
        if not response.prepared:
            response.headers.update(HEADERS)
            response.headers["Content-Security-Policy"] = policy
        return response

    return guard

"""What every request passes: by which name, from which site, by whom, and how often in vain."""

import hmac
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from aiohttp import web
from aiohttp.typedefs import Middleware

from admin.limits import Tries
from admin.pages import Pages
from admin.viewers import Viewer, Viewers
from core.admin_settings import AdminSettings
from core.web_guard import HEADERS, LOOPBACK, is_asked_as, is_from_here

_log = structlog.get_logger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

ENTER, STATIC = "/enter", "/static/"
FORM_TOKEN = "form"  # noqa: S105 - the name of a field
POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
WRONG_TOKENS, WRONG_TOKENS_OF_ALL, WRONG_WINDOW_S = 5, 50, 60.0
VIEWER: Final = web.RequestKey("viewer", Viewer)
_BEARER = "Bearer "


class Guard:
    """Lets in whom it should."""

    def __init__(self, settings: AdminSettings, viewers: Viewers, pages: Pages) -> None:
        self._settings = settings
        self._viewers = viewers
        self._pages = pages
        self._names = LOOPBACK | {name.lower() for name in settings.hosts}
        self._wrong = Tries(each=WRONG_TOKENS, window_s=WRONG_WINDOW_S, total=WRONG_TOKENS_OF_ALL)

    def name_cookie(self, request: web.Request) -> str:
        """Return the name of the session's cookie; two servers of one machine have two."""
        if self._settings.is_behind_https:
            return "__Host-zhixing-admin"
        address = request.get_extra_info("sockname")
        return f"zhixing-admin-{address[1]}"

    def build(self) -> Middleware:
        """Return it as a middleware."""

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            try:
                response = await self._answer(request, handler)
            except web.HTTPException as error:
                response = self._pages.refuse(request, error)
            except Exception:  # noqa: BLE001 - a page says so, the log says why
                _log.exception("admin_page_failed", path=request.path)
                response = self._pages.refuse(request, web.HTTPInternalServerError())
            if not response.prepared:
                self._harden(response)
            return response

        return guard

    async def check_token(self, request: web.Request, token: str) -> Viewer:
        """Return whose token it is.

        Raises:
            HTTPUnauthorized: Nobody's.
            HTTPTooManyRequests: Too many were wrong of late; this one was not looked at.
        """
        peer = request.remote or ""
        if left := self._wrong.seconds_left(peer):
            raise web.HTTPTooManyRequests(headers={"Retry-After": str(int(left) + 1)})
        viewer = await self._viewers.find_by_token(token.strip())
        if viewer is None:
            self._wrong.count(peer)
            _log.warning("admin_token_wrong", peer=peer)
            raise web.HTTPUnauthorized
        return viewer

    async def check_form(self, request: web.Request, viewer: Viewer) -> None:
        """Refuse a form that no page of this session showed.

        A request with a token in its headers needs none: other sites can't make browsers send one.

        Raises:
            HTTPForbidden: The form's own token is missing or wrong.
        """
        if not viewer.session:
            return
        given = (await request.post()).get(FORM_TOKEN, "")
        sent = given.encode("utf-8", "replace") if isinstance(given, str) else b""
        if not hmac.compare_digest(sent, viewer.form_token.encode()):
            raise web.HTTPForbidden

    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not is_asked_as(request, self._names):
            raise web.HTTPMisdirectedRequest
        scheme = "https" if self._settings.is_behind_https else ""
        if not is_from_here(request, scheme=scheme):
            raise web.HTTPForbidden
        if request.path == ENTER or request.path.startswith(STATIC):
            return await handler(request)
        viewer = await self._find_viewer(request)
        request[VIEWER] = viewer
        if request.method == "POST":
            await self.check_form(request, viewer)
        return await handler(request)

    async def _find_viewer(self, request: web.Request) -> Viewer:
        given = request.headers.get("Authorization", "")
        if given.startswith(_BEARER):
            return await self.check_token(request, given.removeprefix(_BEARER))
        viewer = await self._viewers.find_by_session(
            request.cookies.get(self.name_cookie(request), "")
        )
        if viewer is None:
            raise web.HTTPUnauthorized
        return viewer

    def _harden(self, response: web.StreamResponse) -> None:
        response.headers.update(HEADERS)
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Frame-Options"] = "DENY"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        if self._settings.is_behind_https:
            response.headers["Strict-Transport-Security"] = "max-age=31536000"

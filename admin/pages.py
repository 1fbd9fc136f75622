"""Renders templates: in the viewer's language, with the menu, the form token and the time zone."""

from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import urlencode, urlsplit
from zoneinfo import ZoneInfo

from aiohttp import web
from jinja2 import Environment, PackageLoader, StrictUndefined

from admin.refusals import PageRefusal
from admin.texts import Texts, choose_language
from admin.viewers import Viewer

LANGUAGE_COOKIE = "zhixing-admin-language"
LANGUAGE = "lang"
_TOLD = frozenset({400, 401, 403, 404, 405, 413, 421, 429, 500})
_YEAR_S = 31_536_000
_SHORT_MS = 10_000.0


class Pages:
    """Renders pages.

    Args:
        time_zone: The company's, by name; empty = UTC.
        is_secure: Cookies go over HTTPS only.
    """

    def __init__(self, *, time_zone: str, is_secure: bool) -> None:
        self._zone = ZoneInfo(time_zone) if time_zone else UTC
        self._is_secure = is_secure
        self._environment = Environment(
            loader=PackageLoader("admin"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(
            moment=self._tell_moment,
            ms=_tell_ms,
            score=_tell_score,
            cost=_tell_cost,
            link=_check_link,
        )

    def render(
        self,
        request: web.Request,
        template: str,
        *,
        viewer: Viewer | None,
        status: int = 200,
        path: str = "",
        **values: object,
    ) -> web.Response:
        """Return a page.

        Args:
            viewer: Who looks; None = nobody yet.
            path: Where the same page can be asked for; empty = as it was asked for.
        """
        wanted = request.query.get(LANGUAGE, "")
        texts = self.choose_texts(request)
        other = "en" if texts.language == "zh" else "zh"
        query = {} if path else {k: v for k, v in request.query.items() if k != LANGUAGE}
        html = self._environment.get_template(f"{template}.html.j2").render(
            t=texts,
            viewer=viewer,
            here=request.path,
            switch=f"{path or request.path}?{urlencode({**query, LANGUAGE: other})}",
            other_language=other,
            **values,
        )
        response = web.Response(text=html, content_type="text/html", status=status)
        if wanted == texts.language:
            response.set_cookie(
                LANGUAGE_COOKIE,
                wanted,
                max_age=_YEAR_S,
                httponly=True,
                samesite="Strict",
                secure=self._is_secure,
            )
        return response

    def refuse(self, request: web.Request, error: web.HTTPException) -> web.Response:
        """Return the page of an error; of a missing token, the form to enter it."""
        status = error.status if error.status in _TOLD else 400
        if status == web.HTTPUnauthorized.status_code:
            page = self.render_entry(request, status=status)
        else:
            page = self.render(
                request, "error", viewer=None, status=error.status, code=status, refusal=""
            )
        for name in ("Retry-After", "Allow"):
            if name in error.headers:
                page.headers[name] = error.headers[name]
        return page

    def refuse_wish(
        self, request: web.Request, viewer: Viewer, refusal: PageRefusal, *, path: str = "/"
    ) -> web.Response:
        """Return a page that says why something is not done."""
        said = self.choose_texts(request)[refusal.key].format(**refusal.values)
        return self.render(
            request, "error", viewer=viewer, status=400, code=400, refusal=said, path=path
        )

    def render_entry(
        self, request: web.Request, *, status: int = 200, is_wrong: bool = False, then: str = ""
    ) -> web.Response:
        """Return the form that takes the token."""
        is_shown = request.method == "GET" and request.path != "/enter"
        then = then or (request.path_qs if is_shown else "/")
        return self.render(
            request, "enter", viewer=None, status=status, is_wrong=is_wrong, then=then
        )

    def choose_texts(self, request: web.Request) -> Texts:
        """Return what is said in the language of whoever asks."""
        chosen = request.query.get(LANGUAGE, "") or request.cookies.get(LANGUAGE_COOKIE, "")
        return Texts(choose_language(chosen, request.headers.get("Accept-Language", "")))

    def begin_day(self, day: datetime) -> datetime:
        """Return the moment at which a day, given without a zone, begins for the company."""
        return day.replace(tzinfo=self._zone).astimezone(UTC)

    def _tell_moment(self, moment: datetime) -> str:
        return f"{moment.astimezone(self._zone):%Y-%m-%d %H:%M:%S}"


def check_then(then: str) -> str:
    """Return where to go on, on this site alone."""
    parts = urlsplit(then)
    is_here = not (parts.scheme or parts.netloc) and then.startswith("/")
    return then if is_here and not then.startswith("//") and "\\" not in then else "/"


def read_form(form: Mapping[str, object]) -> dict[str, str]:
    """Return a form's texts."""
    return {key: value for key, value in form.items() if isinstance(value, str)}


def _tell_ms(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value / 1000:.1f} s" if value >= _SHORT_MS else f"{value:.1f} ms"


def _tell_score(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _tell_cost(value: float) -> str:
    return f"{value:.4f}" if value else "0"


def _check_link(url: str) -> str:
    """Return an address that may be followed; empty for any other."""
    return url if urlsplit(url).scheme in {"http", "https"} else ""

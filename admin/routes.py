"""The pages themselves: enter and leave, list, one trace, overview, replay."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from aiohttp import web

from admin.guard import ENTER, VIEWER, Guard
from admin.overview import load_overview
from admin.pages import Pages, check_then, read_form
from admin.refusals import PageRefusal
from admin.replay import MODES
from admin.replay_page import ReplayPage
from admin.search import TraceFilter, find_traces
from admin.sight import Sight, Sights
from admin.timeline import build_story
from admin.viewers import Viewer, Viewers
from bot.bootstrap import Product
from bot.routing import Route
from core.errors import SettingsError
from core.messages import Outcome
from knowledge.completeness import ScopeCount

DAYS = (7, 14, 30)
_FIELDS = ("words", "asker", "place", "route", "outcome", "since", "until", "slow_ms", "tokens")
_LONGEST_FIELD = 300

Handler = Callable[[web.Request, Viewer], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminParts:
    """What the pages are made of."""

    product: Product
    pages: Pages
    guard: Guard
    viewers: Viewers
    sights: Sights
    replay_page: ReplayPage
    is_behind_https: bool


class AdminRoutes:
    """Answers requests that the guard let in."""

    def __init__(self, parts: AdminParts) -> None:
        self._parts = parts
        self._pages = parts.pages

    def register(self, app: web.Application) -> None:
        """Add all pages."""
        app.router.add_get(ENTER, self._show_entry)
        app.router.add_post(ENTER, self._enter)
        for path, handler in (
            ("/", self._list),
            ("/traces/{trace_id}", self._show),
            ("/overview", self._overview),
        ):
            app.router.add_get(path, self._for_viewer(handler))
        for path, handler in (
            ("/leave", self._leave),
            ("/traces/{trace_id}/open", self._open),
            ("/traces/{trace_id}/replay", self._replay),
        ):
            app.router.add_post(path, self._for_viewer(handler))

    def _for_viewer(
        self, handler: Handler
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def answer(request: web.Request) -> web.StreamResponse:
            viewer = request[VIEWER]
            try:
                return await handler(request, viewer)
            except PageRefusal as refusal:
                trace_id = request.match_info.get("trace_id", "")
                path = f"/traces/{trace_id}" if trace_id else "/"
                return self._pages.refuse_wish(request, viewer, refusal, path=path)

        return answer

    async def _show_entry(self, request: web.Request) -> web.StreamResponse:
        return self._pages.render_entry(request)

    async def _enter(self, request: web.Request) -> web.StreamResponse:
        """Take a token from the form and give the browser a session in its place."""
        form = read_form(await request.post())
        then = check_then(form.get("then", "/"))
        try:
            viewer = await self._parts.guard.check_token(request, form.get("token", ""))
        except web.HTTPUnauthorized:
            return self._pages.render_entry(request, status=401, is_wrong=True, then=then)
        session = await self._parts.viewers.open_session(viewer)
        response = web.Response(status=303, headers={"Location": then})
        response.set_cookie(
            self._parts.guard.name_cookie(request),
            session,
            httponly=True,
            samesite="Strict",
            secure=self._parts.is_behind_https,
            path="/",
        )
        return response

    async def _leave(self, request: web.Request, viewer: Viewer) -> web.StreamResponse:
        await self._parts.viewers.end_session(viewer)
        response = web.Response(status=303, headers={"Location": ENTER})
        response.del_cookie(self._parts.guard.name_cookie(request), path="/")
        return response

    async def _list(self, request: web.Request, viewer: Viewer) -> web.StreamResponse:
        form = {name: request.query.get(name, "").strip()[:_LONGEST_FIELD] for name in _FIELDS}
        form["kind"] = request.query.get("kind", "")
        before = _read_before(request.query.get("before", ""))
        wanted = self._read_filter(form, before)
        state = self._parts.product.state
        found = await find_traces(state.database, viewer, wanted, state.clock.now())
        given = {key: value for key, value in form.items() if value}
        older = ""
        if found.next_before is not None:
            at, trace_id = found.next_before
            older = f"/?{urlencode({**given, 'before': f'{at.isoformat()}~{trace_id}'})}"
        return self._pages.render(
            request,
            "traces",
            viewer=viewer,
            form=form,
            found=found,
            routes=[one.value for one in Route],
            outcomes=[one.value for one in Outcome],
            is_later=before is not None,
            newest=f"/?{urlencode(given)}",
            older=older,
        )

    def _read_filter(
        self, form: dict[str, str], before: tuple[datetime, str] | None
    ) -> TraceFilter:
        until = self._read_day(form["until"])
        return TraceFilter(
            words=form["words"],
            asker=form["asker"],
            place=form["place"],
            route=form["route"],
            outcome=form["outcome"],
            since=self._read_day(form["since"]),
            until=None if until is None else until + timedelta(days=1),
            slow_ms=_read_number(form["slow_ms"], "slow_ms"),
            tokens=int(_read_number(form["tokens"], "tokens")),
            replays=form["kind"] == "replays",
            before=before,
        )

    def _read_day(self, text: str) -> datetime | None:
        if not text:
            return None
        try:
            day = datetime.fromisoformat(text).replace(tzinfo=None)
            return self._pages.begin_day(day)
        except (ValueError, OverflowError) as error:
            raise PageRefusal("bad_date", value=text) from error

    async def _show(self, request: web.Request, viewer: Viewer) -> web.StreamResponse:
        try:
            sight = await self._parts.sights.look(viewer, request.match_info["trace_id"])
        except SettingsError as error:
            raise web.HTTPNotFound from error
        return self._render(request, viewer, sight)

    async def _open(self, request: web.Request, viewer: Viewer) -> web.StreamResponse:
        """Show what somebody else asked, once the audit log tells of it."""
        form = read_form(await request.post())
        try:
            sight = await self._parts.sights.break_glass(
                viewer, request.match_info["trace_id"], form.get("reason", "")
            )
        except SettingsError as error:
            raise web.HTTPNotFound from error
        return self._render(request, viewer, sight)

    def _render(self, request: web.Request, viewer: Viewer, sight: Sight) -> web.StreamResponse:
        product = self._parts.product
        return self._pages.render(
            request,
            "trace",
            viewer=viewer,
            path=f"/traces/{sight.trace.trace_id}",
            sight=sight,
            story=build_story(sight),
            is_broken=sight.has_content and not sight.is_own,
            may_replay=sight.has_content,
            usual=product.state.settings.retrieval,
            modes=MODES,
            has_vectors=product.embedder.dimension > 0,
            has_model=product.model is not None,
        )

    async def _replay(self, request: web.Request, viewer: Viewer) -> web.StreamResponse:
        try:
            return await self._parts.replay_page.answer(request, viewer)
        except SettingsError as error:
            raise web.HTTPNotFound from error

    async def _overview(self, request: web.Request, viewer: Viewer) -> web.StreamResponse:
        wanted = request.query.get("days", "")
        days = int(wanted) if wanted in {str(one) for one in DAYS} else DAYS[0]
        state = self._parts.product.state
        shown = await load_overview(state.database, viewer, days=days, now=state.clock.now())
        return self._pages.render(
            request,
            "overview",
            viewer=viewer,
            days=days,
            shown=shown,
            most=max((day.total for day in shown.days), default=1),
            sources=[
                {"status": one, "completeness": _tell_share(one.counts)} for one in shown.sources
            ],
            troubles=[run for one in shown.sources for run in one.troubled_runs],
            # Reasons name pages.
            reads_all=viewer.person is None,
        )


def _read_before(text: str) -> tuple[datetime, str] | None:
    if not text:
        return None
    at, _, trace_id = text.partition("~")
    try:
        moment = datetime.fromisoformat(at)
    except ValueError as error:
        raise PageRefusal("bad_date", value=at) from error
    if moment.tzinfo is None:
        raise PageRefusal("bad_date", value=at)
    return moment, trace_id


def _read_number(text: str, field: str) -> float:
    try:
        number = float(text or 0)
    except ValueError as error:
        raise PageRefusal("bad_value", field=field) from error
    if not 0 <= number < 1e9:  # noqa: PLR2004 - also refuses what is no number
        raise PageRefusal("bad_value", field=field)
    return number


def _tell_share(counts: tuple[ScopeCount, ...]) -> str:
    listed = sum(one.source_count for one in counts)
    here = sum(one.index_count for one in counts)
    return f"{100 * here / listed:.0f} %" if listed else "–"

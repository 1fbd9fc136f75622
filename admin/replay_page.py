"""The page of a replay: who may have what replayed under whose rights, and what is shown of it."""

from aiohttp import web

from admin.limits import Tries
from admin.pages import Pages, read_form
from admin.refusals import PageRefusal
from admin.replay import Replays, compare_searches, read_settings
from admin.sight import Sights
from admin.timeline import SearchTable, Story, build_story
from admin.viewers import Viewer, Viewers
from bot.bootstrap import Product
from bot.trace import Trace
from core.errors import SettingsError
from knowledge.readers import Reader

REPLAYS, REPLAY_WINDOW_S = 6, 60.0
EVENT = "trace_replayed"


class ReplayPage:
    """Answers the form of a replay."""

    def __init__(self, product: Product, pages: Pages, viewers: Viewers, sights: Sights) -> None:
        self._product = product
        self._pages = pages
        self._viewers = viewers
        self._sights = sights
        self._replays = Replays(product)
        self._tries = Tries(each=REPLAYS, window_s=REPLAY_WINDOW_S)

    async def answer(self, request: web.Request, viewer: Viewer) -> web.Response:
        """Run it and show both, side by side.

        Raises:
            SettingsError: There is no such trace, or none the viewer may know of.
            PageRefusal: It may not be replayed, or a setting is none.
            HTTPTooManyRequests: The viewer had many of late.
        """
        form = read_form(await request.post())
        usual = self._product.state.settings.retrieval
        settings = read_settings(form, usual)
        is_as_asker = form.get("rights") == "asker"
        if left := self._tries.seconds_left(viewer.name):
            raise web.HTTPTooManyRequests(headers={"Retry-After": str(int(left) + 1)})
        before = await self._sights.break_glass(
            viewer,
            request.match_info["trace_id"],
            form.get("reason", ""),
            event=EVENT,
            rights="asker" if is_as_asker else "viewer",
            changed=settings.describe(usual),
        )
        self._tries.count(viewer.name)
        is_as_asker = is_as_asker and not before.is_own
        reader = await self._choose_reader(viewer, before.trace, is_as_asker=is_as_asker)
        old = build_story(before)
        question = old.understood or before.trace.question
        replayed = await self._replays.run(before.trace, question, viewer, reader, settings)
        after = await self._sights.reopen(viewer, replayed.trace)
        new = build_story(after)
        # What rests on somebody else's rights is shown to those who may read everything anyway.
        is_shown = not is_as_asker or viewer.person is None
        return self._pages.render(
            request,
            "replay",
            viewer=viewer,
            path=f"/traces/{before.trace.trace_id}",
            before=before.trace,
            after=replayed.trace,
            question=question,
            answer=replayed.answer if is_shown else None,
            cited_before=old.cited,
            cited_after=new.cited,
            moved=compare_searches(_choose_search(old), _choose_search(new)),
            is_broken=not before.is_own,
        )

    async def _choose_reader(self, viewer: Viewer, trace: Trace, *, is_as_asker: bool) -> Reader:
        if not is_as_asker:
            return await self._viewers.read_as(viewer)
        if trace.asker is None:
            # Nobody becomes the operator here.
            raise PageRefusal("replay_stranger")
        try:
            return await self._product.resolve_reader(as_=trace.asker)
        except SettingsError as error:
            raise PageRefusal("replay_stranger") from error


def _choose_search(story: Story) -> SearchTable | None:
    """Return the search that the asker's own answer comes from: the private one where it is."""
    own = [one for one in story.searches if one.audience == "private"]
    return next(iter([*own, *story.searches]), None)

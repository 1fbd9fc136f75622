"""A service on loopback that answers what a test has told it to."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from core.http import HttpClient, HttpLimits
from core.pacing import Timing

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class FakeTime:
    """A clock that moves only when somebody sleeps."""

    now: float = 100.0
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def timing(self) -> Timing:
        return Timing(monotonic=lambda: self.now, sleep=self.sleep)


@dataclass
class FakeService:
    """What the service was asked, and what it answers in turn; the last answer stays."""

    base_url: str = ""
    answers: list[Answer] = field(default_factory=list)
    requests: list[web.Request] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    time: FakeTime = field(default_factory=FakeTime)

    def open_client(self, *, limits: HttpLimits | None = None, path: str = "") -> HttpClient:
        return HttpClient(
            base_url=self.base_url + path,
            place="Wiki 'test'",
            credentials={"Authorization": "Bearer key-of-the-bot"},
            remedy="check sources.test.token",
            limits=limits or HttpLimits(),
            timing=self.time.timing(),
        )

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        self.bodies.append(await request.read())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return await answer(request)


@asynccontextmanager
async def open_service(*answers: Answer) -> AsyncIterator[FakeService]:
    """Serve on a free port of loopback."""
    service = FakeService(answers=list(answers))
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", service.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    service.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield service
    finally:
        await runner.cleanup()


def status(code: int, text: str = "", **headers: str) -> Answer:
    """Answer with a status; header names have underscores for hyphens."""

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(
            status=code,
            text=text,
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )

    return answer


def data(value: object, **headers: str) -> Answer:
    """Answer with JSON."""

    async def answer(_: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return web.json_response(value, headers=named)

    return answer


def page(text: str = "<html><form>log in</form></html>") -> Answer:
    """Answer 200 with a web page."""

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(text=text, content_type="text/html")

    return answer

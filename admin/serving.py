"""Serves the pages, in whichever process is to."""

import contextlib
import errno
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from aiohttp import web

from admin.guard import STATIC, Guard
from admin.keys import KeyKind, KeyStore
from admin.pages import Pages
from admin.replay_page import ReplayPage
from admin.routes import AdminParts, AdminRoutes
from admin.sight import Sights
from admin.viewers import Viewers
from bot.agent.wiring import open_audit_log
from bot.bootstrap import Product
from core.admin_settings import AdminSettings
from core.clock import SystemClock
from core.database import Database
from core.errors import PortTakenError, SettingsError
from core.web_guard import LOOPBACK

MOST_BODY_BYTES = 64 * 1024
TOKEN_LASTS = timedelta(hours=12)
_STATIC_FOLDER = Path(__file__).parent / "static"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminPages:
    """The pages, served.

    Attributes:
        address: Where they are.
        make_token: Makes a token for the operator.
    """

    address: str
    make_token: Callable[[], Awaitable[str]]


@asynccontextmanager
async def open_pages(product: Product, settings: AdminSettings) -> AsyncIterator[AdminPages]:
    """Serve the pages for the length of a block.

    Raises:
        SettingsError: They would be open to the network without a name to be asked for by, or the
            port can't be used.
    """
    if settings.host not in LOOPBACK and not settings.hosts:
        raise SettingsError(
            f"admin.host {settings.host!r} can be reached from other machines; name the hosts that "
            "people ask for in admin.hosts, such as zhixing.company.example"
        )
    async with contextlib.AsyncExitStack() as stack:
        runner = await _start(product, settings, stack)
        port = runner.addresses[0][1]
        yield AdminPages(
            address=build_address(settings, port),
            make_token=lambda: make_token(product.state.database),
        )


async def make_token(
    database: Database,
    *,
    person: str = "",
    is_operator: bool = True,
    lasts: timedelta = TOKEN_LASTS,
) -> str:
    """Make a token that every process of this home knows; empty `person` = the operator."""
    keys = KeyStore(database, SystemClock())
    return await keys.make(KeyKind.TOKEN, person=person, is_operator=is_operator, lasts=lasts)


def build_address(settings: AdminSettings, port: int) -> str:
    """Return where people look, as far as we know it."""
    if settings.hosts and settings.is_behind_https:
        return f"https://{settings.hosts[0]}/"
    host = settings.host if settings.host in LOOPBACK or not settings.hosts else settings.hosts[0]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


async def _start(
    product: Product, settings: AdminSettings, stack: contextlib.AsyncExitStack
) -> web.AppRunner:
    app = web.Application(client_max_size=MOST_BODY_BYTES)
    # Addresses hold what people look for, so they are not logged.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0)
    build_app(app, product, settings)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    try:
        await web.TCPSite(runner, settings.host, settings.port).start()
    except OSError as error:
        if error.errno not in {errno.EADDRINUSE, errno.EACCES, errno.EADDRNOTAVAIL}:
            raise
        raise PortTakenError(
            f"the pages can't be served at {settings.host}:{settings.port} ({error.strerror}); "
            "choose another admin.port"
        ) from error
    return runner


def build_app(app: web.Application, product: Product, settings: AdminSettings) -> None:
    """Put everything together."""
    state = product.state
    is_secure = settings.is_behind_https
    pages = Pages(time_zone=state.settings.directory.time_zone, is_secure=is_secure)
    viewers = Viewers(product, settings, KeyStore(state.database, SystemClock()))
    guard = Guard(settings, viewers, pages)
    sights = Sights(product, viewers, open_audit_log(state), may_break=settings.break_glass)
    app.middlewares.append(guard.build())
    app.router.add_static(STATIC, _STATIC_FOLDER)
    parts = AdminParts(
        product=product,
        pages=pages,
        guard=guard,
        viewers=viewers,
        sights=sights,
        replay_page=ReplayPage(product, pages, viewers, sights),
        is_behind_https=is_secure,
    )
    AdminRoutes(parts).register(app)

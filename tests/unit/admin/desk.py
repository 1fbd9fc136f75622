"""The pages on a real server of loopback, and browsers' requests to them."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import typer
from aiohttp import ClientSession, DummyCookieJar
from typer.testing import CliRunner, Result

from admin.command import register
from admin.serving import make_token, open_pages
from bot.bootstrap import Product
from bot.commands.context import CommandContext
from core.admin_settings import AdminSettings
from tests.unit.bot.office import Office

_FORM = re.compile(r'name="form" value="([0-9a-f]{64})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back."""

    status: int
    text: str
    headers: Mapping[str, str]


@dataclass(slots=True)
class Tab:
    """A browser with a session of its own."""

    http: ClientSession
    address: str
    cookie: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str, **headers: str) -> Reply:
        return await self._send("GET", path, None, headers)

    async def post(self, path: str, form: Mapping[str, str], **headers: str) -> Reply:
        return await self._send("POST", path, form, headers)

    async def enter(self, token: str) -> Reply:
        reply = await self.post("/enter", {"token": token, "then": "/"})
        if reply.status == 303:
            self.cookie = reply.headers["Set-Cookie"].partition(";")[0]
        return reply

    async def submit(self, path: str, form: Mapping[str, str]) -> Reply:
        """Send a form with the token that pages of this session carry."""
        found = _FORM.search((await self.get("/")).text)
        assert found is not None
        return await self.post(path, {**form, "form": found[1]})

    async def _send(
        self, method: str, path: str, form: Mapping[str, str] | None, headers: Mapping[str, str]
    ) -> Reply:
        sent = {"Accept-Language": "en", **self.headers}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            sent["Cookie"] = self.cookie
        url = self.address.rstrip("/") + path
        async with self.http.request(
            method, url, data=form, headers=sent, allow_redirects=False
        ) as reply:
            return Reply(status=reply.status, text=await reply.text(), headers=dict(reply.headers))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminDesk:
    """An office, its product and the pages on it."""

    product: Product
    address: str
    http: ClientSession

    def open_tab(self) -> Tab:
        return Tab(self.http, self.address)

    async def make_token(self, person: str = "", *, is_operator: bool = False) -> str:
        return await make_token(
            self.product.state.database, person=person, is_operator=is_operator or not person
        )

    async def sit(self, person: str = "", *, is_operator: bool = False) -> Tab:
        """Return a browser that somebody entered with."""
        tab = self.open_tab()
        reply = await tab.enter(await self.make_token(person, is_operator=is_operator))
        assert reply.status == 303, reply.text
        return tab


def run_admin(office: Office, *arguments: str) -> Result:
    """Run the command alone, whether or not the installed product has it."""
    app = typer.Typer()
    register(app)
    context = CommandContext(home=office.home, now=None)
    return CliRunner().invoke(app, arguments, obj=context)


@asynccontextmanager
async def open_desk(
    office: Office, settings: AdminSettings | None = None
) -> AsyncIterator[AdminDesk]:
    """Serve the pages of an office."""
    settings = (settings or AdminSettings()).model_copy(update={"port": 0})
    async with (
        office.open() as product,
        open_pages(product, settings) as pages,
        ClientSession(cookie_jar=DummyCookieJar()) as http,
    ):
        yield AdminDesk(product=product, address=pages.address, http=http)

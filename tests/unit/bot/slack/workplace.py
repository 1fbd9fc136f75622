"""The real Bolt app on a synced office, in a real workspace on loopback."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from bot.bootstrap import Product, open_product
from bot.handlers.slack.serving import serve_slack
from core.chat_settings import SlackSettings
from core.clock import FixedClock, parse_moment
from core.settings import Settings, load_settings
from playground.slack.people import People
from playground.slack.server import (
    APP_TOKEN,
    BOT_TOKEN,
    SlackServer,
)
from playground.slack.server import (
    serve_slack as serve_workspace,
)
from playground.slack.workspace import BOT_USER_ID, Member, Message, Room, Workspace
from tests.unit.bot.office import GUEST, HR, HR_MAIL, OPS, TODAY, Office

MIXED, OPEN, HR_ONLY, SHARED = "mixed", "open", "hr-only", "shared"
PATIENCE_S = 60.0


def build_workspace() -> Workspace:
    """Return a workspace whose people are those of the office, and a stranger."""
    workspace = Workspace()
    for user_id, name, email, is_guest in (
        ("U1", HR, HR_MAIL, False),
        ("U2", "su.qin", "su.qin@nimbus.example", False),
        ("U3", OPS, "kit.hale@nimbus.example", False),
        ("U4", GUEST, "gast@else.example", True),
    ):
        workspace.add_member(
            Member(user_id=user_id, name=name, real_name=name, email=email, is_restricted=is_guest)
        )
    for channel_id, name, members in (
        ("C1", MIXED, ["U1", "U3"]),
        ("C2", HR_ONLY, ["U1", "U2"]),
        ("C3", SHARED, ["U1", "U3", "U4"]),
    ):
        workspace.add_room(
            Room(channel_id=channel_id, name=name, kind="group", members=[*members, BOT_USER_ID])
        )
    workspace.add_room(
        Room(channel_id="C4", name=OPEN, kind="channel", members=["U1", "U3", BOT_USER_ID])
    )
    return workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """A workspace with the assistant in it."""

    slack: SlackServer
    product: Product

    @property
    def people(self) -> People:
        """What people do."""
        return self.slack.people

    async def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until something is so; gives up after a long while."""
        async with asyncio.timeout(PATIENCE_S):
            await self.people.wait_until(holds)

    async def ask(self, person: str, channel: str, text: str, *, thread_ts: str = "") -> Message:
        """Put a question and return the finished answer."""
        before = len(self.people.from_bot(channel, viewer=person))
        if channel == "dm":
            self.people.say(person, channel, text, thread_ts=thread_ts)
        else:
            self.people.mention(person, channel, text, thread_ts=thread_ts)
        await self.wait_until(lambda: len(self.finished(channel, person)) > before)
        await self.settle()
        return self.finished(channel, person)[before]

    def finished(self, channel: str, person: str = "") -> list[Message]:
        """Return what the assistant said, without what it is still working on."""
        said = self.people.from_bot(channel, viewer=person)
        return [one for one in said if not is_placeholder(one)]

    async def settle(self) -> None:
        """Wait until every event is taken and every question done."""
        await self.slack.delivery.settle()
        await self.wait_for_inbox()

    async def wait_for_inbox(self) -> None:
        """Wait until no question is open any more."""
        query = "SELECT count(*) FROM chat_questions WHERE state != 'done'"
        async with asyncio.timeout(PATIENCE_S):
            while await self.scalar(query):  # noqa: ASYNC110 - other processes change it
                await asyncio.sleep(0.01)

    async def scalar(self, query: str) -> Any:
        """Return the only value of a query."""
        return await self.product.state.database.read(
            lambda connection: connection.exec_driver_sql(query).scalar()
        )


def is_placeholder(message: Message) -> bool:
    """Tell whether a message only says that something is being worked on."""
    return message.text in {"正在查找…", "Looking that up…"}


def words_of(message: Message) -> str:
    """Return everything a message says."""
    return message.text + " ".join(str(one) for one in message.blocks)


def settings_for(slack: SlackServer, office: Office, **more: Any) -> Settings:
    """Return the office's settings with the workspace in them."""
    section = SlackSettings(
        bot_token=SecretStr(BOT_TOKEN),
        app_token=SecretStr(APP_TOKEN),
        base_url=slack.api_url,
        ping_interval_s=0.1,
        sweep_s=0.1,
        **{"questions_per_person": 0, "questions_per_channel": 0, **more},
    )
    return load_settings(office.home).model_copy(update={"slack": section})


@asynccontextmanager
async def open_workplace(
    office: Office, *, slack: SlackServer | None = None, **settings: Any
) -> AsyncIterator[Workplace]:
    """Let the assistant work in a workspace until the block ends."""
    if slack is None:
        async with (
            serve_workspace(build_workspace()) as served,
            open_workplace(office, slack=served, **settings) as workplace,
        ):
            yield workplace
        return
    clock = FixedClock(parse_moment(TODAY))
    async with open_product(settings_for(slack, office, **settings), clock) as product:
        stop = asyncio.Event()
        serving = asyncio.create_task(serve_slack(product, stop))
        connected = asyncio.create_task(slack.delivery.sockets.wait_connected())
        if not slack.delivery.request_url:
            await asyncio.wait({serving, connected}, return_when=asyncio.FIRST_COMPLETED)
        try:
            yield Workplace(slack=slack, product=product)
        finally:
            connected.cancel()
            stop.set()
            await serving

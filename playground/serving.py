"""A company's chat, wiki, notes and mail on this machine, and the product at work in it.

Everything runs through the code that production runs: the bot connects to the workspace as to
Slack, the scheduler reads the wiki and the notes as it reads Confluence and Notion, and mail goes
out over SMTP.
"""

import asyncio
import contextlib
import errno
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import SecretStr

from bot.bootstrap import open_admin_pages
from bot.commands.context import CommandContext
from bot.commands.output import print_json, print_notice
from bot.commands.sync import describe, sync_source
from bot.serving import Role, serve_roles
from core.admin_settings import AdminSettings
from core.chat_settings import SlackSettings
from core.clock import Clock, SystemClock, parse_moment
from core.errors import SettingsError
from core.logging import configure_logging
from core.settings import (
    DEFAULT_HOME,
    MailSettings,
    SchedulerSettings,
    Settings,
    load_settings,
)
from core.skill_settings import TrackerSettings
from playground.company import Company, open_company
from playground.company_records import copy_skills
from playground.home import FILES, LOCK, empty_home, write_settings
from playground.jira.board import Board
from playground.jira.projects import read_projects
from playground.jira.server import JiraServer, serve_jira
from playground.mail import Mailbox, serve_mail
from playground.slack.server import APP_TOKEN, BOT_TOKEN, SlackServer, serve_slack
from playground.slack.workspace import (
    BOT_USER_ID,
    OTHER_TEAM_ID,
    Member,
    Room,
    Workspace,
)

PLAYGROUND_HOME = ".zhixing-playground"
# The sample company's "today", so that questions about this month have an answer.
TODAY = "2026-10-15"
SYNC_S = 3.0
# What is kept of an earlier run: vectors, which take longest to make.
VECTORS = "vectors.sqlite3"
MAIL_DOMAIN = "playground.example"
# What skills call the ticket system.
DESK = "desk"
SHARED_ROOM, VISITOR = "partners", "U0VISITOR"
_HOSTS_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Where things are served; 0 = at a free port."""

    slack: int = 0
    wiki: int = 0
    notion: int = 0
    mail: int = 0
    jira: int = 0
    admin: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Playground:
    """Everything that runs."""

    slack: SlackServer
    company: Company
    mailbox: Mailbox
    jira: JiraServer
    admin_url: str
    admin_token: str

    @property
    def addresses(self) -> dict[str, str]:
        """Where people look, by name."""
        return {
            "slack": f"{self.slack.base_url}/",
            "confluence": self.company.wiki_url,
            "notion": self.company.notion_url,
            "mail": f"{self.slack.base_url}/mail",
            "tickets": self.jira.page_url,
            "admin": self.admin_url,
            "admin_token": self.admin_token,
            "smtp": f"smtp://127.0.0.1:{self.mailbox.port}",
        }


@dataclass(frozen=True, slots=True)
class MovedClock:
    """A clock that goes on as usual, from another moment."""

    ahead: timedelta

    @classmethod
    def starting_at(cls, moment: datetime) -> "MovedClock":
        """Return the clock that shows this moment now."""
        return cls(moment - SystemClock().now())

    def now(self) -> datetime:
        """Return the moved time in UTC."""
        return SystemClock().now() + self.ahead


async def play(
    settings: Settings, clock: Clock, folder: Path, ports: Ports, *, headless: bool
) -> None:
    """Run until told to stop; told so while things are still starting, give that up."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    ready = asyncio.Event()
    work = _serve(settings, clock, folder, ports, stop, ready, headless=headless)
    serving = asyncio.create_task(work)
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not (ready.is_set() or serving.done()):
        serving.cancel()
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await serving
    except OSError as error:
        if error.errno not in {errno.EADDRINUSE, errno.EACCES}:
            raise
        raise SettingsError(f"a port can't be used: {error.strerror}; choose others") from error
    print_notice("stopped")


async def _serve(
    settings: Settings,
    clock: Clock,
    folder: Path,
    ports: Ports,
    stop: asyncio.Event,
    ready: asyncio.Event,
    *,
    headless: bool,
) -> None:
    opening = open_playground(settings, clock, folder, stop, ports=ports)
    async with opening as playground:
        ready.set()
        print_json(playground.addresses)
        if not headless:
            print_notice(describe_addresses(playground.addresses))
        await stop.wait()
        print_notice("stopping …")


@asynccontextmanager
async def open_playground(
    settings: Settings,
    clock: Clock,
    folder: Path,
    stop: asyncio.Event,
    *,
    ports: Ports = Ports(),
) -> AsyncIterator[Playground]:
    """Serve everything, sync the company and let the bot and the scheduler work in it.

    Raises:
        SettingsError: The folder is not of the form.
        OSError: A port can't be used.
    """
    mailbox = Mailbox()
    workspace = await asyncio.to_thread(load_workspace, folder)
    board = Board(await asyncio.to_thread(read_projects, folder), clock=clock)
    async with (
        serve_jira(board, port=ports.jira) as jira,
        serve_mail(mailbox, port=ports.mail),
        serve_slack(workspace, port=ports.slack, mailbox=mailbox) as slack,
        open_company(
            connect(settings, slack, mailbox, jira, folder),
            clock,
            folder,
            wiki_port=ports.wiki,
            notion_port=ports.notion,
            leads_here=True,
        ) as company,
        open_admin_pages(
            company.product, AdminSettings(port=ports.admin, break_glass=True)
        ) as admin,
    ):
        playground = Playground(
            slack=slack,
            company=company,
            mailbox=mailbox,
            jira=jira,
            admin_url=admin.address,
            admin_token=await admin.make_token(),
        )
        addresses = playground.addresses
        slack.front.links = {
            "wiki": addresses["confluence"],
            "notion": addresses["notion"],
            "tickets": addresses["tickets"],
            "admin": addresses["admin"],
        }
        await sync_company(company, settings)
        async with _serve_product(playground, stop):
            yield playground


@asynccontextmanager
async def _serve_product(playground: Playground, stop: asyncio.Event) -> AsyncIterator[None]:
    """Let the bot and the scheduler run, once the bot listens."""
    serving = asyncio.create_task(serve_roles(playground.company.product, Role.ALL, stop))
    listening = asyncio.create_task(playground.slack.delivery.sockets.wait_connected())
    try:
        await asyncio.wait({serving, listening}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            await serving
        yield
    finally:
        listening.cancel()
        stop.set()
        await serving


async def sync_company(company: Company, settings: Settings) -> None:
    """Bring everything in for the first time, and say so."""
    if FILES in settings.sources:
        print_notice("reading the company's files …")
        source = settings.sources[FILES]
        report = await sync_source(company.product, FILES, source, accept_deletions=False)
        print_notice(f"  {describe(report)}")
    print_notice("reading its wiki and its notes; the first time this takes a minute or two …")
    step = await company.sync()
    print_notice(f"  {describe(step.report)}")


def connect(
    settings: Settings, slack: SlackServer, mailbox: Mailbox, jira: JiraServer, folder: Path
) -> Settings:
    """Return the settings with the stand-ins in place of whatever chat, mail and tickets they name.

    Skills of the company's folder come to those the home has.
    """
    copy_skills(folder, settings)
    desk = TrackerSettings.model_validate(jira.settings())
    return settings.model_copy(
        update={
            # They are served beside, at a port of the playground's own.
            "admin": AdminSettings(is_served=False),
            "trackers": {**settings.trackers, DESK: desk},
            "slack": SlackSettings(
                bot_token=SecretStr(BOT_TOKEN),
                app_token=SecretStr(APP_TOKEN),
                base_url=slack.api_url,
                # People join and leave before one's eyes here.
                members_fresh_s=1.0,
            ),
            "mail": MailSettings(
                host="127.0.0.1",
                port=mailbox.port,
                sender=f"zhixing@{MAIL_DOMAIN}",
                security="none",
            ),
            "scheduler": SchedulerSettings(
                incremental_s=SYNC_S,
                rights_s=2 * SYNC_S,
                reconciliation_s=20 * SYNC_S,
                poll_s=0.5,
                busy_retry_s=1.0,
                stop_timeout_s=5.0,
            ),
        }
    )


def load_workspace(folder: Path) -> Workspace:
    """Load a company's chat, with one more channel that is shared with another organisation.

    Raises:
        SettingsError: The folder is not of the form.
    """
    workspace = Workspace.load(folder)
    present = [one for one in workspace.members.values() if not (one.deleted or one.is_bot)]
    hosts = [one.user_id for one in present if not one.is_restricted][:_HOSTS_SHOWN]
    guests = [one.user_id for one in present if one.is_restricted]
    visitor = Member(
        user_id=VISITOR,
        name="visitor",
        real_name="Robin Ferris",
        team_id=OTHER_TEAM_ID,
        is_stranger=True,
    )
    workspace.add_member(visitor)
    workspace.add_room(
        Room(
            channel_id="C0PARTNERS",
            name=SHARED_ROOM,
            kind="channel",
            members=[*hosts, *guests, VISITOR, BOT_USER_ID],
            topic="与外部伙伴共享 Shared with a partner",
            is_ext_shared=True,
        )
    )
    return workspace


def describe_addresses(addresses: dict[str, str]) -> str:
    """Say in words where to look."""
    return (
        f"\nReady. Open the chat: {addresses['slack']}\n"
        f"  wiki: {addresses['confluence']} · notes: {addresses['notion']} · "
        f"mail: {addresses['mail']} · tickets: {addresses['tickets']}\n"
        f"  traces: {addresses['admin']} · token: {addresses['admin_token']}\n"
        "Ask “@Zhixing …” in a channel, edit a page in the wiki, ask again: it knows within "
        "seconds.\nStop with Ctrl-C."
    )


def choose_clock(context: CommandContext, *, is_sample: bool) -> Clock:
    """Return a clock that goes on from `--now`, or from the sample company's own day."""
    if context.now is not None:
        return MovedClock.starting_at(context.now)
    return MovedClock.starting_at(parse_moment(TODAY)) if is_sample else SystemClock()


def choose_home(home: Path) -> Path:
    """Return the folder to work in: its own, unless another one was asked for."""
    return Path(PLAYGROUND_HOME) if home == Path(DEFAULT_HOME) else home


def prepare_home(home: Path, folder: Path) -> Settings:
    """Return the settings of a fresh home, or of the one that was asked for."""
    chosen = choose_home(home)
    if chosen != home:
        empty_home(chosen, keep={VECTORS, LOCK})
    write_settings(chosen, folder)
    settings = load_settings(chosen)
    configure_logging(level=settings.logging.level, is_json=settings.logging.json_lines)
    return settings

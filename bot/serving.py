"""What a serving process does, one function a role, and the jobs it does them with."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import structlog

from bot.agent.action_store import purge_actions
from bot.agent.confirmation import Confirmation
from bot.agent.wiring import build_confirmation
from bot.assembly import build_turn_store
from bot.bootstrap import Product, open_admin_pages, open_source
from bot.commands.output import print_notice
from bot.commands.progress import TerminalProgress
from bot.inbox.purging import purge_inbox
from bot.index_switch import describe, prepare_index
from core.errors import PortTakenError, SettingsError
from core.settings import Settings
from knowledge.runs import RunKind, StartedBy
from knowledge.source import Source
from knowledge.sync_lock import RunInTheWayError
from scheduler.jobs import Job, build_house_jobs, build_jobs
from scheduler.service import SchedulerService
from scheduler.source_jobs import JobOutcome, SourceJobs

INDEX_RETRY_S = 2.0

_log = structlog.get_logger(__name__)


class Role(StrEnum):
    """A part that a process may take."""

    BOT = "bot"
    SCHEDULER = "scheduler"
    ADMIN = "admin"
    ALL = "all"


Serve = Callable[[Product, asyncio.Event], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """Does the jobs of sources, and those of the house itself."""

    sources: SourceJobs
    confirmation: Confirmation

    async def run(self, source: str, kind: RunKind, started_by: StartedBy) -> JobOutcome:
        """See `JobRunner`; the house's own leave no entry in the history of runs."""
        if kind is not RunKind.EXPIRY:
            return await self.sources.run(source, kind, started_by)
        await self.confirmation.expire()
        await self.confirmation.recover()
        return JobOutcome()


def build_runner(product: Product) -> Jobs:
    """Build what does jobs, from the parts of the product."""
    sources = _build_source_runner(product)
    return Jobs(sources=sources, confirmation=build_confirmation(product))


def _build_source_runner(product: Product) -> SourceJobs:
    state = product.state
    settings = state.settings

    def open_by_name(name: str) -> Source:
        if name not in settings.sources:
            raise SettingsError(f"there is no source {name!r} any more; restart `zhixing serve`")
        return open_source(name, settings.sources[name], state)

    return SourceJobs(
        lock=product.sync_lock,
        logs=state.logs,
        directory=state.directory,
        open_source=open_by_name,
        clock=state.clock,
        history_days=settings.scheduler.history_days,
        housekeeping=(
            state.traces.purge,
            build_turn_store(settings, state.database).purge,
            partial(purge_inbox, state.database),
            partial(purge_actions, state.database),
        ),
    )


def build_all_jobs(product: Product) -> list[Job]:
    """Return the jobs of the configured sources, and the house's own.

    Raises:
        SettingsError: There is neither a source nor a mail server that actions could wait for, or
            intervals are set for a source that is not configured.
    """
    settings = product.state.settings
    if not (settings.sources or settings.mail.is_configured):
        raise SettingsError(
            "there is nothing to schedule: sync a folder (`zhixing sync FOLDER`) or add "
            "[sources.NAME] to zhixing.toml"
        )
    return declare_jobs(settings)


def declare_jobs(settings: Settings) -> list[Job]:
    """Return the jobs that the settings ask for.

    Raises:
        SettingsError: Intervals are set for a source that is not configured.
    """
    jobs = build_jobs(list(settings.sources), settings.scheduler)
    return [*build_house_jobs(expiry_s=settings.actions.expiry_s), *jobs]


async def serve_scheduler(product: Product, stop: asyncio.Event) -> None:
    """Run the jobs of all sources whenever this process leads, until told to stop."""
    jobs = build_all_jobs(product)
    await _prepare(product, stop)
    state = product.state
    service = SchedulerService(
        jobs, build_runner(product), state.database, state.settings.scheduler
    )
    await service.serve(stop)


async def serve_bot(product: Product, stop: asyncio.Event) -> None:
    """Answer in the chats that are configured, until told to stop.

    Raises:
        SettingsError: None is configured, or one of them is not as it must be.
    """
    if not product.state.settings.slack.is_configured:
        raise SettingsError(
            "there is no chat to answer in; set SLACK_BOT_TOKEN and SLACK_APP_TOKEN (docs/slack.md)"
        )
    product.conversation.parts.router.start()
    await _wait_for_index(product, stop)
    if stop.is_set():
        return
    # Slack's own packages take long to load and few commands need them.
    from bot.handlers.slack.serving import serve_slack  # noqa: PLC0415

    await serve_slack(product, stop)


async def serve_admin(product: Product, stop: asyncio.Event) -> None:
    """Serve the pages for whoever operates the product, until told to stop.

    Raises:
        SettingsError: They can't be served as the settings say.
    """
    async with open_admin_pages(product, product.state.settings.admin) as pages:
        print_notice(f"pages: {pages.address} (a token: zhixing admin)")
        await stop.wait()


async def serve_admin_beside(product: Product, stop: asyncio.Event) -> None:
    """Serve the pages beside other parts, which go on when another process has the port."""
    try:
        await serve_admin(product, stop)
    except PortTakenError as error:
        _log.warning("admin_not_served", reason=str(error))


ROLES: Mapping[Role, Serve] = {
    Role.BOT: serve_bot,
    Role.SCHEDULER: serve_scheduler,
    Role.ADMIN: serve_admin,
}


async def serve_roles(product: Product, role: Role, stop: asyncio.Event) -> None:
    """Take one part, or all that are configured, until told to stop; one that fails ends all."""
    chosen = [ROLES[one] for one in _choose(product, role)]
    if role is Role.ALL and product.state.settings.admin.is_served:
        chosen.append(serve_admin_beside)
    async with asyncio.TaskGroup() as group:
        for serve in chosen:
            group.create_task(_serve(serve, product, stop))


def _choose(product: Product, role: Role) -> list[Role]:
    if role is not Role.ALL:
        return [role]
    settings = product.state.settings
    if not settings.slack.is_configured:
        return [Role.SCHEDULER]
    has_jobs = settings.sources or settings.mail.is_configured
    return [Role.BOT, Role.SCHEDULER] if has_jobs else [Role.BOT]


async def _serve(serve: Serve, product: Product, stop: asyncio.Event) -> None:
    await serve(product, stop)


async def _wait_for_index(product: Product, stop: asyncio.Event) -> None:
    """Wait until the index in use is the one the settings ask for: another can't be searched."""
    while not stop.is_set():
        active = await product.state.active_index.load()
        if active in {None, product.shape}:
            return
        _log.warning("bot_waits_for_index", wanted=describe(product.shape))
        await asyncio.sleep(INDEX_RETRY_S)


async def _prepare(product: Product, stop: asyncio.Event) -> None:
    """Build the index the settings ask for, once no run is writing to the one in use."""
    while not stop.is_set() and await product.state.active_index.load() != product.shape:
        try:
            with TerminalProgress() as progress:
                await prepare_index(product, progress)
        except RunInTheWayError as error:
            _log.info("index_waits", reason=str(error))
            await asyncio.sleep(INDEX_RETRY_S)

"""What a serving process does, one function a role, and the jobs it does them with."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from functools import partial

import structlog

from bot.bootstrap import Product, open_source
from bot.commands.progress import TerminalProgress
from bot.inbox.store import purge_inbox
from bot.index_switch import prepare_index
from core.errors import SettingsError
from knowledge.source import Source
from knowledge.sync_lock import RunInTheWayError
from scheduler.jobs import Job, build_jobs
from scheduler.service import SchedulerService
from scheduler.source_jobs import SourceJobs

INDEX_RETRY_S = 2.0

_log = structlog.get_logger(__name__)


class Role(StrEnum):
    """A part that a process may take."""

    SCHEDULER = "scheduler"
    ALL = "all"


Serve = Callable[[Product, asyncio.Event], Awaitable[None]]


def build_runner(product: Product) -> SourceJobs:
    """Build what does jobs, from the parts of the product."""
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
        housekeeping=(state.traces.purge, partial(purge_inbox, state.database)),
    )


def build_source_jobs(product: Product) -> list[Job]:
    """Return the jobs of the configured sources.

    Raises:
        SettingsError: None is configured, or intervals are set for one that is not.
    """
    settings = product.state.settings
    if not settings.sources:
        raise SettingsError(
            "there is nothing to schedule: sync a folder (`zhixing sync FOLDER`) or add "
            "[sources.NAME] to zhixing.toml"
        )
    return build_jobs(list(settings.sources), settings.scheduler)


async def serve_scheduler(product: Product, stop: asyncio.Event) -> None:
    """Run the jobs of all sources whenever this process leads, until told to stop."""
    jobs = build_source_jobs(product)
    await _prepare(product, stop)
    state = product.state
    service = SchedulerService(
        jobs, build_runner(product), state.database, state.settings.scheduler
    )
    await service.serve(stop)


ROLES: Mapping[Role, Serve] = {Role.SCHEDULER: serve_scheduler}


async def serve_roles(product: Product, role: Role, stop: asyncio.Event) -> None:
    """Take one part, or all of them, until told to stop; one that fails ends the others."""
    chosen = list(ROLES.values()) if role is Role.ALL else [ROLES[role]]
    async with asyncio.TaskGroup() as group:
        for serve in chosen:
            group.create_task(_serve(serve, product, stop))


async def _serve(serve: Serve, product: Product, stop: asyncio.Event) -> None:
    await serve(product, stop)


async def _prepare(product: Product, stop: asyncio.Event) -> None:
    """Build the index the settings ask for, once no run is writing to the one in use."""
    while not stop.is_set() and await product.state.active_index.load() != product.shape:
        try:
            async with product.sync_lock.hold_index():
                with TerminalProgress() as progress:
                    await prepare_index(product, progress)
        except RunInTheWayError as error:
            _log.info("index_waits", reason=str(error))
            await asyncio.sleep(INDEX_RETRY_S)

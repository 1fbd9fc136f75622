"""A runner that notes what it was asked to do, and does as it is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from core.database import Database
from core.settings import SchedulerSettings
from knowledge.runs import RunKind, StartedBy
from scheduler.jobs import build_jobs
from scheduler.service import SchedulerService
from scheduler.source_jobs import JobOutcome

QUICK = SchedulerSettings(
    incremental_s=3600,
    reconciliation_s=0,
    rights_s=0,
    pruning_s=0,
    jitter_share=0,
    busy_retry_s=0.05,
    lease_s=2.0,
    poll_s=0.02,
    stop_timeout_s=5.0,
)


@dataclass
class RecordingRunner:
    """Attributes:
    errors: Raised one after the other, then none.
    gate: Runs wait until it is set.
    """

    errors: list[Exception] = field(default_factory=list)
    outcome: JobOutcome = field(default_factory=JobOutcome)
    gate: asyncio.Event | None = None
    started: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    most_at_once: int = 0
    _now: int = 0
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def run(self, source: str, kind: RunKind, started_by: StartedBy) -> JobOutcome:
        self.started.append(f"{source}/{kind} by {started_by}")
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        await self._tell()
        try:
            if self.gate is not None:
                await self.gate.wait()
            await asyncio.sleep(0)
            if self.errors:
                raise self.errors.pop(0)
            self.ended.append(f"{source}/{kind}")
            return self.outcome
        finally:
            self._now -= 1
            await self._tell()

    async def wait_for(self, count: int) -> None:
        """Wait until so many runs have begun."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.started) >= count)

    async def wait_until_idle(self) -> None:
        """Wait until no run is under way."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._now == 0)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


@asynccontextmanager
async def serving(
    database: Database,
    runner: RecordingRunner,
    settings: SchedulerSettings = QUICK,
    *,
    sources: tuple[str, ...] = ("wiki",),
) -> AsyncIterator[asyncio.Event]:
    """Serve for the length of a block, then stop gracefully; gives the event that stops it."""
    service = SchedulerService(build_jobs(sources, settings), runner, database, settings)
    stop = asyncio.Event()
    task = asyncio.create_task(service.serve(stop))
    try:
        yield stop
    finally:
        stop.set()
        await task

"""Any number of processes serve; one of them leads, and another takes over when it ends."""

import asyncio
from collections.abc import Sequence

import structlog

from core.clock import SystemClock
from core.database import Database
from core.errors import TransientError
from core.leases import FencedDatabase, Lease, LeaseLostError, LeaseStore
from core.process_identity import name_process
from core.settings import SchedulerSettings
from scheduler.jobs import Job, JobStore
from scheduler.leader import Leader
from scheduler.source_jobs import JobRunner

LEADER_LEASE = "scheduler"

_log = structlog.get_logger(__name__)


class SchedulerService:
    """Serves until it is told to stop.

    Args:
        jobs: All of them, the same in every process.
        runner: Does them.
        database: Where jobs and leases are.
        settings: When jobs run, and how long leases last.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        runner: JobRunner,
        database: Database,
        settings: SchedulerSettings,
    ) -> None:
        self._jobs = jobs
        self._runner = runner
        self._database = database
        self._settings = settings
        # Leases and due times are about real time, whatever clock questions are asked by.
        self._clock = SystemClock()
        self._leases = LeaseStore(database, self._clock)

    async def serve(self, stop: asyncio.Event) -> None:
        """Lead whenever nobody else does; return once told to stop and drained."""
        while not stop.is_set():
            try:
                await self._try_to_lead(stop)
            except TransientError as error:
                _log.warning("leading_failed", reason=str(error))
            await _wait(stop, self._settings.poll_s)

    async def _try_to_lead(self, stop: asyncio.Event) -> None:
        ttl_s = self._settings.lease_s
        lease = await self._leases.acquire(LEADER_LEASE, owner=name_process(), ttl_s=ttl_s)
        if lease is None:
            return
        _log.info("leading", fence=lease.fence)
        keeping = asyncio.create_task(self._leases.keep(lease, ttl_s=ttl_s))
        try:
            await self._lead(lease, stop, keeping)
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            await self._leases.release(lease)
            _log.info("no_longer_leading", fence=lease.fence)

    async def _lead(self, lease: Lease, stop: asyncio.Event, keeping: asyncio.Task[None]) -> None:
        store = JobStore(FencedDatabase(self._database, lease))
        leader = Leader(self._jobs, self._runner, store, self._settings, clock=self._clock)
        timeout_s = self._settings.stop_timeout_s
        try:
            await leader.start()
            while not (stop.is_set() or keeping.done()):
                await leader.look()
                await _wait(stop, self._settings.poll_s)
            if keeping.done():
                timeout_s = 0.0
        except LeaseLostError:
            # The new leader starts the same jobs; their source leases keep them apart from ours.
            timeout_s = 0.0
            raise
        finally:
            await leader.stop(timeout_s=timeout_s)


async def find_leader(database: Database) -> Lease | None:
    """Return the lease of the process that leads now; None when none does."""
    return await LeaseStore(database, SystemClock()).find(LEADER_LEASE)


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    """Wait for the time to pass, or to be told to stop."""
    waiting = asyncio.ensure_future(stop.wait())
    await asyncio.wait({waiting}, timeout=seconds)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)

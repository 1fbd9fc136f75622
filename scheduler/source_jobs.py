"""What a job does: one run over its source, under the source's lease."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.clock import Clock
from core.errors import ZhixingError
from knowledge.directory import Directory
from knowledge.ingestion import SyncRun
from knowledge.rights_run import RightsRun
from knowledge.run_logs import RunLogs
from knowledge.run_record import record_run
from knowledge.runs import RunKind, StartedBy
from knowledge.source import Source
from knowledge.sync_lock import RunTools, SyncLock
from knowledge.version_pruning import prune_versions

OpenSource = Callable[[str], Source]
Housekeeping = Callable[[datetime], Awaitable[object]]
"""Drops what is older than it may be; other packages hang theirs in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """What came of a run.

    Attributes:
        needs_reading: Texts have to be read anew, so that the next incremental run is due now.
    """

    needs_reading: bool = False


class JobRunner(Protocol):
    """Does jobs."""

    async def run(self, source: str, kind: RunKind, started_by: StartedBy) -> JobOutcome:
        """Do one run, recorded in the history of runs whatever comes of it.

        Raises:
            RunInTheWayError: Another run has the source or the index; nothing was recorded.
            ZhixingError: It failed.
        """
        ...


class SourceJobs:
    """Runs over the configured sources."""

    def __init__(
        self,
        *,
        lock: SyncLock,
        logs: RunLogs,
        directory: Directory,
        open_source: OpenSource,
        clock: Clock,
        history_days: int,
        housekeeping: Sequence[Housekeeping] = (),
    ) -> None:
        """Prepare.

        Args:
            lock: Lets runs in.
            logs: For what happens before a run has its own.
            directory: Where members of a source's groups go.
            open_source: Opens a source by its name.
            clock: What time it is.
            history_days: For how long runs are remembered.
            housekeeping: Done with every pruning.
        """
        self._lock = lock
        self._logs = logs
        self._directory = directory
        self._open_source = open_source
        self._clock = clock
        self._history_days = history_days
        self._housekeeping = housekeeping

    async def run(self, source: str, kind: RunKind, started_by: StartedBy) -> JobOutcome:
        """See `JobRunner`."""
        async with self._lock.hold(source, kind) as tools:
            if kind is RunKind.PRUNING:
                return await self._prune(source, tools, started_by)
            async with self._open(source, kind, started_by) as opened:
                if kind is RunKind.RIGHTS:
                    return await self._follow_rights(opened, tools, started_by)
                run = SyncRun(opened, tools.parts, tools.logs, kind=kind, started_by=started_by)
                await run.run()
                return JobOutcome()

    async def _follow_rights(
        self, source: Source, tools: RunTools, started_by: StartedBy
    ) -> JobOutcome:
        report = await RightsRun(
            source, tools.parts, tools.logs, directory=self._directory, started_by=started_by
        ).run()
        return JobOutcome(needs_reading=report.owed > 0)

    async def _prune(self, source: str, tools: RunTools, started_by: StartedBy) -> JobOutcome:
        await prune_versions(
            source,
            tools.parts,
            tools.logs,
            history_days=self._history_days,
            started_by=started_by,
        )
        for clean in self._housekeeping:
            await clean(self._clock.now())
        return JobOutcome()

    @asynccontextmanager
    async def _open(self, name: str, kind: RunKind, started_by: StartedBy) -> AsyncIterator[Source]:
        try:
            source = self._open_source(name)
        except ZhixingError:
            # A source that can't even be opened has failed as well, and says so in the history.
            runs, clock = self._logs.runs, self._clock
            async with record_run(runs, name, clock, kind=kind, started_by=started_by):
                raise
        try:
            yield source
        finally:
            await source.close()

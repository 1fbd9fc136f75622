"""What the leading process does: APScheduler over the jobs of all sources."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

from core.clock import Clock
from core.errors import RateLimitedError, ZhixingError
from core.leases import LeaseLostError
from core.settings import SchedulerSettings
from knowledge.runs import RunKind, StartedBy
from knowledge.sync_lock import RunInTheWayError
from scheduler.jobs import Job, JobState, JobStore
from scheduler.source_jobs import JobOutcome, JobRunner

FIRST_RETRY_S = 60.0
MOST_DOUBLINGS = 20
_WRITE_NO_TEXT = frozenset({RunKind.RIGHTS, RunKind.EXPIRY})

_log = structlog.get_logger(__name__)


class Leader:
    """Runs jobs when they are due, for as long as this process leads.

    APScheduler tells when; what is due, paused or asked for stands in the database, so that the
    next leader goes on from there. A run missed any number of times is made up for once.

    Args:
        jobs: All of them.
        runner: Does them.
        store: How they stand; fenced by the leader's lease.
        settings: When they run.
        clock: The machine's own.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        runner: JobRunner,
        store: JobStore,
        settings: SchedulerSettings,
        *,
        clock: Clock,
    ) -> None:
        self._jobs = {job.job_id: job for job in jobs}
        self._runner = runner
        self._store = store
        self._settings = settings
        self._clock = clock
        self._timer = AsyncIOScheduler(timezone=UTC)
        self._states: dict[str, JobState] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._sources: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._index = asyncio.Lock()

    @property
    def running(self) -> list[str]:
        """The ids of the jobs under way or waiting for their source."""
        return sorted(self._running)

    async def start(self) -> None:
        """Begin to schedule.

        Raises:
            LeaseLostError: Another process leads.
        """
        await self._store.declare(list(self._jobs.values()))
        await self._load_states()
        now = self._clock.now()
        for job_id, job in self._jobs.items():
            if not job.interval_s:
                continue
            due = self._states[job_id].next_run_at or now
            self._timer.add_job(
                self._fire,
                IntervalTrigger(
                    seconds=job.interval_s,
                    jitter=job.interval_s * self._settings.jitter_share or None,
                    timezone=UTC,
                ),
                args=[job],
                id=job_id,
                next_run_time=max(due, now),
                # However late, and however often it was missed: once.
                misfire_grace_time=None,
                coalesce=True,
                max_instances=1,
            )
            if self._states[job_id].is_paused:
                self._timer.pause_job(job_id)
        self._timer.start()

    async def look(self) -> None:
        """Do what was asked for meanwhile: runs, pauses.

        Raises:
            LeaseLostError: Another process leads.
        """
        before = self._states
        await self._load_states()
        for job_id, state in self._states.items():
            job = self._jobs[job_id]
            if job.interval_s and state.is_paused != before[job_id].is_paused:
                self._follow_pause(job, state)
            if state.requested_at is not None and job_id not in self._running:
                self._begin(job, StartedBy.PERSON)

    async def stop(self, *, timeout_s: float) -> None:
        """Start nothing any more, let runs end, and break off those that take too long.

        What is broken off is resumed by the next leader.
        """
        if self._timer.running:
            self._timer.pause()
        tasks = set(self._running.values())
        if tasks:
            _log.info("jobs_draining", jobs=self.running)
            _, late = await asyncio.wait(tasks, timeout=timeout_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._timer.running:
            self._timer.shutdown(wait=False)

    async def _load_states(self) -> None:
        states = {f"{one.source}/{one.kind}": one for one in await self._store.load()}
        self._states = {
            job_id: states.get(job_id, JobState(source=job.source, kind=job.kind))
            for job_id, job in self._jobs.items()
        }

    def _follow_pause(self, job: Job, state: JobState) -> None:
        if state.is_paused:
            self._timer.pause_job(job.job_id)
            return
        due = state.next_run_at or self._clock.now()
        self._timer.modify_job(job.job_id, next_run_time=max(due, self._clock.now()))

    async def _fire(self, job: Job) -> None:
        # The timer's own task ends at once: it would be cancelled at shutdown.
        if job.job_id not in self._running:
            self._begin(job, StartedBy.SCHEDULE)

    def _begin(self, job: Job, started_by: StartedBy) -> None:
        task = asyncio.create_task(self._run(job, started_by), name=job.job_id)
        self._running[job.job_id] = task
        task.add_done_callback(lambda _: self._running.pop(job.job_id, None))

    async def _run(self, job: Job, started_by: StartedBy) -> None:
        """Run a job once its source, and the index when it writes that, are free."""
        try:
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(self._sources[job.source])
                if job.kind not in _WRITE_NO_TEXT:
                    await stack.enter_async_context(self._index)
                await self._run_now(job, started_by)
        except LeaseLostError as error:
            _log.warning("job_given_up", job=job.job_id, reason=str(error))
        except Exception:  # noqa: BLE001 - one job must never end the others
            _log.exception("job_not_noted", job=job.job_id)

    async def _run_now(self, job: Job, started_by: StartedBy) -> None:
        began = self._clock.now()
        await self._store.note_start(job, began)
        try:
            outcome = await self._runner.run(job.source, job.kind, started_by)
        except RunInTheWayError as error:
            _log.info("job_put_off", job=job.job_id, reason=str(error))
            await self._put_off(job, started_by)
        except LeaseLostError:
            raise
        except ZhixingError as error:
            _log.warning("job_failed", job=job.job_id, reason=str(error))
            await self._note_failure(job, error)
        except Exception as error:  # noqa: BLE001 - recorded, and tried again
            _log.exception("job_failed", job=job.job_id)
            await self._note_failure(job, error)
        else:
            await self._note_success(job, outcome)

    async def _put_off(self, job: Job, started_by: StartedBy) -> None:
        if started_by is StartedBy.PERSON:
            await self._store.request(job.source, job.kind, self._clock.now())
        next_run_at = self._in_seconds(self._settings.busy_retry_s)
        await self._store.note_next(job, next_run_at)
        self._move(job, next_run_at)

    async def _note_failure(self, job: Job, error: Exception) -> None:
        failures = self._states[job.job_id].failures_in_a_row + 1
        wait_s = FIRST_RETRY_S * 2 ** min(failures - 1, MOST_DOUBLINGS)
        if job.interval_s:
            wait_s = min(wait_s, job.interval_s)
        if isinstance(error, RateLimitedError):
            wait_s = max(wait_s, error.retry_after_s)
        await self._end(job, failures=failures, wait_s=wait_s)

    async def _note_success(self, job: Job, outcome: JobOutcome) -> None:
        await self._end(job, failures=0, wait_s=self._choose_wait_s(job))
        if outcome.needs_reading:
            reading = self._jobs[f"{job.source}/{RunKind.INCREMENTAL}"]
            await self._store.note_next(reading, self._clock.now())
            self._move(reading, self._clock.now())

    def _choose_wait_s(self, job: Job) -> float:
        """Return the time to the next run as the timer has it, jitter included."""
        timed = self._timer.get_job(job.job_id)
        if timed is None or timed.next_run_time is None:
            return job.interval_s
        due: datetime = timed.next_run_time
        return max((due - self._clock.now()).total_seconds(), 0.0)

    async def _end(self, job: Job, *, failures: int, wait_s: float) -> None:
        next_run_at = self._in_seconds(wait_s) if job.interval_s else None
        await self._store.note_end(job, failures=failures, next_run_at=next_run_at)
        if next_run_at is not None:
            self._move(job, next_run_at)

    def _move(self, job: Job, next_run_at: datetime) -> None:
        timed = self._timer.get_job(job.job_id)
        # A paused job has no next run and must not get one.
        if timed is not None and timed.next_run_time is not None:
            timed.modify(next_run_time=next_run_at)

    def _in_seconds(self, seconds: float) -> datetime:
        return self._clock.now() + timedelta(seconds=seconds)

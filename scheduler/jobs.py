"""Scheduled jobs: what they are, and how they stand, in the database for every process to see."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, select, tuple_, update
from sqlalchemy.engine import Connection

from core.database import Database
from core.errors import SettingsError
from core.settings import JobIntervals, SchedulerSettings
from core.tables import insert_into
from knowledge.runs import RunKind
from scheduler.job_table import jobs

JOB_KINDS = (RunKind.INCREMENTAL, RunKind.RECONCILIATION, RunKind.RIGHTS, RunKind.PRUNING)
"""What is done for every source, in the order it is shown."""
HOUSE = "assistant"
"""Stands for a source in jobs that are about none."""
_ORDER = (*JOB_KINDS, RunKind.EXPIRY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One kind of run over one source, again and again.

    Attributes:
        interval_s: From the end of one run to the next one; 0 = only when asked for.
    """

    source: str
    kind: RunKind
    interval_s: float

    @property
    def job_id(self) -> str:
        """A name for logs and APScheduler."""
        return f"{self.source}/{self.kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """How a job stands.

    Attributes:
        requested_at: Since when a person waits for a run that has not begun.
        next_run_at: When it is due; in the past while it runs or when it was missed; None = it
            has never been due.
        failures_in_a_row: 0 after a run that came to its end.
    """

    source: str
    kind: RunKind
    is_paused: bool = False
    requested_at: datetime | None = None
    next_run_at: datetime | None = None
    last_started_at: datetime | None = None
    failures_in_a_row: int = 0


def build_house_jobs(*, expiry_s: float) -> list[Job]:
    """Return the jobs that are about no source."""
    return [Job(source=HOUSE, kind=RunKind.EXPIRY, interval_s=expiry_s)]


def build_jobs(sources: Sequence[str], settings: SchedulerSettings) -> list[Job]:
    """Return the jobs of all sources, by source and kind.

    Raises:
        SettingsError: Intervals are set for a source that is not configured.
    """
    unknown = sorted(settings.sources.keys() - set(sources))
    if unknown:
        raise SettingsError(
            f"[scheduler.sources.{unknown[0]}] names no source; the sources are "
            f"{', '.join(sorted(sources)) or 'none'}"
        )
    return [
        Job(source=name, kind=kind, interval_s=_get_interval(settings, name, kind))
        for name in sorted(sources)
        for kind in JOB_KINDS
    ]


def _get_interval(settings: SchedulerSettings, source: str, kind: RunKind) -> float:
    own = settings.sources.get(source)
    name = f"{kind}_s"
    chosen: JobIntervals = own if own is not None and name in own.model_fields_set else settings
    interval: float = getattr(chosen, name)
    return interval


class JobStore:
    """Keeps how jobs stand."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def declare(self, declared: Sequence[Job]) -> None:
        """Make these the jobs there are; known ones keep their state, others go."""
        keys = [(job.source, str(job.kind)) for job in declared]

        def declare(connection: Connection) -> None:
            for source, kind in keys:
                new = insert_into(connection, jobs).values(
                    source=source, kind=kind, is_paused=False, failures_in_a_row=0
                )
                connection.execute(new.on_conflict_do_nothing())
            connection.execute(delete(jobs).where(tuple_(jobs.c.source, jobs.c.kind).not_in(keys)))

        await self._database.write(declare)

    async def load(self) -> list[JobState]:
        """Return all jobs, by source and kind."""
        order = {kind: place for place, kind in enumerate(_ORDER)}

        def load(connection: Connection) -> list[JobState]:
            rows = connection.execute(select(jobs)).mappings()
            states = [JobState(**{**row, "kind": RunKind(row["kind"])}) for row in rows]
            return sorted(states, key=lambda one: (one.source, order[one.kind]))

        return await self._database.read(load)

    async def set_paused(self, source: str, kinds: Collection[RunKind], *, is_paused: bool) -> None:
        """Pause or resume jobs of a source.

        Raises:
            SettingsError: There is no such source.
        """
        await self._change(source, kinds, {"is_paused": is_paused})

    async def request(self, source: str, kind: RunKind, at: datetime) -> None:
        """Ask the leader for a run as soon as possible, paused or not.

        Raises:
            SettingsError: There is no such source.
        """
        await self._change(source, [kind], {"requested_at": at})

    async def withdraw(self, source: str, kind: RunKind) -> None:
        """Take a request back, because somebody else has done the run."""
        await self._change(source, [kind], {"requested_at": None})

    async def note_start(self, job: Job, at: datetime) -> None:
        """Note that a run begins; until its end it counts as due, which makes up for a crash."""
        begun = {"requested_at": None, "last_started_at": at, "next_run_at": at}
        await self._change(job.source, [job.kind], begun)

    async def note_end(self, job: Job, *, failures: int, next_run_at: datetime | None) -> None:
        """Note how a run ended and when the next one is due."""
        ended = {"failures_in_a_row": failures, "next_run_at": next_run_at}
        await self._change(job.source, [job.kind], ended)

    async def note_next(self, job: Job, next_run_at: datetime) -> None:
        """Move the next run."""
        await self._change(job.source, [job.kind], {"next_run_at": next_run_at})

    async def _change(
        self, source: str, kinds: Collection[RunKind], values: Mapping[str, object]
    ) -> None:
        changed = update(jobs).where(*_is_one_of(source, kinds)).values(**values)
        count = await self._database.write(lambda connection: connection.execute(changed).rowcount)
        if not count:
            raise SettingsError(
                f"there is no job for source {source!r}; `zhixing jobs list` names them all"
            )


def _is_one_of(source: str, kinds: Collection[RunKind]) -> tuple[ColumnElement[bool], ...]:
    return jobs.c.source == source, jobs.c.kind.in_([str(kind) for kind in kinds])

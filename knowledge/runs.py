"""Sync runs and the cursors they resume from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NewType

from sqlalchemy import RowMapping, Select, delete, func, insert, select, update
from sqlalchemy.engine import Connection

from core.clock import SystemClock
from core.database import Database
from core.leases import LeaseStore
from core.tables import insert_into
from knowledge.ledger_tables import completeness, cursors, runs
from knowledge.source import Cursor

RunId = NewType("RunId", int)

SOURCE_LEASE = "source:"
"""In front of a source's name: the lease that a run over it is held by."""


class RunStatus(StrEnum):
    """How a run stands.

    Partial = something of it failed, the rest is done. Interrupted = its process ended in the
    middle of it, and no later run has begun; the next one goes on from there.
    """

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    DONE = "done"
    PARTIAL = "partial"
    FAILED = "failed"


class RunKind(StrEnum):
    """What a run does: follow changes, list everything, look at rights, drop old versions.

    `sync` is a person's run on the command line, which does what the source thinks best. `expiry`
    is about no source: it ends drafts of actions that nobody confirmed.
    """

    SYNC = "sync"
    INCREMENTAL = "incremental"
    RECONCILIATION = "reconciliation"
    RIGHTS = "rights"
    PRUNING = "pruning"
    FORGETTING = "forgetting"
    EXPIRY = "expiry"


CONTENT_KINDS = frozenset({RunKind.SYNC, RunKind.INCREMENTAL, RunKind.RECONCILIATION})
"""Runs that bring in documents; they share cursor and index, so one at a time does."""


class StartedBy(StrEnum):
    """Who wanted a run."""

    PERSON = "person"
    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run over one source.

    Attributes:
        counts: What it has done so far, by name.
        error: Why it failed, or what of it did; empty otherwise.
    """

    run_id: RunId
    source: str
    started_at: datetime
    ended_at: datetime | None
    status: RunStatus
    counts: Mapping[str, int]
    error: str
    kind: RunKind = RunKind.SYNC
    started_by: StartedBy = StartedBy.PERSON

    @property
    def is_broken(self) -> bool:
        """Tell whether it did not come to its end."""
        return self.status in {RunStatus.RUNNING, RunStatus.INTERRUPTED, RunStatus.FAILED}

    @property
    def seconds(self) -> float | None:
        """How long it took; None while it goes on."""
        return (self.ended_at - self.started_at).total_seconds() if self.ended_at else None


class RunLog:
    """Keeps runs and cursors."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start_run(
        self,
        source: str,
        at: datetime,
        *,
        kind: RunKind = RunKind.SYNC,
        started_by: StartedBy = StartedBy.PERSON,
    ) -> RunId:
        """Begin a run; one of the same source that never ended is marked as broken off."""
        broken = update(runs).where(runs.c.source == source, runs.c.status == RunStatus.RUNNING)
        begun = insert(runs).values(
            source=source,
            started_at=at,
            status=RunStatus.RUNNING,
            counts={},
            error="",
            kind=kind,
            started_by=started_by,
        )

        def start(connection: Connection) -> RunId:
            connection.execute(
                broken.values(status=RunStatus.FAILED, ended_at=at, error="broken off")
            )
            return RunId(connection.execute(begun.returning(runs.c.id)).scalar_one())

        return await self._database.write(start)

    async def save_counts(self, run_id: RunId, counts: Mapping[str, int]) -> None:
        """Note how far a run has come, for other processes to show."""
        saved = update(runs).where(runs.c.id == run_id).values(counts=dict(counts))
        await self._database.write(lambda connection: connection.execute(saved))

    async def end_run(
        self,
        run_id: RunId,
        status: RunStatus,
        counts: Mapping[str, int],
        at: datetime,
        *,
        error: str = "",
    ) -> None:
        """End a run."""
        ended = update(runs).where(runs.c.id == run_id)
        ended = ended.values(status=status, counts=dict(counts), ended_at=at, error=error)
        await self._database.write(lambda connection: connection.execute(ended))

    async def load_last_runs(self) -> dict[str, dict[RunKind, Run]]:
        """Return each source's latest run of each kind."""
        latest = select(func.max(runs.c.id)).group_by(runs.c.source, runs.c.kind)
        found: dict[str, dict[RunKind, Run]] = {}
        for run in await self._load(select(runs).where(runs.c.id.in_(latest)).order_by(runs.c.id)):
            found.setdefault(run.source, {})[run.kind] = run
        return found

    async def load_history(
        self, *, source: str | None = None, kind: RunKind | None = None, limit: int
    ) -> list[Run]:
        """Return the latest runs, newest first."""
        query = select(runs).order_by(runs.c.id.desc()).limit(limit)
        if source is not None:
            query = query.where(runs.c.source == source)
        if kind is not None:
            query = query.where(runs.c.kind == kind)
        return await self._load(query)

    async def drop_old_runs(self, source: str, before: datetime) -> int:
        """Forget runs that began before a moment, but the latest of each kind; returns how many."""
        latest = select(func.max(runs.c.id)).group_by(runs.c.source, runs.c.kind)
        # What a run counted is looked up as long as no later run has counted the same scope.
        counted = select(func.max(completeness.c.run_id)).group_by(
            completeness.c.source, completeness.c.scope
        )
        old = delete(runs).where(
            runs.c.source == source,
            runs.c.started_at < before,
            runs.c.id.not_in(latest),
            runs.c.id.not_in(counted),
        )
        return await self._database.write(lambda connection: connection.execute(old).rowcount)

    async def load_cursor(self, source: str) -> Cursor:
        """Return where the next run resumes; empty before the first."""
        query = select(cursors.c.cursor).where(cursors.c.source == source)
        found = await self._database.read(lambda connection: connection.scalar(query))
        return Cursor(found or "")

    async def save_cursor(self, source: str, cursor: Cursor) -> None:
        """Set where the next run resumes; save it last, when all before it is stored."""

        def save(connection: Connection) -> None:
            statement = insert_into(connection, cursors).values(source=source, cursor=cursor)
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["source"], set_={"cursor": statement.excluded.cursor}
                )
            )

        await self._database.write(save)

    async def find_last_content_run(self, source: str, *, before: RunId) -> Run | None:
        """Return the run before this one that brought in documents, if there was one."""
        query = select(runs).where(
            runs.c.source == source, runs.c.id < before, runs.c.kind.in_(CONTENT_KINDS)
        )

        def find(connection: Connection) -> Run | None:
            last = connection.execute(query.order_by(runs.c.id.desc()).limit(1))
            row = last.mappings().one_or_none()
            return None if row is None else _build_run(row)

        return await self._database.read(find)

    async def begin_listing(
        self, source: str, at: datetime, *, is_afresh: bool = False
    ) -> datetime | None:
        """Note that a run begins to read what the source has.

        Args:
            source: Its name.
            at: When the run begins.
            is_afresh: List everything again, whatever has been seen; the cursor is emptied.

        Returns:
            When the first of the runs began that broke off since the last one that ended; what
            those have seen counts as seen. None = the last one ended.
        """

        def begin(connection: Connection) -> datetime | None:
            query = select(cursors.c.listing_since).where(cursors.c.source == source)
            since: datetime | None = None if is_afresh else connection.scalar(query)
            if since is None:
                changed = {"listing_since": at, **({"cursor": ""} if is_afresh else {})}
                statement = insert_into(connection, cursors).values(
                    source=source, cursor="", listing_since=at
                )
                connection.execute(
                    statement.on_conflict_do_update(index_elements=["source"], set_=changed)
                )
            return since

        return await self._database.write(begin)

    async def end_listing(self, source: str) -> None:
        """Note that a run has read everything it wanted to."""
        ended = update(cursors).where(cursors.c.source == source).values(listing_since=None)
        await self._database.write(lambda connection: connection.execute(ended))

    async def _load(self, query: Select[Any]) -> list[Run]:
        """Return runs; what is still marked as running may have died with its process."""

        def load(connection: Connection) -> list[Run]:
            return [_build_run(row) for row in connection.execute(query).mappings()]

        return [await self._check_running(one) for one in await self._database.read(load)]

    async def _check_running(self, run: Run) -> Run:
        if run.status is not RunStatus.RUNNING:
            return run
        # Leases are about real time, whatever clock is set for questions.
        held = await LeaseStore(self._database, SystemClock()).find(f"{SOURCE_LEASE}{run.source}")
        return run if held is not None else replace(run, status=RunStatus.INTERRUPTED)


def _build_run(row: RowMapping) -> Run:
    return Run(
        run_id=RunId(row["id"]),
        source=row["source"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        status=RunStatus(row["status"]),
        counts=row["counts"],
        error=row["error"],
        kind=RunKind(row["kind"]),
        started_by=StartedBy(row["started_by"]),
    )

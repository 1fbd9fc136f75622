"""Sync runs and the cursors they resume from."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType

from sqlalchemy import RowMapping, func, insert, select, update
from sqlalchemy.engine import Connection

from core.database import Database
from core.tables import insert_into
from knowledge.ledger_tables import cursors, runs
from knowledge.source import Cursor

RunId = NewType("RunId", int)


class RunStatus(StrEnum):
    """How a run stands; partial = some documents failed, the rest is in."""

    RUNNING = "running"
    DONE = "done"
    PARTIAL = "partial"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One sync of one source.

    Attributes:
        counts: What it has done so far, by name.
        error: Why it failed; empty otherwise.
    """

    run_id: RunId
    source: str
    started_at: datetime
    ended_at: datetime | None
    status: RunStatus
    counts: Mapping[str, int]
    error: str


class RunLog:
    """Keeps runs and cursors."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start_run(self, source: str, at: datetime) -> RunId:
        """Begin a run; one of the same source that never ended is marked as broken off."""
        broken = update(runs).where(runs.c.source == source, runs.c.status == RunStatus.RUNNING)
        begun = insert(runs).values(
            source=source, started_at=at, status=RunStatus.RUNNING, counts={}, error=""
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

    async def load_last_runs(self) -> dict[str, Run]:
        """Return each source's latest run."""
        latest = select(func.max(runs.c.id)).group_by(runs.c.source)
        query = select(runs).where(runs.c.id.in_(latest))

        def load(connection: Connection) -> dict[str, Run]:
            rows = connection.execute(query).mappings()
            return {row["source"]: _build_run(row) for row in rows}

        return await self._database.read(load)

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


def _build_run(row: RowMapping) -> Run:
    return Run(
        run_id=RunId(row["id"]),
        source=row["source"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        status=RunStatus(row["status"]),
        counts=row["counts"],
        error=row["error"],
    )

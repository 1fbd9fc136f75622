"""Where every source stands, for `zhixing status`."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from core.database import Database
from knowledge.completeness import CompletenessLog, ScopeCount
from knowledge.failures import FailureLog, FailureRecord
from knowledge.holds import Hold, HoldLog
from knowledge.ledger_tables import documents, index_rows
from knowledge.runs import CONTENT_KINDS, Run, RunLog, RunStatus
from knowledge.stores import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """Where a source stands.

    Attributes:
        held_documents: Those that answer marked as not confirmed.
        passages: Passages in force, sections not counted.
        notes: By document id, what could not be read of documents that are in.
        last_runs: The latest run of each kind, latest last.
        counts: The latest comparison of every scope with what the source lists.
    """

    source: str
    documents: int
    held_documents: int
    passages: int
    failures: tuple[FailureRecord, ...]
    notes: dict[str, tuple[str, ...]]
    holds: tuple[Hold, ...]
    last_runs: tuple[Run, ...]
    counts: tuple[ScopeCount, ...]

    @property
    def last_run(self) -> Run | None:
        """The latest run that brought in documents; None before the first."""
        return next((run for run in reversed(self.last_runs) if run.kind in CONTENT_KINDS), None)

    @property
    def troubled_runs(self) -> tuple[Run, ...]:
        """The latest runs of their kind that failed, broke off, or of which something did."""
        return tuple(
            run for run in self.last_runs if run.error or run.status is RunStatus.INTERRUPTED
        )


async def load_status(database: Database) -> list[SourceStatus]:
    """Return the status of every source that has documents, failures, holds or runs, by name."""
    held = await database.read(_count_documents)
    passages = await database.read(_count_passages)
    notes = await database.read(_load_notes)
    failures = await FailureLog(database).load_failures()
    holds = await HoldLog(database).load_holds()
    last_runs = await RunLog(database).load_last_runs()
    counts = await CompletenessLog(database).load_latest()
    names = (
        held.keys()
        | last_runs.keys()
        | {one.last.source for one in failures}
        | {one.source for one in holds}
    )
    return [
        SourceStatus(
            source=name,
            documents=held.get(name, (0, 0))[0],
            held_documents=held.get(name, (0, 0))[1],
            passages=passages.get(name, 0),
            failures=tuple(one for one in failures if one.last.source == name),
            notes=notes.get(name, {}),
            holds=tuple(one for one in holds if one.source == name),
            last_runs=_by_age(last_runs.get(name, {}).values()),
            counts=tuple(one for one in counts if one.source == name),
        )
        for name in sorted(names)
    ]


def _by_age(runs: Iterable[Run]) -> tuple[Run, ...]:
    return tuple(sorted(runs, key=lambda run: run.run_id))


def _count_documents(connection: Connection) -> dict[str, tuple[int, int]]:
    held = func.count(documents.c.held_since)
    query = select(documents.c.source, func.count(), held).group_by(documents.c.source)
    return {row[0]: (row[1], row[2]) for row in connection.execute(query)}


def _count_passages(connection: Connection) -> dict[str, int]:
    in_force = (index_rows.c.level == Level.PASSAGE) & index_rows.c.valid_to.is_(None)
    query = (
        select(documents.c.source, func.count())
        .join(index_rows, index_rows.c.document_id == documents.c.document_id)
        .where(in_force)
        .group_by(documents.c.source)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def _load_notes(connection: Connection) -> dict[str, dict[str, tuple[str, ...]]]:
    query = select(documents.c.source, documents.c.document_id, documents.c.notes)
    notes: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in connection.execute(query.order_by(documents.c.document_id)):
        if row.notes:
            notes.setdefault(row.source, {})[row.document_id] = tuple(row.notes)
    return notes

"""Proof of completeness: what a source says it has, against what the index holds, page by page."""

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, Select, func, select
from sqlalchemy.engine import Connection

from core.database import Database
from core.tables import insert_into
from knowledge.documents import DocumentId
from knowledge.ledger_tables import completeness
from knowledge.runs import RunId


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeCount:
    """A scope as a run has counted it, after it brought in what it could.

    Attributes:
        source_count: Documents that the source listed.
        index_count: Documents of the scope in the index.
        missing: Listed but not in the index, with the reason as far as one is known.
        extra: In the index but not listed: held, because their disappearance is not believed.
        rows_owed: Rows that the ledger has and the index lacks, or the other way round; 0 = equal.
    """

    source: str
    scope: str
    at: datetime
    source_count: int
    index_count: int
    missing: Mapping[DocumentId, str]
    extra: tuple[DocumentId, ...]
    rows_owed: int = 0

    @property
    def is_complete(self) -> bool:
        """Tell whether index and source hold the same pages."""
        return not self.missing and not self.extra and not self.rows_owed

    @property
    def share(self) -> float:
        """The share (0..1) of the source's documents that the index holds; 1 for an empty scope."""
        if not self.source_count:
            return 1.0
        return (self.source_count - len(self.missing)) / self.source_count


def count_scope(
    source: str,
    scope: str,
    at: datetime,
    *,
    listed: Set[DocumentId],
    indexed: Collection[DocumentId],
    reasons: Mapping[DocumentId, str],
    rows_owed: int = 0,
) -> ScopeCount:
    """Compare a scope's complete listing with the index, document by document. Pure."""
    held = frozenset(indexed)
    return ScopeCount(
        source=source,
        scope=scope,
        at=at,
        source_count=len(listed),
        index_count=len(held),
        missing={one: reasons.get(one, "") for one in sorted(listed - held)},
        extra=tuple(sorted(held - listed)),
        rows_owed=rows_owed,
    )


class CompletenessLog:
    """Keeps what every run has counted."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, run_id: RunId, count: ScopeCount) -> None:
        """Keep a scope's count; a scope counted twice in a run keeps the later one."""
        values = {
            "source": count.source,
            "at": count.at,
            "source_count": count.source_count,
            "index_count": count.index_count,
            "missing": dict(count.missing),
            "extra": list(count.extra),
            "rows_owed": count.rows_owed,
        }

        def save(connection: Connection) -> None:
            statement = insert_into(connection, completeness)
            connection.execute(
                statement.values(run_id=run_id, scope=count.scope, **values).on_conflict_do_update(
                    index_elements=["run_id", "scope"], set_=values
                )
            )

        await self._database.write(save)

    async def load_latest(self) -> list[ScopeCount]:
        """Return the latest count of every scope, by source and scope."""
        latest = (
            select(func.max(completeness.c.run_id).label("run_id"), completeness.c.scope)
            .group_by(completeness.c.source, completeness.c.scope)
            .subquery()
        )
        query = (
            select(completeness)
            .join(
                latest,
                (latest.c.run_id == completeness.c.run_id)
                & (latest.c.scope == completeness.c.scope),
            )
            .order_by(completeness.c.source, completeness.c.scope)
        )
        return await self._load(query)

    async def load_of_run(self, run_id: RunId) -> list[ScopeCount]:
        """Return what one run has counted, by scope."""
        query = select(completeness).where(completeness.c.run_id == run_id)
        return await self._load(query.order_by(completeness.c.scope))

    async def _load(self, query: Select[Any]) -> list[ScopeCount]:
        def load(connection: Connection) -> list[ScopeCount]:
            return [_build_count(row) for row in connection.execute(query).mappings()]

        return await self._database.read(load)


def _build_count(row: RowMapping) -> ScopeCount:
    return ScopeCount(
        source=row["source"],
        scope=row["scope"],
        at=row["at"],
        source_count=row["source_count"],
        index_count=row["index_count"],
        missing=row["missing"],
        extra=tuple(row["extra"]),
        rows_owed=row["rows_owed"],
    )

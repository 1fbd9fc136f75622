"""How often words occur in the whole index, kept up by differences and read by point look-ups."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import bindparam, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from core.counters import load_counters
from core.database import Database, chunked, execute_many, insert_into
from knowledge.ledger import INDEX_COUNTER
from knowledge.ledger_records import TermDelta, TermStatistics
from knowledge.ledger_tables import index_statistics, term_statistics

_THE_ROW = 1
# About 10 MB of words.
_TERMS_KEPT = 100_000


@dataclass(slots=True, kw_only=True)
class _Remembered:
    """What has been read of one generation of the index."""

    generation: int
    rows: int
    total_length: int
    frequency: dict[str, int] = field(default_factory=dict)


class TermIndex:
    """Reads the statistics; what it has read is remembered until the index changes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._remembered: _Remembered | None = None

    async def load(self, terms: Iterable[str]) -> TermStatistics:
        """Return the statistics of the index as it is now for these terms."""
        wanted = set(terms)
        async with self._database.read() as connection:
            # Kept in a variable: meanwhile another question may start on the next generation.
            current = await self._get_current(connection)
            unknown = sorted(wanted - current.frequency.keys())
            for some in chunked(unknown):
                query = select(term_statistics).where(term_statistics.c.term.in_(some))
                rows = await connection.execute(query)
                found = {row.term: row.document_frequency for row in rows}
                current.frequency |= {term: found.get(term, 0) for term in some}
        return TermStatistics(
            rows=current.rows,
            average_length=current.total_length / current.rows if current.rows else 0.0,
            document_frequency={term: current.frequency[term] for term in wanted},
        )

    async def _get_current(self, connection: AsyncConnection) -> _Remembered:
        generation = (await load_counters(connection, [INDEX_COUNTER]))[INDEX_COUNTER]
        current = self._remembered
        if (
            current is None
            or current.generation != generation
            or len(current.frequency) > _TERMS_KEPT
        ):
            row = (await connection.execute(select(index_statistics))).one_or_none()
            current = _Remembered(
                generation=generation,
                rows=row.rows if row else 0,
                total_length=row.total_length if row else 0,
            )
            self._remembered = current
        return current


async def apply_term_delta(connection: AsyncConnection, delta: TermDelta) -> None:
    """Add differences to the statistics inside the caller's transaction."""
    if delta.rows or delta.length:
        await _add_totals(connection, delta)
    statement = insert_into(connection, term_statistics)
    term, frequency = term_statistics.c.term, term_statistics.c.document_frequency
    # In order, so that neighbours in the tree are touched together and writers can't deadlock.
    changes = sorted(delta.document_frequency.items())
    await execute_many(
        connection,
        statement.on_conflict_do_update(
            index_elements=[term],
            set_={"document_frequency": frequency + statement.excluded.document_frequency},
        ),
        [{"term": word, "document_frequency": change} for word, change in changes],
    )
    await execute_many(
        connection,
        delete(term_statistics).where(term == bindparam("word"), frequency <= 0),
        [{"word": word} for word, change in changes if change < 0],
    )


async def _add_totals(connection: AsyncConnection, delta: TermDelta) -> None:
    statement = insert_into(connection, index_statistics).values(
        id=_THE_ROW, rows=delta.rows, total_length=delta.length
    )
    totals = index_statistics.c
    await connection.execute(
        statement.on_conflict_do_update(
            index_elements=[totals.id],
            set_={
                "rows": totals.rows + statement.excluded.rows,
                "total_length": totals.total_length + statement.excluded.total_length,
            },
        )
    )

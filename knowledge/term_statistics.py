"""How often words occur in the whole index, kept up by differences and read by point look-ups."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import bindparam, delete, select
from sqlalchemy.engine import Connection

from core.counters import load_counter
from core.database import Database
from core.tables import chunked, execute_many, insert_into
from knowledge.ledger import INDEX_COUNTER
from knowledge.ledger_records import TermDelta, TermStatistics
from knowledge.ledger_tables import index_statistics, term_statistics

_THE_ROW = 1
# About 10 MB of words.
_TERMS_KEPT = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remembered:
    """What has been read of one generation of the index; words are added as they are asked for."""

    generation: int
    rows: int = 0
    total_length: int = 0
    frequency: dict[str, int] = field(default_factory=dict)


class TermIndex:
    """Reads the statistics; what it has read is remembered until the index changes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._remembered = _Remembered(generation=-1)

    async def load(self, terms: Iterable[str]) -> TermStatistics:
        """Return the statistics of the index as it is now for these terms."""
        wanted = frozenset(terms)
        read = await self._database.read(partial(_read, known=self._remembered, wanted=wanted))
        if read.generation >= self._remembered.generation:
            is_full = len(self._remembered.frequency) > _TERMS_KEPT
            self._remembered = _Remembered(generation=-1) if is_full else read
        return TermStatistics(
            rows=read.rows,
            average_length=read.total_length / read.rows if read.rows else 0.0,
            document_frequency={term: read.frequency[term] for term in wanted},
        )


def _read(connection: Connection, *, known: _Remembered, wanted: Collection[str]) -> _Remembered:
    """Add the wanted words to what is known, or start over when the index has changed."""
    generation = load_counter(connection, INDEX_COUNTER)
    if generation != known.generation:
        row = connection.execute(select(index_statistics)).one_or_none()
        known = _Remembered(
            generation=generation,
            rows=row.rows if row else 0,
            total_length=row.total_length if row else 0,
        )
    for some in chunked([term for term in wanted if term not in known.frequency]):
        query = select(term_statistics).where(term_statistics.c.term.in_(some))
        found = {row.term: row.document_frequency for row in connection.execute(query)}
        # Two questions may add the same words at once: they add the same numbers.
        known.frequency.update({term: found.get(term, 0) for term in some})
    return known


def replace_statistics(connection: Connection, whole: TermDelta) -> None:
    """Put the statistics of another index in the place of the present ones."""
    connection.execute(delete(term_statistics))
    connection.execute(delete(index_statistics))
    apply_term_delta(connection, whole)


def apply_term_delta(connection: Connection, delta: TermDelta) -> None:
    """Add differences to the statistics inside the caller's transaction."""
    if delta.rows or delta.length:
        _add_totals(connection, delta)
    statement = insert_into(connection, term_statistics)
    term, frequency = term_statistics.c.term, term_statistics.c.document_frequency
    # In order, so that neighbours in the tree are touched together and writers can't deadlock.
    changes = sorted(delta.document_frequency.items())
    execute_many(
        connection,
        statement.on_conflict_do_update(
            index_elements=[term],
            set_={"document_frequency": frequency + statement.excluded.document_frequency},
        ),
        [{"term": word, "document_frequency": change} for word, change in changes],
    )
    execute_many(
        connection,
        delete(term_statistics).where(term == bindparam("word"), frequency <= 0),
        [{"word": word} for word, change in changes if change < 0],
    )


def _add_totals(connection: Connection, delta: TermDelta) -> None:
    statement = insert_into(connection, index_statistics).values(
        id=_THE_ROW, rows=delta.rows, total_length=delta.length
    )
    totals = index_statistics.c
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[totals.id],
            set_={
                "rows": totals.rows + statement.excluded.rows,
                "total_length": totals.total_length + statement.excluded.total_length,
            },
        )
    )

"""Which index is in use: the one that the ledger's rows are in."""

from sqlalchemy import Column, Integer, Table, Text, select
from sqlalchemy.engine import Connection

from core.counters import increase_counter
from core.database import Database
from core.tables import insert_into, metadata
from knowledge.ledger import INDEX_COUNTER
from knowledge.ledger_records import TermDelta
from knowledge.stores import IndexShape
from knowledge.term_statistics import replace_statistics

_THE_ROW = 1

# One row.
active_index = Table(
    "active_index",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("embedder", Text, nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("analysis", Text, nullable=False),
)


class ActiveIndex:
    """Keeps the shape of the index in use."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> IndexShape | None:
        """Return the shape; None before the first sync."""

        def read(connection: Connection) -> IndexShape | None:
            row = connection.execute(select(active_index)).mappings().one_or_none()
            if row is None:
                return None
            return IndexShape(
                embedder=row["embedder"], dimension=row["dimension"], analysis=row["analysis"]
            )

        return await self._database.read(read)

    async def begin(self, shape: IndexShape) -> None:
        """Use the first index there is; without effect when one is in use."""
        if await self.load() is None:
            await self._database.write(lambda connection: _save(connection, shape))

    async def switch(self, shape: IndexShape, statistics: TermDelta) -> None:
        """Use another index from now on, with its own statistics."""

        def save(connection: Connection) -> None:
            _save(connection, shape)
            replace_statistics(connection, statistics)
            increase_counter(connection, INDEX_COUNTER)

        await self._database.write(save)


def _save(connection: Connection, shape: IndexShape) -> None:
    values = {
        "embedder": shape.embedder,
        "dimension": shape.dimension,
        "analysis": shape.analysis,
    }
    statement = insert_into(connection, active_index).values(id=_THE_ROW, **values)
    connection.execute(
        statement.on_conflict_do_update(index_elements=[active_index.c.id], set_=values)
    )

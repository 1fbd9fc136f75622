"""Named numbers that only grow, by which processes notice that something has changed."""

from collections.abc import Sequence

from sqlalchemy import BigInteger, Column, String, Table, select
from sqlalchemy.ext.asyncio import AsyncConnection

from core.database import insert_into, metadata

counters = Table(
    "counters",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", BigInteger, nullable=False),
)


async def load_counters(connection: AsyncConnection, names: Sequence[str]) -> dict[str, int]:
    """Return the counters' values; one that was never increased is 0."""
    query = select(counters.c.name, counters.c.value).where(counters.c.name.in_(names))
    found = {row.name: row.value for row in await connection.execute(query)}
    return {name: found.get(name, 0) for name in names}


async def increase_counter(connection: AsyncConnection, name: str) -> int:
    """Add one inside the caller's transaction and return the new value.

    Other writers of the counter wait until that transaction ends, so that numbers appear to
    readers in order and without gaps.
    """
    statement = insert_into(connection, counters).values(name=name, value=1)
    added = statement.on_conflict_do_update(
        index_elements=[counters.c.name], set_={"value": counters.c.value + 1}
    ).returning(counters.c.value)
    return int((await connection.execute(added)).scalar_one())

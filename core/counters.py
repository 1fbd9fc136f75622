"""Named numbers that only grow, by which processes notice that something has changed."""

from collections.abc import Sequence

from sqlalchemy import BigInteger, Column, String, Table, select
from sqlalchemy.engine import Connection

from core.tables import insert_into, metadata

counters = Table(
    "counters",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", BigInteger, nullable=False),
)


def load_counter(connection: Connection, name: str) -> int:
    """Return a counter's value; 0 for one that was never increased."""
    query = select(counters.c.value).where(counters.c.name == name)
    return connection.scalar(query) or 0


def load_counters(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    """Return the values of several counters, as `load_counter`."""
    query = select(counters.c.name, counters.c.value).where(counters.c.name.in_(names))
    found = {row.name: row.value for row in connection.execute(query)}
    return {name: found.get(name, 0) for name in names}


def increase_counter(connection: Connection, name: str) -> int:
    """Add one inside the caller's transaction and return the new value.

    Other writers of the counter wait until that transaction ends, so that numbers appear to
    readers in order.
    """
    statement = insert_into(connection, counters).values(name=name, value=1)
    added = statement.on_conflict_do_update(
        index_elements=[counters.c.name], set_={"value": counters.c.value + 1}
    ).returning(counters.c.value)
    return int(connection.execute(added).scalar_one())

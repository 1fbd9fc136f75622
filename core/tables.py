"""What all table definitions and statements share, whichever database runs them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import Column, DateTime, Dialect, Executable, MetaData, Table, delete
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection
from sqlalchemy.types import TypeDecorator

# SQLite compiled with its old defaults takes 999 parameters a statement.
IDS_PER_STATEMENT = 500

_T = TypeVar("_T")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""Every table of ours registers here, defined by the package that owns it."""


class UtcDateTime(TypeDecorator[datetime]):
    """A moment, kept in UTC; what comes back is aware on every database. Naive is refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - the same on every database
    ) -> datetime | None:
        """Turn an aware moment to UTC."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"naive datetime {value!r} can't be stored; give it a time zone")
        # SQLite's text form has no zone, and comparing texts needs all of them in the same one.
        return value.astimezone(UTC)

    def process_result_value(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - told by the value itself
    ) -> datetime | None:
        """Give what was stored its zone back."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def insert_into(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Start an INSERT that knows ON CONFLICT, in the dialect of the connection."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)


def execute_many(
    connection: Connection, statement: Executable, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Run a statement once for each row of parameters; not at all without any."""
    if rows:
        connection.execute(statement, rows)


def delete_where_in(connection: Connection, column: Column[Any], values: Sequence[Any]) -> None:
    """Delete the rows of the column's table whose column has one of the values."""
    for some in chunked(values):
        connection.execute(delete(column.table).where(column.in_(some)))


def chunked(items: Sequence[_T], size: int = IDS_PER_STATEMENT) -> Iterator[Sequence[_T]]:
    """Cut a sequence into pieces that fit into one statement; nothing for an empty one."""
    for start in range(0, len(items), size):
        yield items[start : start + size]

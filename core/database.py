"""The state database: one engine, short transactions, brought up to date when it is opened.

SQLite by default, PostgreSQL in production, the same statements for both. Reading sees one
snapshot for the length of its block; writing is one transaction that holds the write lock from its
first statement, so that a read-modify-write is safe.
"""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Column, DateTime, Dialect, Executable, MetaData, Table, delete, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.types import TypeDecorator

from core.errors import ServiceUnavailableError, SettingsError, ZhixingError
from core.migrations import is_current
from core.sqlite_file import prepare_sqlite_file

LOCK_TIMEOUT_S = 30.0
CONNECT_TIMEOUT_S = 10.0
# SQLite compiled with its old defaults takes 999 parameters a statement.
IDS_PER_STATEMENT = 500

_T = TypeVar("_T")

_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}

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


class Database:
    """Transactions on the state database. One instance belongs to one event loop."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._is_sqlite = engine.dialect.name == "sqlite"
        # Waiting tasks queue here in order; SQLite's own lock is polled, first come last served.
        self._writer = asyncio.Lock()

    @property
    def name(self) -> str:
        """Where the database is, without its password, for messages."""
        url = self._engine.url
        path = url.database if self._is_sqlite else None
        return path or url.render_as_string(hide_password=True)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection whose statements all see the same snapshot.

        Raises:
            ServiceUnavailableError: The database does not answer.
        """
        options = {} if self._is_sqlite else {"isolation_level": "REPEATABLE READ"}
        async with self._transaction(options) as connection:
            yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction that commits when the block ends and rolls back when it raises.

        On SQLite writers come one after another, those of other processes too. On PostgreSQL lock
        what is read before it is written (`with_for_update`).

        Raises:
            ServiceUnavailableError: The database does not answer or stays locked.
        """
        async with (
            self._writer if self._is_sqlite else nullcontext(),
            self._transaction({"is_write": True}) as connection,
        ):
            yield connection

    @asynccontextmanager
    async def _transaction(self, options: dict[str, Any]) -> AsyncIterator[AsyncConnection]:
        is_open = False
        try:
            async with self._engine.connect() as connection:
                await connection.execution_options(**options)
                async with connection.begin():
                    is_open = True
                    yield connection
        except (SQLAlchemyError, OSError) as error:
            # Inside the block an error may be the caller's own.
            if is_open and not isinstance(error, OperationalError):
                raise
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> ServiceUnavailableError:
        reason = getattr(error, "orig", None) or error
        return ServiceUnavailableError(f"database {self.name!r} did not answer: {reason}")

    async def close(self) -> None:
        """Close all connections. Safe to call twice."""
        await self._engine.dispose()


async def open_database(url: str) -> Database:
    """Open the database, make it when it is not there, and bring its tables up to date.

    Safe when several processes start at once: one migrates, the others wait.

    Args:
        url: An SQLAlchemy URL; `sqlite:` and `postgresql:` find their async drivers themselves.

    Raises:
        SettingsError: The address is not one of ours, nothing answers there, what is there is
            damaged, or it was written by a newer version of Zhixing.
    """
    address = _parse_url(url)
    if address.get_backend_name() == "sqlite":
        await asyncio.to_thread(prepare_sqlite_file, address.database or "")
    engine = _create_engine(address)
    database = Database(engine)
    try:
        async with database.read() as connection:
            needs_upgrade = not await connection.run_sync(is_current)
        if needs_upgrade:
            await _upgrade(database)
    except SettingsError:
        await database.close()
        raise
    except (ZhixingError, SQLAlchemyError) as error:
        await database.close()
        raise SettingsError(
            f"the state database can't be opened: {error}; check `url` under [database]"
        ) from error
    return database


def insert_into(connection: AsyncConnection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Start an INSERT that knows ON CONFLICT, in the dialect of the connection."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)


async def execute_many(
    connection: AsyncConnection, statement: Executable, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Run a statement once for each row of parameters; not at all without any."""
    if rows:
        await connection.execute(statement, rows)


async def delete_where_in(
    connection: AsyncConnection, column: Column[Any], values: Sequence[Any]
) -> None:
    """Delete the rows of the column's table whose column has one of the values."""
    for some in chunked(values):
        await connection.execute(delete(column.table).where(column.in_(some)))


def chunked(items: Sequence[_T], size: int = IDS_PER_STATEMENT) -> Iterator[Sequence[_T]]:
    """Cut a sequence into pieces that fit into one statement; nothing for an empty one."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _parse_url(url: str) -> URL:
    try:
        address = make_url(url)
    except ArgumentError as error:
        # The text may hold a password, so it is not repeated.
        raise SettingsError(
            "`url` under [database] is not a database address; write it as "
            "postgresql://USER:PASSWORD@HOST/NAME or sqlite:///PATH"
        ) from error
    driver = _DRIVERS.get(address.drivername)
    if driver is None:
        raise SettingsError(
            f"database kind {address.drivername!r} is not supported; use sqlite or postgresql"
        )
    return address.set(drivername=driver)


def _create_engine(address: URL) -> AsyncEngine:
    dumps = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
    if address.get_backend_name() == "sqlite":
        engine = create_async_engine(
            address,
            json_serializer=dumps,
            # No implicit BEGIN of the driver: it would start transactions only at the first DML.
            connect_args={"timeout": LOCK_TIMEOUT_S, "isolation_level": None},
        )
        event.listen(engine.sync_engine, "connect", _set_pragmas)
        event.listen(engine.sync_engine, "begin", _begin)
        event.listen(engine.sync_engine, "invalidate", _roll_back)
        return engine
    try:
        return create_async_engine(
            address,
            json_serializer=dumps,
            pool_pre_ping=True,
            connect_args={"timeout": CONNECT_TIMEOUT_S, "command_timeout": LOCK_TIMEOUT_S},
        )
    except ModuleNotFoundError as error:
        raise SettingsError(
            "PostgreSQL needs the package 'asyncpg'; install zhixing[postgresql]"
        ) from error


async def _upgrade(database: Database) -> None:
    # Loading Alembic takes longer than most commands run, and most runs find nothing to do.
    from core.migrations.upgrade import bring_up_to_date  # noqa: PLC0415

    async with database.write() as connection:
        await connection.run_sync(bring_up_to_date)


def _set_pragmas(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    # With a write-ahead log a crash loses nothing; a power cut may lose the last commits, whole.
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.close()


def _begin(connection: Connection) -> None:
    is_write = connection.get_execution_options().get("is_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_write else "BEGIN")


def _roll_back(
    connection: DBAPIConnection, _entry: ConnectionPoolEntry, _error: BaseException | None
) -> None:
    # A cancelled statement leaves a cursor that the exception's traceback keeps alive. SQLite
    # puts off closing until such cursors are gone, and the write lock with it: end it by hand.
    with suppress(sqlite3.Error):
        connection.rollback()

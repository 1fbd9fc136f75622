"""The state database: SQLite by default, PostgreSQL in production, the same statements for both.

Work on it is a plain function of a connection, run as one transaction. No task can therefore hold
a transaction open while it waits for something else, and on SQLite a whole transaction costs one
change of thread.
"""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from core.errors import ServiceUnavailableError, SettingsError, ZhixingError
from core.migrations import is_current
from core.sqlite_file import prepare_sqlite_file

LOCK_TIMEOUT_S = 30.0
CONNECT_TIMEOUT_S = 10.0
# Statements are short and the interpreter runs one thread at a time; more would only queue there.
SQLITE_THREADS = 4

_T = TypeVar("_T")

_dump_json = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))


class Database(ABC):
    """Transactions on the state database. One instance belongs to one event loop."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Where the database is, without its password, for messages."""

    @abstractmethod
    async def read(self, work: Callable[[Connection], _T]) -> _T:
        """Run work whose statements all see the same snapshot, and return its result.

        Raises:
            ServiceUnavailableError: The database does not answer.
        """

    @abstractmethod
    async def write(self, work: Callable[[Connection], _T]) -> _T:
        """Run work that is committed when it returns and rolled back when it raises.

        On SQLite writers come one after another, those of other processes too. On PostgreSQL lock
        what is read before it is written (`with_for_update`). Work that has begun when its caller
        is cancelled is still done whole or not at all.

        Raises:
            ServiceUnavailableError: The database does not answer or stays locked.
        """

    @abstractmethod
    async def purge(self) -> None:
        """Leave nothing in the files of rows that were deleted, as far as the database lets us.

        Raises:
            ServiceUnavailableError: The database does not answer or stays locked.
        """

    @abstractmethod
    async def close(self) -> None:
        """Close all connections. Safe to call twice."""

    def _unavailable(self, error: Exception) -> ServiceUnavailableError:
        reason = getattr(error, "orig", None) or error
        return ServiceUnavailableError(f"database {self.name!r} did not answer: {reason}")


class SqliteDatabase(Database):
    """A file. Threads do the work, because SQLite's calls block."""

    def __init__(self, address: URL) -> None:
        self._name = address.database or ""
        self._engine = create_engine(
            address,
            json_serializer=_dump_json,
            # An error of a statement is logged; what people ask and write is not.
            hide_parameters=True,
            pool_size=SQLITE_THREADS,
            max_overflow=0,
            # No implicit BEGIN of the driver: it would start transactions only at the first
            # write, and what was read before could change in between.
            connect_args={
                "timeout": LOCK_TIMEOUT_S,
                "isolation_level": None,
                "check_same_thread": False,
            },
        )
        event.listen(self._engine, "connect", _set_pragmas)
        event.listen(self._engine, "begin", _begin)
        self._threads = ThreadPoolExecutor(SQLITE_THREADS, thread_name_prefix="sqlite")
        # Waiting tasks queue here in order; SQLite's own lock is polled, first come last served.
        self._writer = asyncio.Lock()

    @property
    def name(self) -> str:
        """The path of the file."""
        return self._name

    async def read(self, work: Callable[[Connection], _T]) -> _T:
        """Run reading work in a thread."""
        return await self._run(work, is_write=False)

    async def write(self, work: Callable[[Connection], _T]) -> _T:
        """Run writing work in a thread, holding the write lock from its start."""
        async with self._writer:
            return await self._run(work, is_write=True)

    async def purge(self) -> None:
        """Empty the write-ahead log; in the file itself every deletion overwrites what it deletes.

        Raises:
            ServiceUnavailableError: Other connections went on reading for too long.
        """
        async with self._writer:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._threads, self._empty_log)

    def _empty_log(self) -> None:
        # Not inside a transaction, which SQLAlchemy would begin.
        connection = self._engine.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            outcome = cursor.fetchone()
        finally:
            connection.close()
        # Its first column says that somebody is in the way.
        if outcome is None or outcome[0]:
            raise ServiceUnavailableError(
                f"the log of {self.name!r} can't be emptied while others read; try again"
            )

    async def close(self) -> None:
        """Wait for work that has begun and close the file."""
        await asyncio.to_thread(self._threads.shutdown)
        self._engine.dispose()

    async def _run(self, work: Callable[[Connection], _T], *, is_write: bool) -> _T:
        loop = asyncio.get_running_loop()
        run = partial(_run_in_transaction, self._engine, work, is_write=is_write)
        try:
            return await loop.run_in_executor(self._threads, run)
        except OperationalError as error:
            raise self._unavailable(error) from error


class PostgresqlDatabase(Database):
    """A server, spoken to without threads."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    @property
    def name(self) -> str:
        """The server's address without the password."""
        return self._engine.url.render_as_string(hide_password=True)

    async def read(self, work: Callable[[Connection], _T]) -> _T:
        """Run reading work on one snapshot."""
        return await self._run(work, isolation_level="REPEATABLE READ")

    async def write(self, work: Callable[[Connection], _T]) -> _T:
        """Run writing work."""
        return await self._run(work, isolation_level="READ COMMITTED")

    async def purge(self) -> None:
        """Let the server clear away dead rows now, and not only with its next own round."""
        try:
            async with self._engine.connect() as connection:
                await connection.execution_options(isolation_level="AUTOCOMMIT")
                await connection.exec_driver_sql("VACUUM")
        except (SQLAlchemyError, OSError) as error:
            raise self._unavailable(error) from error

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()

    async def _run(self, work: Callable[[Connection], _T], *, isolation_level: str) -> _T:
        is_open = False
        try:
            async with self._engine.connect() as connection:
                await connection.execution_options(isolation_level=isolation_level)
                async with connection.begin():
                    is_open = True
                    return await connection.run_sync(work)
        except (SQLAlchemyError, OSError) as error:
            # Once work has begun, the error may be its own.
            if is_open and not isinstance(error, OperationalError):
                raise
            raise self._unavailable(error) from error


async def open_database(url: str) -> Database:
    """Open the database, make it when it is not there, and bring its tables up to date.

    Safe when several processes start at once: one migrates, the others wait.

    Args:
        url: An SQLAlchemy URL, `sqlite:` or `postgresql:`.

    Raises:
        SettingsError: The address is not one of ours, nothing answers there, what is there is
            damaged, or it was written by a newer version of Zhixing.
    """
    database = await _connect(url)
    try:
        if not await database.read(is_current):
            # Loading Alembic takes longer than most commands run, and most find nothing to do.
            from core.migrations.upgrade import bring_up_to_date  # noqa: PLC0415

            await database.write(bring_up_to_date)
    except SettingsError:
        await database.close()
        raise
    except (ZhixingError, SQLAlchemyError) as error:
        await database.close()
        raise SettingsError(
            f"the state database can't be opened: {error}; check `url` under [database]"
        ) from error
    return database


async def _connect(url: str) -> Database:
    try:
        address = make_url(url)
    except ArgumentError as error:
        # The text may hold a password, so it is not repeated.
        raise SettingsError(
            "`url` under [database] is not a database address; write it as "
            "postgresql://USER:PASSWORD@HOST/NAME or sqlite:///PATH"
        ) from error
    match address.get_backend_name():
        case "sqlite":
            await asyncio.to_thread(prepare_sqlite_file, address.database or "")
            return SqliteDatabase(address.set(drivername="sqlite"))
        case "postgresql" | "postgres":
            return PostgresqlDatabase(_create_postgresql_engine(address))
        case kind:
            raise SettingsError(
                f"database kind {kind!r} is not supported; use sqlite or postgresql"
            )


def _create_postgresql_engine(address: URL) -> AsyncEngine:
    try:
        return create_async_engine(
            address.set(drivername="postgresql+asyncpg"),
            json_serializer=_dump_json,
            # An error of a statement is logged; what people ask and write is not.
            hide_parameters=True,
            pool_pre_ping=True,
            connect_args={"timeout": CONNECT_TIMEOUT_S, "command_timeout": LOCK_TIMEOUT_S},
        )
    except ModuleNotFoundError as error:
        raise SettingsError(
            "PostgreSQL needs the package 'asyncpg'; install zhixing[postgresql]"
        ) from error


def _run_in_transaction(engine: Engine, work: Callable[[Connection], _T], *, is_write: bool) -> _T:
    with engine.connect().execution_options(is_write=is_write) as connection, connection.begin():
        return work(connection)


def _begin(connection: Connection) -> None:
    is_write = connection.get_execution_options()["is_write"]
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_write else "BEGIN")


def _set_pragmas(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    # With a write-ahead log a crash loses nothing; a power cut may lose the last commits, whole.
    cursor.execute("PRAGMA synchronous = NORMAL")
    # What is deleted is overwritten; only some builds of SQLite do so unasked.
    cursor.execute("PRAGMA secure_delete = ON")
    cursor.close()

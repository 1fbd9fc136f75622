"""Databases of others, which are only ever read: any that SQLAlchemy speaks to.

SQLite files are opened read-only, PostgreSQL transactions are declared so; every other server
needs an account that may only read. Whatever was done is rolled back. A statement that takes too
long is stopped where it runs, not only given up.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import quote

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import QueuePool

from core.errors import PermanentError, ServiceUnavailableError, SettingsError
from core.skill_settings import DatabaseSource

_T = TypeVar("_T")

_CONNECT_TIMEOUT_S = 10.0
_LOCK_TIMEOUT_S = 1.0
# A statement is looked at each time SQLite has done so many of its own small steps.
_STEPS = 2_000
# What a server needs beyond its own time-out before it is given up here.
_GRACE_S = 2.0


class ReadOnlyDatabase(Protocol):
    """Reads one database. One instance belongs to one event loop."""

    @property
    def name(self) -> str:
        """Where it is, without a password, for messages."""
        ...

    @property
    def dialect(self) -> str:
        """SQLAlchemy's name of the kind of database, such as `postgresql`."""
        ...

    async def read(self, work: Callable[[Connection], _T], *, timeout_s: float) -> _T:
        """Run reading work, and roll back whatever it did.

        Raises:
            ServiceUnavailableError: It does not answer, or the work took too long and was stopped.
            PermanentError: It refuses the statement.
        """
        ...

    async def close(self) -> None:
        """Close all connections. Safe to call twice."""
        ...


def open_readonly_database(name: str, settings: DatabaseSource, *, home: Path) -> ReadOnlyDatabase:
    """Prepare to read a database; nothing is connected before the first read.

    Args:
        name: As in the settings, `[databases.NAME]`.
        settings: Its section.
        home: What the path of an SQLite file is relative to.

    Raises:
        SettingsError: The address is none, or its driver is not installed.
    """
    try:
        url = make_url(settings.url.get_secret_value())
        if url.get_backend_name() == "sqlite":
            return SqliteReader(name, home / (url.database or ""), settings)
        if url.drivername in {"postgresql", "postgres"}:
            url = url.set(drivername="postgresql+asyncpg")
        if url.get_dialect().is_async:
            return AsyncReader(name, url, settings)
        return ThreadReader(name, url, settings)
    except (ArgumentError, NoSuchModuleError) as error:
        # The text may hold a password, so it is not repeated.
        raise SettingsError(
            f"databases.{name}.url is not a database address; write it as "
            "postgresql://USER:PASSWORD@HOST/NAME, sqlite:///PATH or another of SQLAlchemy's"
        ) from error
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"databases.{name} needs the package {error.name!r}; install it beside zhixing"
        ) from error


class SqliteReader:
    """A file, opened read-only; nothing can be attached to it."""

    dialect = "sqlite"

    def __init__(self, name: str, path: Path, settings: DatabaseSource) -> None:
        self.name = f"{name} ({path.name})"
        self._settings = settings
        self._engine = create_engine(
            "sqlite://",
            creator=lambda: _open_file(path),
            pool_size=settings.max_connections,
            max_overflow=0,
            hide_parameters=True,
            poolclass=QueuePool,
        )
        event.listen(self._engine, "begin", lambda one: one.exec_driver_sql("BEGIN"))
        self._threads = ThreadPoolExecutor(settings.max_connections, thread_name_prefix="records")

    async def read(self, work: Callable[[Connection], _T], *, timeout_s: float) -> _T:
        """Run work in a thread; its statements are interrupted when the time is over."""
        limit_s = min(timeout_s, self._settings.timeout_s)
        stop = threading.Event()

        def run() -> _T:
            with self._engine.connect() as connection:
                raw = connection.connection.dbapi_connection
                if not isinstance(raw, sqlite3.Connection):
                    raise TypeError(f"not a connection of sqlite3: {raw!r}")
                raw.set_progress_handler(lambda: int(stop.is_set()), _STEPS)
                try:
                    with connection.begin() as transaction:
                        found = work(connection)
                        transaction.rollback()
                        return found
                finally:
                    raw.set_progress_handler(None, 0)

        return await _run_in_thread(self, self._threads, run, stop, limit_s)

    async def close(self) -> None:
        """Wait for work that has begun and close the file."""
        await asyncio.to_thread(self._threads.shutdown)
        self._engine.dispose()


class ThreadReader:
    """A server whose driver blocks. The driver decides whether a slow statement can be stopped."""

    def __init__(self, name: str, url: URL, settings: DatabaseSource) -> None:
        self.name = f"{name} ({url.render_as_string(hide_password=True)})"
        self.dialect = url.get_backend_name()
        self._settings = settings
        self._engine: Engine = create_engine(
            url,
            pool_size=settings.max_connections,
            max_overflow=0,
            pool_pre_ping=True,
            hide_parameters=True,
        )
        self._threads = ThreadPoolExecutor(settings.max_connections, thread_name_prefix="records")

    async def read(self, work: Callable[[Connection], _T], *, timeout_s: float) -> _T:
        """Run work in a thread."""

        def run() -> _T:
            with self._engine.connect() as connection, connection.begin() as transaction:
                found = work(connection)
                transaction.rollback()
                return found

        limit_s = min(timeout_s, self._settings.timeout_s)
        return await _run_in_thread(self, self._threads, run, threading.Event(), limit_s)

    async def close(self) -> None:
        """Close the connections; threads that still wait for the server are left to end."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._engine.dispose)


class AsyncReader:
    """A server spoken to without threads; PostgreSQL's transactions are declared read-only."""

    def __init__(self, name: str, url: URL, settings: DatabaseSource) -> None:
        self.name = f"{name} ({url.render_as_string(hide_password=True)})"
        self.dialect = url.get_backend_name()
        self._settings = settings
        arguments = {"timeout": _CONNECT_TIMEOUT_S} if url.drivername.endswith("asyncpg") else {}
        self._engine: AsyncEngine = create_async_engine(
            url,
            pool_size=settings.max_connections,
            max_overflow=0,
            pool_pre_ping=True,
            hide_parameters=True,
            connect_args=arguments,
        )

    async def read(self, work: Callable[[Connection], _T], *, timeout_s: float) -> _T:
        """Run work; PostgreSQL stops a slow statement itself."""
        limit_s = min(timeout_s, self._settings.timeout_s)
        try:
            async with (
                asyncio.timeout(limit_s + _GRACE_S),
                self._engine.connect() as connection,
                connection.begin() as transaction,
            ):
                if self.dialect == "postgresql":
                    await connection.exec_driver_sql("SET TRANSACTION READ ONLY")
                    await connection.exec_driver_sql(
                        f"SET LOCAL statement_timeout = {max(1, int(limit_s * 1000))}"
                    )
                found = await connection.run_sync(work)
                await transaction.rollback()
                return found
        except TimeoutError as error:
            raise _stopped(self.name, limit_s) from error
        except (SQLAlchemyError, OSError) as error:
            raise _translate(self.name, error, limit_s) from error

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()


async def _run_in_thread(
    reader: ReadOnlyDatabase,
    threads: ThreadPoolExecutor,
    run: Callable[[], _T],
    stop: threading.Event,
    limit_s: float,
) -> _T:
    future = asyncio.get_running_loop().run_in_executor(threads, run)
    try:
        async with asyncio.timeout(limit_s):
            return await asyncio.shield(future)
    except TimeoutError as error:
        raise _stopped(reader.name, limit_s) from error
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        raise _translate(reader.name, error, limit_s) from error
    finally:
        # Also when whoever asked is gone: nobody waits for the rest.
        stop.set()
        if not future.done():
            future.add_done_callback(_forget)


def _forget(future: "asyncio.Future[_T]") -> None:
    """Take the error of work nobody waits for any more, so that it is not reported as lost."""
    if not future.cancelled():
        future.exception()


def _open_file(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=ro",
        uri=True,
        timeout=_LOCK_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA query_only = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    return connection


def _stopped(name: str, limit_s: float) -> ServiceUnavailableError:
    return ServiceUnavailableError(
        f"database {name!r} did not finish within {limit_s:g} s; the statement was stopped"
    )


def _translate(
    name: str, error: Exception, limit_s: float
) -> ServiceUnavailableError | PermanentError:
    reason = getattr(error, "orig", None) or error
    text = " ".join(str(reason).split())[:300]
    if "statement timeout" in text or "interrupted" in text:
        return _stopped(name, limit_s)
    is_down = isinstance(error, OSError) or getattr(error, "connection_invalidated", False)
    if is_down or any(sign in text.lower() for sign in ("unable to open", "locked", "connect")):
        return ServiceUnavailableError(f"database {name!r} did not answer: {text}")
    return PermanentError(f"database {name!r} refuses the statement: {text}")

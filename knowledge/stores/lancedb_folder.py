"""The folder LanceDB lives in: opened, checked, locked for writing, closed; its errors named."""

import asyncio
import hashlib
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import lancedb
from lancedb import AsyncConnection, AsyncTable, Session

from core.errors import SettingsError
from knowledge.stores import IndexShape
from knowledge.stores.heap import limit_arenas
from knowledge.stores.lancedb_indexes import create_word_index, has_word_index
from knowledge.stores.lancedb_rows import build_schema
from knowledge.stores.writer_lock import WriterLock

_LOCK_FILE = ".writer.lock"
# LanceDB's own limits are 6 GiB and 1 GiB.
_INDEX_CACHE_BYTES = 128 * 2**20
_METADATA_CACHE_BYTES = 32 * 2**20


class LanceDBFolder:
    """An open table, its folder and its writer lock."""

    def __init__(
        self, path: Path, connection: AsyncConnection, table: AsyncTable, lock: WriterLock
    ) -> None:
        self._path = path
        self._connection = connection
        self._table = table
        self._lock = lock
        self._process = os.getpid()

    @property
    def table_path(self) -> Path:
        """Where the table's files lie."""
        return _table_path(self._path, self._table.name)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncTable]:
        """Yield the table, which turns to its newest version at every call."""
        self._check_usable()
        with named_errors(self._path):
            yield self._table

    async def write(self, work: Callable[[AsyncTable], Awaitable[object]]) -> None:
        """Run work on the table while no other task or process writes to the folder.

        Work that has begun is finished before a cancellation goes on: LanceDB may be about to
        commit, and the next writer, let in meanwhile, would add the same rows again.

        Raises:
            ServiceUnavailableError: Another writer has not finished within the time-out.
        """
        self._check_usable()
        async with self._lock.hold():
            task = asyncio.ensure_future(work(self._table))
            try:
                with named_errors(self._path):
                    await asyncio.shield(task)
            finally:
                await _wait_for(task)

    async def drop_other_tables(self) -> None:
        """Remove the tables of all other shapes, with their files."""

        async def drop(table: AsyncTable) -> None:
            listed = await self._connection.list_tables()
            for name in listed.tables:
                if name != table.name:
                    await self._connection.drop_table(name)

        await self.write(drop)

    def close(self) -> None:
        """Release files and memory. Safe to call twice."""
        if self._process == os.getpid():
            self._table.close()  # type: ignore[no-untyped-call]
            self._connection.close()  # type: ignore[no-untyped-call]

    def _check_usable(self) -> None:
        if self._process != os.getpid():
            raise RuntimeError(
                "a LanceDB store does not survive a fork; open it in the new process"
            )
        if not self._table.is_open():
            raise RuntimeError(f"the passage store in {str(self._path)!r} is closed")


async def open_folder(path: Path, shape: IndexShape, *, lock_timeout_s: float) -> LanceDBFolder:
    """Open the table of a shape, and make folder and table where they are missing.

    Raises:
        SettingsError: The folder can't be read or written, or the table is damaged.
        ServiceUnavailableError: A table has to be made while another process writes.
    """
    limit_arenas()
    lock = WriterLock(path / _LOCK_FILE, timeout_s=lock_timeout_s)
    await asyncio.to_thread(_prepare_folder, path, lock)
    with named_errors(path):
        connection = await lancedb.connect_async(
            path, read_consistency_interval=timedelta(0), session=_build_session()
        )
        name = build_table_name(shape)
        table = await _find_table(connection, path, name)
        if table is None or not await has_word_index(table):
            async with lock.hold():
                table = await _make_table(connection, path, name, shape)
        await _check_schema(table, path, shape)
    return LanceDBFolder(path, connection, table, lock)


def build_table_name(shape: IndexShape) -> str:
    """Return a name that tells shapes apart, readable as far as a file name can be."""
    key = "\x1f".join((shape.embedder, str(shape.dimension), shape.analysis))
    readable = re.sub(r"[^a-z0-9]+", "-", shape.embedder.lower()).strip("-")[:40]
    return (
        f"{readable or 'index'}-{shape.dimension}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    )


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Turn LanceDB's errors of input and output into one that says what to do.

    Raises:
        SettingsError: LanceDB failed.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise SettingsError(
            f"the passage store in {str(path)!r} failed: {error}; check free space and access "
            f"rights of the folder, and if it is damaged remove it and sync again"
        ) from error


async def _wait_for(task: asyncio.Future[object]) -> None:
    while not task.done():
        # Cancelled again and again, this still waits; the first cancellation is under way.
        with suppress(asyncio.CancelledError):
            await asyncio.wait({task})


def _build_session() -> Session:
    return Session(
        index_cache_size_bytes=_INDEX_CACHE_BYTES,
        metadata_cache_size_bytes=_METADATA_CACHE_BYTES,
    )


def _prepare_folder(path: Path, lock: WriterLock) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        os.listdir(path)
    except OSError as error:
        raise SettingsError(
            f"the passage store can't use the folder {str(path)!r} ({error.strerror}); give this "
            f"account read and write access to it or point store.path to another folder"
        ) from error
    lock.check_writable()


async def _find_table(connection: AsyncConnection, path: Path, name: str) -> AsyncTable | None:
    try:
        return await connection.open_table(name)
    except ValueError as error:
        # LanceDB calls a table whose manifests are lost not found and would write over its rows.
        if await asyncio.to_thread(_has_rows, _table_path(path, name)):
            raise SettingsError(
                f"the passage store in {str(path)!r} has lost the manifests of {name!r}; restore "
                f"the folder from a backup, or remove it and sync again"
            ) from error
        return None


async def _make_table(
    connection: AsyncConnection, path: Path, name: str, shape: IndexShape
) -> AsyncTable:
    table = await _find_table(connection, path, name)
    if table is None:
        table = await connection.create_table(name, schema=build_schema(shape.dimension))
    if not await has_word_index(table):
        await create_word_index(table)
    return table


async def _check_schema(table: AsyncTable, path: Path, shape: IndexShape) -> None:
    if set((await table.schema()).names) != set(build_schema(shape.dimension).names):
        raise SettingsError(
            f"the passage store in {str(path)!r} was written by another release; remove the "
            f"folder and sync again"
        )


def _table_path(path: Path, name: str) -> Path:
    return path / f"{name}.lance"


def _has_rows(table_path: Path) -> bool:
    return any((table_path / "data").glob("*"))

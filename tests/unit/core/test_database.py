import asyncio
import sqlite3
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, func, insert, select, text
from sqlalchemy.exc import IntegrityError, StatementError

from bot.memory.turns import turns
from bot.trace import traces
from core.counters import counters, increase_counter, load_counters
from core.database import Database, chunked, metadata, open_database
from core.errors import ServiceUnavailableError, SettingsError
from core.migrations import HEAD
from knowledge.access_tables import access_classes
from knowledge.directory_tables import identities, people
from knowledge.ledger_tables import documents, runs

ROOT = Path(__file__).parents[3]
OWNERS = (traces, turns, counters, access_classes, people, documents)


def _difference(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), metadata))


async def test_migrations_make_the_tables_that_the_code_expects(database: Database) -> None:
    assert {owner.name for owner in OWNERS} <= metadata.tables.keys()
    async with database.write() as connection:
        assert await connection.run_sync(_difference) == []


def test_last_step_is_the_one_that_is_compared_at_start() -> None:
    config = Config()
    config.set_main_option("script_location", str(ROOT / "core" / "migrations"))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


async def test_opening_again_keeps_what_is_there(database_url: str) -> None:
    first = await open_database(database_url)
    async with first.write() as connection:
        await increase_counter(connection, "index")
    await first.close()
    second = await open_database(database_url)
    async with second.read() as connection:
        assert await load_counters(connection, ["index", "other"]) == {"index": 1, "other": 0}
    await second.close()
    await second.close()


async def test_moments_come_back_aware_and_in_utc(database: Database) -> None:
    shanghai = timezone(timedelta(hours=8))
    at = datetime(2026, 11, 30, 9, 0, 0, 123456, tzinfo=shanghai)
    async with database.write() as connection:
        row = {"source": "a", "started_at": at, "status": "done", "counts": {}, "error": ""}
        await connection.execute(insert(runs), row)
    async with database.read() as connection:
        found = await connection.scalar(select(runs.c.started_at))
        assert found == at
        assert found is not None
        assert found.tzinfo == UTC
        assert await connection.scalar(select(runs.c.ended_at)) is None
        before = select(func.count()).where(runs.c.started_at < at + timedelta(microseconds=1))
        assert await connection.scalar(before) == 1


async def test_naive_moment_is_refused(database: Database) -> None:
    naive = datetime(2026, 11, 30)  # noqa: DTZ001
    async with database.write() as connection:
        row = {"source": "a", "started_at": naive, "status": "done", "counts": {}, "error": ""}
        with pytest.raises(StatementError, match="naive datetime"):
            await connection.execute(insert(runs), row)


async def test_read_modify_write_of_many_tasks_loses_no_update(database: Database) -> None:
    async def add_one() -> None:
        async with database.write() as connection:
            query = select(counters.c.value).where(counters.c.name == "n").with_for_update()
            value = await connection.scalar(query)
            await asyncio.sleep(0)
            await connection.execute(
                text("UPDATE counters SET value = :v"), {"v": (value or 0) + 1}
            )

    async with database.write() as connection:
        await connection.execute(insert(counters), {"name": "n", "value": 0})
    await asyncio.gather(*(add_one() for _ in range(20)))
    async with database.read() as connection:
        assert await load_counters(connection, ["n"]) == {"n": 20}


async def test_failed_block_leaves_nothing_behind(database: Database) -> None:
    async def fail() -> None:
        async with database.write() as connection:
            await increase_counter(connection, "n")
            raise LookupError

    with pytest.raises(LookupError):
        await fail()
    async with database.read() as connection:
        assert await load_counters(connection, ["n"]) == {"n": 0}


async def test_reader_sees_one_snapshot_while_others_write(database: Database) -> None:
    async with database.read() as reader:
        assert await load_counters(reader, ["n"]) == {"n": 0}
        async with database.write() as writer:
            await increase_counter(writer, "n")
        assert await load_counters(reader, ["n"]) == {"n": 0}
    async with database.read() as reader:
        assert await load_counters(reader, ["n"]) == {"n": 1}


async def test_foreign_keys_are_enforced(database: Database) -> None:
    row = {"system": "slack", "native_id": "U1", "person_id": "nobody", "verified_email": ""}
    with pytest.raises(IntegrityError):
        async with database.write() as connection:
            await connection.execute(insert(identities), row)


async def test_chinese_text_is_kept_readable_in_json_columns(database: Database) -> None:
    async with database.write() as connection:
        at = datetime(2026, 1, 1, tzinfo=UTC)
        row = {"source": "a", "started_at": at, "status": "done", "counts": {"页": 1}, "error": ""}
        await connection.execute(insert(runs), row)
        raw = await connection.scalar(text("SELECT CAST(counts AS TEXT) FROM runs"))
    assert raw == '{"页":1}'


async def test_database_of_a_newer_version_is_refused(database_url: str) -> None:
    database = await open_database(database_url)
    async with database.write() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await database.close()
    with pytest.raises(SettingsError, match="newer version of Zhixing .* '9999'"):
        await open_database(database_url)


async def test_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite3"
    path.write_bytes(b"not a database at all, but long enough to be read as one" * 50)
    with pytest.raises(SettingsError, match=r"state\.sqlite3' is damaged"):
        await open_database(f"sqlite:///{path}")


async def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SettingsError, match="can't be opened"):
        await open_database(f"sqlite:///{tmp_path / 'file' / 'state.sqlite3'}")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://root@127.0.0.1/x", "'mysql' is not supported"),
        ("no address", "is not a database address"),
        ("sqlite://", "needs a file"),
        ("postgresql://u:hidden-password@127.0.0.1:1/x", "can't be opened"),
    ],
)
async def test_wrong_address_is_a_settings_error(url: str, said: str) -> None:
    if url.startswith("postgresql"):
        pytest.importorskip("asyncpg")
    with pytest.raises(SettingsError, match=said) as caught:
        await open_database(url)
    assert "hidden-password" not in str(caught.value)


async def test_file_name_may_hold_blanks_and_chinese(tmp_path: Path) -> None:
    database = await open_database(f"sqlite:///{tmp_path / '知 行' / 'state 1.sqlite3'}")
    assert database.name.endswith("知 行/state 1.sqlite3")
    await database.close()


async def test_statement_the_database_cannot_run_is_reported_as_unavailable(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite3"
    database = await open_database(f"sqlite:///{path}")
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("DROP TABLE counters")
    with pytest.raises(ServiceUnavailableError, match="did not answer"):
        async with database.read() as connection:
            await load_counters(connection, ["n"])
    await database.close()


_OPEN = """
import asyncio, sys
from core.counters import increase_counter
from core.database import open_database

async def main():
    database = await open_database(sys.argv[1])
    for _ in range(10):
        async with database.write() as connection:
            await increase_counter(connection, "n")
    await database.close()

asyncio.run(main())
"""


async def test_processes_that_start_at_once_all_get_a_whole_database(database_url: str) -> None:
    started = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", _OPEN, database_url, cwd=ROOT)
        for _ in range(2)
    ]
    assert [await one.wait() for one in started] == [0, 0]
    database = await open_database(database_url)
    async with database.read() as connection:
        assert await load_counters(connection, ["n"]) == {"n": 20}
    await database.close()


async def test_error_of_the_block_comes_through_as_it_is(database: Database) -> None:
    with pytest.raises(FileNotFoundError):
        async with database.read():
            raise FileNotFoundError


_SLOW = """
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 500000)
SELECT count(*) FROM n
"""


async def test_cancelled_writer_gives_its_lock_back_at_once(database: Database) -> None:
    kept: list[BaseException] = []
    has_written = asyncio.Event()

    async def write_slowly() -> None:
        try:
            async with database.write() as connection:
                await increase_counter(connection, "n")
                has_written.set()
                await connection.execute(text(_SLOW))
        except BaseException as error:
            # Whoever keeps the error, such as a log, keeps the cursors in its traceback.
            kept.append(error)
            raise

    task = asyncio.create_task(write_slowly())
    await has_written.wait()
    await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert [type(error) for error in kept] == [asyncio.CancelledError]
    async with database.write() as connection:
        assert await increase_counter(connection, "n") == 1


async def test_cancelled_tasks_give_their_connections_back(database: Database) -> None:
    async def add_one() -> None:
        async with database.write() as connection:
            await increase_counter(connection, "n")

    tasks = [asyncio.create_task(add_one()) for _ in range(40)]
    for number, task in enumerate(tasks):
        await asyncio.sleep(0.001 * (number % 3))
        if number % 2:
            task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(one) for one in outcomes} <= {type(None), asyncio.CancelledError}
    async with database.read() as connection:
        # A cancelled one may have come through as well.
        assert (await load_counters(connection, ["n"]))["n"] >= outcomes.count(None)
    await asyncio.gather(*(add_one() for _ in range(20)))


def test_pieces_cover_the_sequence_in_order() -> None:
    assert list(chunked([1, 2, 3, 4, 5], 2)) == [[1, 2], [3, 4], [5]]
    assert list(chunked([], 2)) == []

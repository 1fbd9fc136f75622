import asyncio
import sqlite3
import sys
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, delete, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError, StatementError

from admin.keys import admin_keys
from bot.agent.action_store import pending_actions
from bot.agent.audit import audit_entries
from bot.agent.card_store import action_cards
from bot.inbox.tables import chat_questions
from bot.memory.turns import turns
from bot.preferences.tables import person_choices
from bot.trace import traces
from core.counters import counters, increase_counter, load_counter, load_counters
from core.database import Database, open_database
from core.errors import ServiceUnavailableError, SettingsError
from core.leases import leases
from core.migrations import HEAD
from core.tables import chunked, metadata
from knowledge.access_tables import access_classes
from knowledge.active_index import active_index
from knowledge.directory_tables import identities, people
from knowledge.ledger_tables import documents, runs
from scheduler.job_table import jobs

ROOT = Path(__file__).parents[3]
OWNERS = (
    person_choices,
    action_cards,
    traces,
    turns,
    active_index,
    counters,
    access_classes,
    people,
    documents,
    leases,
    jobs,
    chat_questions,
    pending_actions,
    audit_entries,
    admin_keys,
)


def add_one(connection: Connection) -> int:
    return increase_counter(connection, "n")


def count(connection: Connection) -> int:
    return load_counter(connection, "n")


def add_run(
    connection: Connection, started_at: datetime, counts: dict[str, int] | None = None
) -> None:
    row = {"source": "a", "status": "done", "error": "", "counts": counts or {}}
    connection.execute(insert(runs), {**row, "started_at": started_at})


def _difference(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), metadata))


async def test_migrations_make_the_tables_that_the_code_expects(database: Database) -> None:
    assert {owner.name for owner in OWNERS} <= metadata.tables.keys()
    assert await database.read(_difference) == []


def test_last_step_is_the_one_that_is_compared_at_start() -> None:
    config = Config()
    config.set_main_option("script_location", str(ROOT / "core" / "migrations"))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


async def test_opening_again_keeps_what_is_there(database_url: str) -> None:
    first = await open_database(database_url)
    assert await first.write(add_one) == 1
    await first.close()
    second = await open_database(database_url)
    counted = await second.read(partial(load_counters, names=["n", "other"]))
    assert counted == {"n": 1, "other": 0}
    await second.close()
    await second.close()


async def test_moments_come_back_aware_and_in_utc(database: Database) -> None:
    shanghai = timezone(timedelta(hours=8))
    at = datetime(2026, 11, 30, 9, 0, 0, 123456, tzinfo=shanghai)
    await database.write(partial(add_run, started_at=at))
    found = await database.read(lambda connection: connection.scalar(select(runs.c.started_at)))
    assert found == at
    assert found is not None
    assert found.tzinfo == UTC
    assert (
        await database.read(lambda connection: connection.scalar(select(runs.c.ended_at))) is None
    )
    before = select(func.count()).where(runs.c.started_at < at + timedelta(microseconds=1))
    assert await database.read(lambda connection: connection.scalar(before)) == 1


async def test_naive_moment_is_refused(database: Database) -> None:
    naive = datetime(2026, 11, 30)  # noqa: DTZ001
    with pytest.raises(StatementError, match="naive datetime"):
        await database.write(partial(add_run, started_at=naive))


async def test_read_modify_write_of_many_tasks_loses_no_update(database: Database) -> None:
    def add(connection: Connection) -> None:
        query = select(counters.c.value).where(counters.c.name == "n").with_for_update()
        value = connection.scalar(query) or 0
        connection.execute(update(counters).values(value=value + 1))

    await database.write(add_one)
    await asyncio.gather(*(database.write(add) for _ in range(20)))
    assert await database.read(count) == 21


async def test_what_was_deleted_is_in_no_file_after_a_purge(tmp_path: Path) -> None:
    database = await open_database(f"sqlite:///{tmp_path / 'state.sqlite3'}")
    try:
        await database.write(partial(add_run, started_at=datetime.now(UTC), counts={"quagga": 1}))
        assert find_files(tmp_path, b"quagga")
        await database.write(lambda connection: connection.execute(delete(runs)).rowcount)
        await database.purge()
        assert find_files(tmp_path, b"quagga") == []
    finally:
        await database.close()


def find_files(folder: Path, word: bytes) -> list[str]:
    return [path.name for path in folder.iterdir() if word in path.read_bytes()]


async def test_failed_work_leaves_nothing_behind(database: Database) -> None:
    def fail(connection: Connection) -> None:
        add_one(connection)
        raise FileNotFoundError

    with pytest.raises(FileNotFoundError):
        await database.write(fail)
    assert await database.read(count) == 0


async def test_reader_sees_one_snapshot_while_others_write(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite3"
    database = await open_database(f"sqlite:///{path}")

    def read_twice(connection: Connection) -> tuple[int, int]:
        before = count(connection)
        with sqlite3.connect(path) as other:
            other.execute("INSERT INTO counters (name, value) VALUES ('n', 5)")
        return before, count(connection)

    assert await database.read(read_twice) == (0, 0)
    assert await database.read(count) == 5
    await database.close()


async def test_foreign_keys_are_enforced(database: Database) -> None:
    row = {"system": "slack", "native_id": "U1", "person_id": "nobody", "verified_email": ""}
    with pytest.raises(IntegrityError):
        await database.write(lambda connection: connection.execute(insert(identities), row))


async def test_chinese_text_is_kept_readable_in_json_columns(database: Database) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    await database.write(partial(add_run, started_at=at, counts={"页": 1}))
    raw = text("SELECT CAST(counts AS TEXT) FROM runs")
    assert await database.read(lambda connection: connection.scalar(raw)) == '{"页":1}'


async def test_database_of_a_newer_version_is_refused(database_url: str) -> None:
    database = await open_database(database_url)
    newer = text("UPDATE alembic_version SET version_num = '9999'")
    await database.write(lambda connection: connection.execute(newer))
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


async def test_file_that_another_process_holds_at_the_start_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite3"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("CREATE TABLE held (x)")
    holder.execute("BEGIN EXCLUSIVE")
    opening = asyncio.create_task(open_database(f"sqlite:///{path}"))
    await asyncio.sleep(0.1)
    assert not opening.done()
    holder.execute("COMMIT")
    holder.close()
    await (await opening).close()


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
    with sqlite3.connect(path) as other:
        other.execute("DROP TABLE counters")
    with pytest.raises(ServiceUnavailableError, match="did not answer"):
        await database.read(count)
    await database.close()


_OPEN = """
import asyncio, sys
from functools import partial
from core.counters import increase_counter
from core.database import open_database

async def main():
    database = await open_database(sys.argv[1])
    for _ in range(10):
        await database.write(partial(increase_counter, name="n"))
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
    assert await database.read(count) == 20
    await database.close()


async def test_error_that_is_kept_does_not_keep_the_write_lock(database: Database) -> None:
    def fail_within_a_result(connection: Connection) -> None:
        add_one(connection)
        for _ in connection.execute(select(counters)):
            raise LookupError

    with pytest.raises(LookupError) as kept:
        await database.write(fail_within_a_result)
    assert await database.write(add_one) == 1
    assert kept.value.__traceback__ is not None


async def test_cancelled_tasks_give_lock_and_connections_back(database: Database) -> None:
    tasks = [asyncio.create_task(database.write(add_one)) for _ in range(40)]
    for number, task in enumerate(tasks):
        await asyncio.sleep(0.001 * (number % 3))
        if number % 2:
            task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(one) for one in outcomes} <= {int, asyncio.CancelledError}
    await asyncio.gather(*(database.write(add_one) for _ in range(20)))
    # A cancelled one may have come through as well.
    assert await database.read(count) >= 20 + sum(isinstance(one, int) for one in outcomes)


def test_pieces_cover_the_sequence_in_order() -> None:
    assert list(chunked([1, 2, 3, 4, 5], 2)) == [[1, 2], [3, 4], [5]]
    assert list(chunked([], 2)) == []

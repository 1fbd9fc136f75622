import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import Connection, text

from core.errors import PermanentError, ServiceUnavailableError, SettingsError
from core.readonly_database import ReadOnlyDatabase, open_readonly_database
from core.skill_settings import DatabaseSource

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[ReadOnlyDatabase]:
    with sqlite3.connect(tmp_path / "shop.sqlite") as connection:
        connection.execute("CREATE TABLE goods (name TEXT)")
        connection.execute("INSERT INTO goods VALUES ('灯')")
    connection.close()
    source = DatabaseSource(url=SecretStr("sqlite:///shop.sqlite"), max_connections=1)
    opened = open_readonly_database("shop", source, home=tmp_path)
    yield opened
    await opened.close()


def fetch(statement: str) -> Any:
    return lambda connection: connection.execute(text(statement)).all()


async def test_what_is_there_is_read(database: ReadOnlyDatabase) -> None:
    assert await database.read(fetch("SELECT name FROM goods"), timeout_s=5) == [("灯",)]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO goods VALUES ('x')",
        "DROP TABLE goods",
        "CREATE TEMP TABLE t (a)",
        "ATTACH ':memory:' AS other",
        "PRAGMA user_version = 3",
    ],
)
async def test_nothing_can_be_written(database: ReadOnlyDatabase, statement: str) -> None:
    with pytest.raises(PermanentError, match="refuses the statement"):
        await database.read(fetch(statement), timeout_s=5)
    assert await database.read(fetch("SELECT name FROM goods"), timeout_s=5) == [("灯",)]


async def test_switching_the_protection_off_opens_nothing(database: ReadOnlyDatabase) -> None:
    def work(connection: Connection) -> None:
        connection.exec_driver_sql("PRAGMA query_only = OFF")
        connection.exec_driver_sql("INSERT INTO goods VALUES ('x')")

    with pytest.raises(PermanentError, match="readonly"):
        await database.read(work, timeout_s=5)


async def test_a_slow_statement_is_stopped_where_it_runs(database: ReadOnlyDatabase) -> None:
    with pytest.raises(ServiceUnavailableError, match=r"within 0.2 s; the statement was stopped"):
        await database.read(fetch(ENDLESS), timeout_s=0.2)
    # The only connection and the only thread are free again.
    assert await database.read(fetch("SELECT 1"), timeout_s=30) == [(1,)]


async def test_a_statement_nobody_waits_for_is_stopped(database: ReadOnlyDatabase) -> None:
    task = asyncio.create_task(database.read(fetch(ENDLESS), timeout_s=60))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await database.read(fetch("SELECT 1"), timeout_s=30) == [(1,)]


async def test_the_settings_time_holds_whatever_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").touch()
    source = DatabaseSource(url=SecretStr("sqlite:///a.sqlite"), timeout_s=0.1)
    opened = open_readonly_database("a", source, home=tmp_path)
    with pytest.raises(ServiceUnavailableError, match=r"within 0.1 s"):
        await opened.read(fetch(ENDLESS), timeout_s=60)
    await opened.close()


async def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    source = DatabaseSource(url=SecretStr("sqlite:///gone.sqlite"))
    opened = open_readonly_database("gone", source, home=tmp_path)
    with pytest.raises(ServiceUnavailableError, match="unable to open"):
        await opened.read(fetch("SELECT 1"), timeout_s=5)
    await opened.close()
    assert not (tmp_path / "gone.sqlite").exists()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("not an address of secret-word", "is not a database address"),
        ("martian://host/x?password=secret-word", "is not a database address"),
        ("oracle+oracledb://u:secret-word@host/x", "needs the package 'oracledb'"),
    ],
)
def test_an_address_that_leads_nowhere_is_told_without_its_password(
    tmp_path: Path, url: str, said: str
) -> None:
    with pytest.raises(SettingsError, match=said) as caught:
        open_readonly_database("x", DatabaseSource(url=SecretStr(url)), home=tmp_path)
    assert "secret-word" not in str(caught.value)


@pytest.mark.skipif(not os.environ.get("DATABASE_URL"), reason="DATABASE_URL is not set")
async def test_postgresql_reads_stops_and_refuses(tmp_path: Path) -> None:
    source = DatabaseSource(url=SecretStr(os.environ["DATABASE_URL"]))
    opened = open_readonly_database("pg", source, home=tmp_path)
    try:
        assert await opened.read(fetch("SELECT 1"), timeout_s=5) == [(1,)]
        with pytest.raises(PermanentError, match="read-only transaction"):
            await opened.read(fetch("CREATE TABLE zhixing_never (a int)"), timeout_s=5)
        with pytest.raises(ServiceUnavailableError, match="was stopped"):
            await opened.read(fetch("SELECT pg_sleep(30)"), timeout_s=0.2)
        assert await opened.read(fetch("SELECT 2"), timeout_s=5) == [(2,)]
    finally:
        await opened.close()

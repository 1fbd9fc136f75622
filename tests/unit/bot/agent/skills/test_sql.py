import os
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine

from bot.agent.skills.definition import RowRights
from bot.agent.skills.sight import list_visible_people
from core.errors import RefusedError, ToolFailedError, ToolRetryError
from tests.unit.bot.agent.skills.bench import (
    ANN,
    BEN,
    BOSS,
    FINANCE,
    GUEST,
    SkillBench,
    call_as,
    make_claims,
    open_bench,
    values,
)

POSTGRESQL = os.environ.get("DATABASE_URL", "")
SETTINGS = '[databases.erp]\nurl = "sqlite:///erp.sqlite"\n'
CLAIMS = """
    name: list_claims
    kind: sql
    description: Lists claims, newest first.
    title: {zh: 报销, en: Claims}
    database: erp
    query: SELECT id, amount FROM claims WHERE :status IS NULL OR status = :status ORDER BY id
    parameters:
      status: {description: How far it is, enum: [open, paid]}
    rows: {full: ["group:company/finance"], own: owner, reports: true}
"""
TOTAL = """
    name: total_claims
    kind: sql
    description: The sum of all claims.
    title: {en: Total}
    database: erp
    query: SELECT sum(amount) AS total FROM claims
    rows: {full: ["group:company/finance"], own: owner}
"""
STEPS = """
    name: list_steps
    kind: sql
    description: Steps of a claim.
    title: {en: Steps}
    database: erp
    query: >-
      SELECT step, secret FROM steps JOIN claims ON claims.id = claim_id
      JOIN employees e ON e.id = owner
    rows_of:
      claims: {full: ["group:company/finance"], own: owner}
      steps: {full: ["group:company/finance"], own: owner, via: claims, key: claim_id}
      employees: {full: [members]}
"""


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[SkillBench]:
    make_claims(tmp_path / "erp.sqlite")
    async with open_bench(tmp_path, SETTINGS) as opened:
        yield opened


async def test_whoever_has_full_rights_sees_every_row(bench: SkillBench) -> None:
    tool = await bench.load_tool(CLAIMS)
    found = await tool.run({}, call_as(FINANCE))
    assert values(found.rows, "id") == ["C1", "C2", "C3", "C4"]
    assert found.text.splitlines()[0] == "| id | amount |"
    assert "Only" not in found.text


async def test_others_see_their_own_and_are_told_so(bench: SkillBench) -> None:
    tool = await bench.load_tool(CLAIMS)
    found = await tool.run({"status": "open"}, call_as(ANN))
    assert values(found.rows, "id") == ["C1"]
    assert "仅包含您本人及直接下属的记录" in found.text
    assert "ann" not in found.text


async def test_managers_see_those_of_their_reports(bench: SkillBench) -> None:
    tool = await bench.load_tool(CLAIMS)
    assert values((await tool.run({}, call_as(BOSS))).rows, "id") == ["C1", "C2", "C3", "C4"]
    assert values((await tool.run({}, call_as(BEN))).rows, "id") == ["C3"]


async def test_sums_run_over_allowed_rows_only(bench: SkillBench) -> None:
    tool = await bench.load_tool(TOTAL)
    mine, all_ = await tool.run({}, call_as(ANN)), await tool.run({}, call_as(FINANCE))
    assert (values(mine.rows, "total"), values(all_.rows, "total")) == ([150.0], [4850.0])
    assert mine.text == "- total: 150\n\n仅包含您本人的记录。Only your own rows."


async def test_rows_are_limited_through_the_table_that_owns_them(bench: SkillBench) -> None:
    tool = await bench.load_tool(STEPS)
    assert values((await tool.run({}, call_as(BEN))).rows, "secret") == ["ben-note"]
    assert len((await tool.run({}, call_as(FINANCE))).rows) == 3


async def test_who_owns_no_rows_finds_none(bench: SkillBench) -> None:
    tool = await bench.load_tool(CLAIMS)
    found = await tool.run({"status": "paid"}, call_as(BEN))
    assert (found.has_found, found.rows) == (False, ())


@pytest.mark.parametrize(
    "caller",
    [call_as(GUEST), call_as(None), call_as("old.timer")],
    ids=["guest", "stranger", "left"],
)
async def test_a_skill_is_neither_offered_to_nor_run_for_others(
    bench: SkillBench, caller: object
) -> None:
    tool = await bench.load_tool(CLAIMS)
    assert not tool.is_offered_to(caller)  # type: ignore[arg-type]
    with pytest.raises(RefusedError):
        await tool.run({}, caller)  # type: ignore[arg-type]


async def test_without_own_rows_only_full_rights_count(bench: SkillBench) -> None:
    tool = await bench.load_tool(
        TOTAL.replace('{full: ["group:company/finance"], own: owner}', '{full: ["user:ann.lee"]}')
    )
    assert (await tool.run({}, call_as(ANN))).has_found
    with pytest.raises(RefusedError):
        await tool.run({}, call_as(BOSS))
    assert (await tool.run({}, call_as(None, is_operator=True))).has_found


async def test_in_a_room_a_result_is_public_only_if_all_have_full_rights(
    bench: SkillBench,
) -> None:
    tool = await bench.load_tool(CLAIMS)
    assert (await tool.run({}, call_as(FINANCE, ANN))).is_for_asker_alone
    assert (await tool.run({}, call_as(ANN, FINANCE))).is_for_asker_alone
    assert not (await tool.run({}, call_as(FINANCE))).is_for_asker_alone


async def test_in_a_room_with_somebody_it_is_not_for_a_result_is_private(
    bench: SkillBench,
) -> None:
    tool = await bench.load_tool(
        """
        name: list_people
        kind: sql
        description: Lists everybody by name.
        title: {en: People}
        database: erp
        query: SELECT name FROM employees
        """
    )
    assert not (await tool.run({}, call_as(ANN, BEN))).is_for_asker_alone
    assert (await tool.run({}, call_as(ANN, GUEST))).is_for_asker_alone


async def test_who_asks_is_bound_by_code_and_can_not_be_named(bench: SkillBench) -> None:
    tool = await bench.load_tool(
        """
        name: my_name
        kind: sql
        description: Who the asker is in the books.
        title: {en: Me}
        database: erp
        query: SELECT name, :today AS day FROM employees WHERE mail = :asker_email OR id = :asker
        """
    )
    assert (await tool.run({}, call_as(ANN))).rows == ({"name": "安妮", "day": "2026-10-15"},)
    with pytest.raises(ToolRetryError):
        await tool.run({"asker": BOSS}, call_as(ANN))
    assert (await tool.run({}, call_as(ANN, BEN))).is_for_asker_alone


async def test_rows_may_be_owned_by_address(bench: SkillBench) -> None:
    tool = await bench.load_tool(
        """
        name: my_record
        kind: sql
        description: The record of the asker.
        title: {en: Record}
        database: erp
        query: SELECT id FROM employees
        rows: {own: mail, own_is: email, reports: true}
        """
    )
    assert values((await tool.run({}, call_as(BEN))).rows, "id") == [BEN]
    assert len((await tool.run({}, call_as(BOSS))).rows) == 3


async def test_values_can_not_leave_their_place(bench: SkillBench) -> None:
    tool = await bench.load_tool(CLAIMS.replace(", enum: [open, paid]", ""))
    found = await tool.run({"status": "open' OR '1'='1"}, call_as(FINANCE))
    assert not found.has_found


async def test_a_wrong_value_is_told_with_what_would_do(bench: SkillBench) -> None:
    tool = await bench.load_tool(CLAIMS)
    with pytest.raises(ToolRetryError, match='one of \\["open", "paid"\\]'):
        await tool.run({"status": "lost"}, call_as(ANN))


async def test_more_rows_than_allowed_are_cut_and_told(bench: SkillBench) -> None:
    tool = await bench.load_tool(CLAIMS.rstrip() + "\n    max_rows: 2\n")
    found = await tool.run({}, call_as(FINANCE))
    assert len(found.rows) == 2
    assert "Only the first 2 rows." in found.text


async def test_a_statement_that_fails_or_takes_too_long_is_told(bench: SkillBench) -> None:
    endless = """
        name: endless
        kind: sql
        description: Never comes to an end.
        title: {en: Endless}
        database: erp
        timeout_s: 0.2
        query: >-
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n
        """
    tool = await bench.load_tool(endless)
    with pytest.raises(ToolFailedError, match=r"within 0.2 s"):
        await tool.run({}, call_as(ANN))
    tool = await bench.load_tool(CLAIMS.replace("amount FROM", "no_such_column FROM"))
    with pytest.raises(ToolFailedError, match="no such column"):
        await tool.run({}, call_as(ANN))


@pytest.mark.skipif(not POSTGRESQL, reason="DATABASE_URL is not set")
async def test_postgresql_takes_dates_numbers_and_limits(tmp_path: Path) -> None:
    engine = create_async_engine(make_url(POSTGRESQL).set(drivername="postgresql+asyncpg"))
    schema = f"zhixing_{uuid4().hex}"
    async with engine.begin() as connection:
        for statement in (
            f"CREATE SCHEMA {schema}",
            f"CREATE TABLE {schema}.claims (id int, owner text, amount numeric, spent date)",
            f"INSERT INTO {schema}.claims VALUES (1, '{ANN}', 10.50, '2026-01-05'),"
            f" (2, '{BEN}', 20, '2026-03-01')",
        ):
            await connection.exec_driver_sql(statement)
    try:
        async with open_bench(tmp_path, f'[databases.erp]\nurl = "{POSTGRESQL}"\n') as bench:
            tool = await bench.load_tool(
                f"""
                name: claims_since
                kind: sql
                description: Claims since a day.
                title: {{en: Claims}}
                database: erp
                query: >-
                  SELECT id, amount, spent::text AS day, :today AS today FROM {schema}.claims c
                  WHERE spent >= :since AND (:least IS NULL OR amount >= :least) ORDER BY id
                parameters:
                  since: {{description: First day, format: date, required: true}}
                  least: {{description: Least amount, type: number}}
                rows: {{full: ["group:company/finance"], own: owner}}
                """
            )
            every = await tool.run({"since": "2026-01-01"}, call_as(FINANCE))
            some = await tool.run({"since": "2026-01-01", "least": 15}, call_as(FINANCE))
            own = await tool.run({"since": "2026-01-01"}, call_as(ANN))
        assert values(every.rows, "id") == [1, 2]
        assert values(some.rows, "id") == [2]
        assert own.rows == ({"id": 1, "amount": 10.5, "day": "2026-01-05", "today": "2026-10-15"},)
    finally:
        async with engine.begin() as connection:
            await connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
        await engine.dispose()


def test_who_has_left_owns_nothing_any_more() -> None:
    rights = RowRights(own="owner", reports=True)
    assert list_visible_people(rights, call_as("old.timer")) == frozenset()
    assert list_visible_people(rights, call_as(None)) == frozenset()
    assert list_visible_people(rights, call_as(GUEST)) == frozenset({GUEST})
    assert list_visible_people(rights, call_as(BOSS)) == frozenset({BOSS, ANN, BEN})
    assert list_visible_people(rights, call_as(None, is_operator=True)) is None

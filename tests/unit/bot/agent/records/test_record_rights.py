"""Nobody sees, counts or guesses rows that are not theirs."""

from pathlib import Path

import pytest

from bot.agent.records.answering import RecordAnswerer
from bot.agent.records.policy import RowPolicy
from knowledge.access import PUBLIC
from tests.unit.bot.agent.records.shop import (
    BOSS,
    BUYER,
    CLERK,
    POLICIES,
    VISITOR,
    ask_shop,
    build_shop_caller,
    open_shop,
)

_TRIPS = "How many trips are there, and what did they cost in total?"


@pytest.mark.parametrize(
    ("asker", "count", "total"),
    [(BUYER, 2, "405.5"), (CLERK, 1, "480"), (BOSS, 4, "962.5")],
)
async def test_figures_count_own_rows_and_those_of_reports_alone(
    tmp_path: Path, asker: str, count: int, total: str
) -> None:
    store = open_shop(tmp_path)
    answer = await ask_shop(store, _TRIPS, build_shop_caller(asker))
    assert f"**{count}** trips" in answer.result.text
    assert f"{total} EUR" in answer.result.text
    assert "your own" in answer.result.text
    await store.database.close()


async def test_rows_below_another_table_follow_its_owner(tmp_path: Path) -> None:
    store = open_shop(tmp_path)
    answer = await ask_shop(store, "How many trip steps are BOOKED?", build_shop_caller(CLERK))
    assert "**1** trip_steps" in answer.result.text
    await store.database.close()


async def test_the_operator_counts_everything(tmp_path: Path) -> None:
    store = open_shop(tmp_path)
    answer = await ask_shop(store, _TRIPS, build_shop_caller(None))
    assert "**4** trips" in answer.result.text
    assert "your own" not in answer.result.text
    await store.database.close()


@pytest.mark.parametrize(
    "question",
    [
        "How many orders are pending?",
        "Which orders of Varga Boxes are there?",
        "O-103 的总金额是多少？",
    ],
)
async def test_a_table_without_rights_does_not_exist(tmp_path: Path, question: str) -> None:
    store = open_shop(tmp_path)
    understood = await RecordAnswerer(store).understand(question, build_shop_caller(CLERK))
    assert understood is None or understood.reading.table.name != "orders"
    assert understood is None or all(
        "orders" not in query.tables for query in understood.reading.queries
    )
    await store.database.close()


async def test_a_guest_sees_no_table_at_all(tmp_path: Path) -> None:
    store = open_shop(tmp_path)
    answerer = RecordAnswerer(store)
    for question in (_TRIPS, "How many suppliers are there?", "Who is in Purchasing?"):
        assert await answerer.understand(question, build_shop_caller(VISITOR)) is None
    await store.database.close()


@pytest.mark.parametrize("name", ["T-3", "T-99"])
async def test_ids_of_others_are_read_like_ids_of_nobody(tmp_path: Path, name: str) -> None:
    store = open_shop(tmp_path)
    question = f"What is the status of trip {name}?"
    understood = await RecordAnswerer(store).understand(question, build_shop_caller(BUYER))
    assert understood is not None
    # Neither is known as a value: the question is understood alike.
    assert name.lower() in understood.question.unknown
    await store.database.close()


async def test_what_some_listeners_may_not_see_is_for_the_asker_alone(tmp_path: Path) -> None:
    store = open_shop(tmp_path)
    among_buyers = build_shop_caller(BOSS, listeners=(BUYER, BOSS))
    with_clerk = build_shop_caller(BOSS, listeners=(BUYER, BOSS, CLERK))
    question = "How many orders are pending?"
    assert not (await ask_shop(store, question, among_buyers)).result.is_for_asker_alone
    assert (await ask_shop(store, question, with_clerk)).result.is_for_asker_alone
    own = build_shop_caller(BUYER, listeners=(BUYER, BOSS))
    assert (await ask_shop(store, _TRIPS, own)).result.is_for_asker_alone
    await store.database.close()


async def test_figures_are_never_narrowed_by_tables_one_may_not_see(tmp_path: Path) -> None:
    store = open_shop(tmp_path)
    question = "How many suppliers have pending orders?"
    understood = await RecordAnswerer(store).understand(question, build_shop_caller(CLERK))
    assert understood is None or all(
        query.tables <= {"suppliers", "staff", "trips", "trip_steps"}
        for query in understood.reading.queries
    )
    await store.database.close()


async def test_a_listener_for_whom_there_is_no_such_table_makes_it_private(tmp_path: Path) -> None:
    store = open_shop(tmp_path)
    everybody = frozenset({PUBLIC})
    store.policies = {**store.policies, "suppliers": RowPolicy(full=everybody)}
    question = "How many suppliers are there?"
    among_staff = build_shop_caller(BOSS, listeners=(BUYER, BOSS))
    with_guest = build_shop_caller(BOSS, listeners=(BOSS, VISITOR))
    assert not (await ask_shop(store, question, among_staff)).result.is_for_asker_alone
    assert (await ask_shop(store, question, with_guest)).result.is_for_asker_alone
    await store.database.close()


async def test_names_from_a_table_listeners_may_not_see_make_it_private(tmp_path: Path) -> None:
    store = open_shop(tmp_path)
    purchasing = POLICIES["orders"].full
    store.policies = {
        **POLICIES,
        "orders": POLICIES["suppliers"],
        "suppliers": RowPolicy(full=purchasing, visible_to=purchasing),
    }
    question = "Which orders are pending?"
    caller = build_shop_caller(BOSS, listeners=(BOSS, CLERK))
    answer = await ask_shop(store, question, caller)
    assert "Varga Boxes" in answer.result.text
    assert answer.result.is_for_asker_alone
    await store.database.close()

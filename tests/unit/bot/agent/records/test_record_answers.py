"""Questions in both languages, answered from tables nobody wrote rules for."""

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.agent.records.answering import RecordAnswerer
from core.errors import ZhixingError
from tests.unit.bot.agent.records.shop import BOSS, BUYER, ask_shop, build_shop_caller, open_shop


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many orders are pending?", "**2** orders"),
        ("现在有多少个订单是待处理状态？", "共 **2** 条 orders"),
        ("今年的订单总金额是多少？", "6,950.5 EUR"),
        ("What is the total of the orders from April?", "4,800.5 EUR"),
        ("4 月有几个订单？", "共 **2** 条 orders"),
        ("What did we order last month in total?", "4,800.5 EUR"),
        ("哪家供应商的订单最多？", "北山纸业"),
        (
            "Top two suppliers by order value in 2026?",
            "Varga Boxes (S2): total total_eur: **4,050.5",
        ),
        ("How many orders per supplier?", "南湖胶带 / Southlake Tape (S3): **2** orders"),
        ("What is the average order total in 2026?", "1,390.1"),
        ("Which orders of Northhill Paper are there?", "O-102"),
        ("北山纸业有哪些订单？", "O-101"),
        ("How many orders did An Li place in May 2026?", "**2** orders"),
        ("李安今年有几个订单？", "共 **4** 条 orders"),
        ("Which order has the highest total?", "O-103"),
        ("How many suppliers do we have in CN?", "**2** suppliers"),
        ("Who is in the Purchasing department?", "eva.holm"),
        ("有多少在职员工？", "共 **3** 条 staff"),
        ("How many orders are pending and how many cancelled?", "cancelled: **1** orders"),
    ],
)
async def test_figures_and_rows_are_told(tmp_path: Path, question: str, expected: str) -> None:
    store = open_shop(tmp_path)
    answer = await ask_shop(store, question, build_shop_caller(BOSS))
    assert expected in answer.result.text
    await store.database.close()


async def test_what_was_looked_up_is_told_with_its_conditions(tmp_path: Path) -> None:
    store = open_shop(tmp_path)
    answer = await ask_shop(store, "How many orders in April 2026?", build_shop_caller(BOSS))
    assert "`orders` (ordered_on from 2026-04-01 to 2026-04-30)" in answer.result.text
    assert answer.tools == ("query_orders",)
    await store.database.close()


async def test_one_own_row_is_told_with_its_fields(tmp_path: Path) -> None:
    store = open_shop(tmp_path)
    answer = await ask_shop(store, "我这个月提交的差旅到哪一步了？", build_shop_caller(BUYER))
    assert answer.row is not None
    assert answer.row["id"] == "T-2"
    await store.database.close()


@pytest.mark.parametrize(
    "question",
    [
        "How do I place an order?",
        "订单最多可以超预算多少？",
        "What colour is the roof of the canteen?",
        "谢谢你",
    ],
)
async def test_questions_for_pages_are_not_taken_for_records(tmp_path: Path, question: str) -> None:
    store = open_shop(tmp_path)
    understood = await RecordAnswerer(store).understand(question, build_shop_caller(BOSS))
    assert understood is None or not understood.reading.is_asking or not understood.reading.is_named
    await store.database.close()


async def test_new_rows_are_seen_at_once(tmp_path: Path) -> None:
    store = open_shop(tmp_path)
    caller = build_shop_caller(BOSS)
    assert "**2** orders" in (await ask_shop(store, "How many pending orders?", caller)).result.text
    with sqlite3.connect(tmp_path / "shop.sqlite3") as connection:
        connection.execute("UPDATE orders SET status = 'pending' WHERE id = 'O-105'")
    connection.close()
    assert "**3** orders" in (await ask_shop(store, "How many pending orders?", caller)).result.text
    await store.database.close()


async def test_nothing_can_be_written(tmp_path: Path) -> None:
    store = open_shop(tmp_path)
    with pytest.raises(ZhixingError, match="readonly"):
        await store.database.read(
            lambda one: one.execute(text("DELETE FROM orders")).rowcount, timeout_s=5
        )
    await store.database.close()

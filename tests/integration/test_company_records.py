"""The sample company's tables and pages together: figures, conditions, drafts, and their rights."""

import asyncio
from collections.abc import AsyncIterator
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from bot.bootstrap import Product, open_product
from core.clock import FixedClock, parse_moment
from core.messages import Answer, Outcome
from core.settings import load_settings
from playground.company import play_company

TODAY = parse_moment("2026-10-15T09:00:00+08:00")
VARIABLES = {"ZHIXING_EMBEDDER": "none"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("company") / "home"
    with as_file(files("playground") / "sample_company") as folder:
        settings = load_settings(home, VARIABLES)
        asyncio.run(play_company(settings, FixedClock(TODAY), folder))
    return home


@pytest.fixture
async def product(home: Path) -> AsyncIterator[Product]:
    async with open_product(load_settings(home, VARIABLES), FixedClock(TODAY)) as opened:
        yield opened


async def ask(product: Product, question: str, as_: str, *, in_: str | None = None) -> Answer:
    reader = await product.resolve_reader(as_=as_, in_=in_)
    return await product.conversation.ask(question, reader)


async def test_a_sum_comes_from_the_records_and_says_how(product: Product) -> None:
    answer = await ask(product, "今年已签合同的总金额是多少？", "kang.duo")
    assert answer.outcome is Outcome.ANSWERED
    assert "1,818,200 CNY" in answer.text
    assert "status = signed" in answer.text
    assert answer.tools == ("query_contracts",)


async def test_without_the_right_to_a_table_it_is_as_if_there_were_none(product: Product) -> None:
    answer = await ask(product, "今年已签合同的总金额是多少？", "zhan.ji")
    assert "1,818,200" not in answer.text
    assert "query_contracts" not in answer.tools


async def test_rows_of_others_are_neither_told_nor_counted(product: Product) -> None:
    answer = await ask(product, "费澄今年用了几天年假？", "sui.ning")
    assert answer.outcome is Outcome.NO_ACCESS
    assert answer.private_answer is None


async def test_in_a_channel_with_others_a_figure_is_for_the_asker_alone(product: Product) -> None:
    answer = await ask(product, "今年已签合同的总金额是多少？", "kang.duo", in_="c-ops")
    assert "1,818,200" not in answer.text
    assert answer.private_answer is not None
    assert "1,818,200" in answer.private_answer


async def test_a_reminder_is_drafted_when_its_condition_holds(product: Product) -> None:
    question = "我九月交的报销到哪一步了？要是已经到财务，帮我写邮件请潘籽快一点。"
    answer = await ask(product, question, "zhan.ji")
    assert answer.outcome is Outcome.PROPOSED
    assert answer.proposed_action is not None
    assert answer.proposed_action.params["to"] == ["pan.zi@trellis-lib.example"]
    assert "CL-2609-017" in str(answer.proposed_action.params["body"])
    assert answer.proposed_action.from_pages == {"subject", "body"}


async def test_no_reminder_is_drafted_when_its_condition_does_not_hold(product: Product) -> None:
    question = "我十月交的报销卡在哪？到了财务的话帮我催一下潘籽。"
    answer = await ask(product, question, "miao.qing")
    assert answer.proposed_action is None
    assert "CL-2610-001" in answer.text
    assert "MANAGER" in answer.text


@pytest.mark.parametrize(
    ("question", "asker", "to"),
    [
        (
            "给包可发封邮件，说我周五上午 10:30 去取备用笔记本。",
            "sui.ning",
            ["bao.ke@trellis-lib.example"],
        ),
        (
            "Please mail Joana and Miao Qing that the call with Carvalhal moves to 14:00.",
            "pieter.maas",
            ["joana.duarte@trellis-lib.example", "miao.qing@trellis-lib.example"],
        ),
    ],
)
async def test_an_email_is_drafted_in_the_persons_own_words(
    product: Product, question: str, asker: str, to: list[str]
) -> None:
    answer = await ask(product, question, asker)
    assert answer.outcome is Outcome.PROPOSED
    assert answer.proposed_action is not None
    assert answer.proposed_action.params["to"] == to
    assert answer.proposed_action.from_pages == frozenset()


async def test_what_a_draft_lacks_is_asked_for(product: Product) -> None:
    for question in ("帮我开个工单。", "Please open a ticket."):
        answer = await ask(product, question, "sui.ning")
        assert answer.outcome is Outcome.CLARIFY
        assert answer.proposed_action is None


async def test_a_ticket_is_drafted_with_what_was_said(product: Product) -> None:
    question = "The Wi-Fi drops in the quiet corner now and then. Open a ticket, please."
    answer = await ask(product, question, "sara.nunes")
    assert answer.proposed_action is not None
    assert answer.proposed_action.skill == "create_ticket"
    assert "Wi-Fi" in str(answer.proposed_action.params["description"])


async def test_a_second_part_is_answered_about_what_the_first_found(product: Product) -> None:
    question = "我九月交的报销到哪一步了？它的金额是多少？"
    answer = await ask(product, question, "zhan.ji")
    assert "CL-2609-017" in answer.text
    assert "4,018" in answer.text

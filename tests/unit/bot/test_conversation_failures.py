"""Every question ends in a reply, whatever breaks; the reply leads to its trace."""

import shutil
import sqlite3

import pytest
import structlog

from bot.rag.language import detect_language
from bot.texts import get_texts
from core.errors import TransientError
from core.logging import configure_logging
from core.messages import Answer, Outcome
from knowledge.readers import resolve_reader
from tests.unit.bot.office import (
    DISK_QUESTION,
    HR,
    LEAVE_QUESTION,
    OPS,
    SALARY_QUESTION,
    Office,
    ask,
)


def break_table(office: Office, name: str) -> None:
    """Take a table away behind the product's back."""
    connection = sqlite3.connect(office.home / "state.sqlite3")
    connection.execute(f'ALTER TABLE "{name}" RENAME TO "{name}_gone"')
    connection.commit()
    connection.close()


def says_failed(answer: Answer, question: str) -> bool:
    expected = get_texts(detect_language(question)).failed.format(trace_id=answer.trace_id)
    return answer.outcome is Outcome.FAILED and answer.text.endswith(expected)


@pytest.mark.parametrize("question", [LEAVE_QUESTION, DISK_QUESTION])
async def test_an_index_that_vanished_ends_in_a_failed_reply_with_its_trace(
    office: Office, question: str
) -> None:
    async with office.open() as product:
        shutil.rmtree(office.home / "passages")
        answer = await ask(product, question, OPS)
        assert says_failed(answer, question)
        assert (await product.state.traces.get(answer.trace_id)).outcome == "failed"
    assert str(office.home) not in answer.text
    assert not answer.citations


async def test_a_store_that_was_closed_ends_in_a_failed_reply(office: Office) -> None:
    async with office.open() as product:
        await product.store.close()
        assert says_failed(await ask(product, LEAVE_QUESTION, OPS), LEAVE_QUESTION)


async def test_a_ledger_that_does_not_answer_ends_in_a_failed_reply(office: Office) -> None:
    async with office.open() as product:
        break_table(office, "index_rows")
        answer = await ask(product, LEAVE_QUESTION, OPS)
        assert says_failed(answer, LEAVE_QUESTION)
        assert answer.text.startswith(TransientError.public_message)
        assert "index_rows" not in answer.text


async def test_turns_that_cannot_be_read_end_in_a_failed_reply(office: Office) -> None:
    async with office.open() as product:
        break_table(office, "turns")
        answer = await ask(product, LEAVE_QUESTION, OPS, thread="t")
        assert says_failed(answer, LEAVE_QUESTION)
        assert (await product.state.traces.get(answer.trace_id)).outcome == "failed"


async def test_a_turn_that_cannot_be_kept_does_not_cost_the_answer(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    connection = sqlite3.connect(office.home / "state.sqlite3")
    connection.execute(
        "CREATE TRIGGER full BEFORE INSERT ON turns BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    )
    connection.commit()
    connection.close()
    configure_logging(level="WARNING")
    async with office.open() as product:
        answer = await ask(product, LEAVE_QUESTION, OPS, thread="t")
    structlog.reset_defaults()
    assert answer.outcome is Outcome.ANSWERED
    assert "5 天" in answer.text
    logged = capsys.readouterr().err
    assert "turn_not_kept" in logged
    assert answer.trace_id in logged
    assert LEAVE_QUESTION not in logged
    assert "5 天" not in logged


async def test_a_trace_that_cannot_be_kept_does_not_cost_the_answer(office: Office) -> None:
    async with office.open() as product:
        break_table(office, "traces")
        answer = await ask(product, LEAVE_QUESTION, OPS)
    assert answer.outcome is Outcome.ANSWERED
    assert answer.trace_id


async def test_a_failed_question_is_not_remembered(office: Office) -> None:
    async with office.open() as product:
        break_table(office, "index_rows")
        await ask(product, LEAVE_QUESTION, OPS, thread="t")
    connection = sqlite3.connect(office.home / "state.sqlite3")
    assert connection.execute("SELECT count(*) FROM turns").fetchone() == (0,)
    connection.close()


async def test_a_failure_among_several_turns_ends_in_a_failed_reply(office: Office) -> None:
    async with office.open() as product:
        break_table(office, "index_rows")
        reader = await resolve_reader(product.state.registry, as_=HR)
        asked = (SALARY_QUESTION, LEAVE_QUESTION)
        answer = await product.conversation.ask_in_turn(asked, reader)
        assert says_failed(answer, LEAVE_QUESTION)


async def test_a_filter_nobody_knows_ends_in_a_reply(office: Office) -> None:
    async with office.open() as product:
        answer = await ask(product, f"{LEAVE_QUESTION} status:lost", OPS)
    assert says_failed(answer, LEAVE_QUESTION)

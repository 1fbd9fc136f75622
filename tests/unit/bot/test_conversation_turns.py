"""What is remembered of a conversation, for whom, and when it is not used."""

from asyncio import to_thread
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from bot.bootstrap import Product
from bot.memory.turns import TurnStore, turns
from core.messages import Answer, Outcome
from knowledge.directory_import import import_directory
from knowledge.readers import resolve_reader
from tests.unit.bot.office import (
    GROUPS,
    HR,
    LEAVE_QUESTION,
    OPS,
    SALARY,
    SALARY_QUESTION,
    Office,
    ask,
    write_directory,
)

FOLLOW_UP = "那 L5 呢？"
L5 = "52,000"


async def understood(product: Product, answer: Answer) -> str:
    """Return how the question was understood, as its trace says."""
    trace = await product.state.traces.get(answer.trace_id)
    steps: Any = trace.payload["steps"]
    [note] = [step["note"] for step in steps if step["step"] == "understand"]
    return str(note)


async def count_turns(product: Product) -> int:
    query = select(func.count()).select_from(turns)
    return int(await product.state.database.read(lambda found: found.scalar(query) or 0))


async def test_a_follow_up_in_a_thread_is_given_its_subject(office: Office) -> None:
    async with office.open() as product:
        await ask(product, SALARY_QUESTION, HR, thread="t")
        answer = await ask(product, FOLLOW_UP, HR, thread="t")
        assert await understood(product, answer) == SALARY_QUESTION.replace("L4", "L5")
    assert answer.outcome is Outcome.ANSWERED
    assert L5 in answer.text


async def test_without_a_thread_nothing_is_remembered(office: Office) -> None:
    async with office.open() as product:
        await ask(product, SALARY_QUESTION, HR)
        answer = await ask(product, FOLLOW_UP, HR)
        assert await understood(product, answer) == FOLLOW_UP
        assert await count_turns(product) == 0


async def test_a_follow_up_leans_on_the_persons_own_turns_only(office: Office) -> None:
    async with office.open() as product:
        await ask(product, SALARY_QUESTION, HR, thread="t")
        for person, thread in ((OPS, "t"), (None, "t"), (HR, "other")):
            answer = await ask(product, FOLLOW_UP, person, thread=thread)
            assert await understood(product, answer) == FOLLOW_UP


async def test_a_turn_on_what_the_asker_may_no_longer_read_is_dropped(office: Office) -> None:
    async with office.open() as product:
        answer = await ask(product, SALARY_QUESTION, HR, thread="t")
        assert SALARY in answer.text
        write_directory(office.company, groups=GROUPS[1:])
        await import_directory(product.state.directory, office.company)
        follow_up = await ask(product, FOLLOW_UP, HR, thread="t")
        assert await understood(product, follow_up) == FOLLOW_UP
    assert L5 not in follow_up.text


async def test_a_turn_on_a_page_that_was_deleted_is_dropped(office: Office) -> None:
    async with office.open() as product:
        await ask(product, SALARY_QUESTION, HR, thread="t")
    (office.files / "hr" / "薪酬带宽.md").unlink()
    await to_thread(office.run_json, "sync", "--accept-deletions")
    async with office.open() as product:
        answer = await ask(product, FOLLOW_UP, HR, thread="t")
        assert await understood(product, answer) == FOLLOW_UP


async def test_a_direct_message_is_not_leant_on_where_others_listen(office: Office) -> None:
    async with office.open() as product:
        await ask(product, LEAVE_QUESTION, HR, thread="t")
        in_channel = await ask(product, "病假呢？", HR, in_="c-mixed", thread="t")
        assert await understood(product, in_channel) == "病假呢？"


async def test_a_turn_with_a_private_part_is_not_leant_on_where_others_listen(
    office: Office,
) -> None:
    async with office.open() as product:
        first = await ask(product, SALARY_QUESTION, HR, in_="c-mixed", thread="t")
        assert first.private_answer is not None
        [turn] = await TurnStore(product.state.database).load("t", HR)
        assert SALARY not in turn.answer
        again = await ask(product, FOLLOW_UP, HR, in_="c-mixed", thread="t")
        assert await understood(product, again) == FOLLOW_UP


async def test_a_public_turn_of_a_channel_is_leant_on_there(office: Office) -> None:
    async with office.open() as product:
        await ask(product, LEAVE_QUESTION, OPS, in_="c-mixed", thread="t")
        answer = await ask(product, "病假呢？", OPS, in_="c-mixed", thread="t")
        assert LEAVE_QUESTION[4:8] in await understood(product, answer)


async def test_a_public_turn_of_somebody_else_is_leant_on_in_its_thread_alone(
    office: Office,
) -> None:
    async with office.open() as product:
        await ask(product, LEAVE_QUESTION, OPS, in_="c-mixed", thread="t")
        joined = await ask(product, "病假呢？", HR, in_="c-mixed", thread="t")
        assert LEAVE_QUESTION[4:8] in await understood(product, joined)
        elsewhere = await ask(product, "病假呢？", HR, in_="c-mixed", thread="other")
        assert await understood(product, elsewhere) == "病假呢？"


async def test_what_only_one_was_told_is_no_context_for_the_others(office: Office) -> None:
    async with office.open() as product:
        first = await ask(product, SALARY_QUESTION, HR, in_="c-mixed", thread="t")
        assert first.private_answer is not None
        joined = await ask(product, "那 L5 呢？", OPS, in_="c-mixed", thread="t")
        assert await understood(product, joined) == "那 L5 呢？"


@pytest.mark.parametrize("said", ["谢谢！", "好的", "thanks", "help", "？"])
async def test_small_talk_between_questions_is_neither_searched_nor_remembered(
    office: Office, said: str
) -> None:
    async with office.open() as product:
        await ask(product, SALARY_QUESTION, HR, thread="t")
        answer = await ask(product, said, HR, thread="t")
        assert answer.outcome in {Outcome.CHITCHAT, Outcome.CLARIFY}
        assert not answer.citations
        assert await count_turns(product) == 1
        assert L5 in (await ask(product, FOLLOW_UP, HR, thread="t")).text


async def test_turns_given_at_once_are_understood_and_not_kept(office: Office) -> None:
    async with office.open() as product:
        reader = await resolve_reader(product.state.registry, as_=HR)
        asked = (SALARY_QUESTION, "谢谢", FOLLOW_UP)
        answer = await product.conversation.ask_in_turn(asked, reader)
        assert L5 in answer.text
        assert await count_turns(product) == 0


async def test_a_batch_keeps_no_turn(office: Office, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.write_text(
        f'{{"id": "1", "asker": "{HR}", "turns": ["{SALARY_QUESTION}", "{FOLLOW_UP}"]}}\n',
        encoding="utf-8",
    )
    result = await to_thread(office.run, "ask", "--batch", batch)
    assert L5 in result.stdout
    async with office.open() as product:
        assert await count_turns(product) == 0

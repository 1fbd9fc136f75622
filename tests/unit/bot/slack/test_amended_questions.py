"""Questions that are edited or deleted, before they are answered and after."""

from collections.abc import AsyncIterator

import pytest

from playground.slack.workspace import Message
from tests.fakes.chat_server import ChatServer, Script, run_chat_server
from tests.unit.bot.office import HR, LEAVE_QUESTION, OPS, SALARY, SALARY_QUESTION, Office
from tests.unit.bot.slack.workplace import HR_ONLY, MIXED, Workplace, open_workplace, words_of

SICK_QUESTION = "病假三天以上需要什么？"
MENTION = "<@U0PLAYGROUND> "


@pytest.fixture
async def workplace(office: Office) -> AsyncIterator[Workplace]:
    async with open_workplace(office) as workplace:
        yield workplace


def question_of(workplace: Workplace, channel: str) -> Message:
    return workplace.people.messages(channel)[0]


async def test_an_edited_question_is_answered_anew_in_the_same_message_and_says_so(
    workplace: Workplace,
) -> None:
    answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    workplace.slack.faults.deliveries = 2
    workplace.people.edit(OPS, MIXED, answer.thread_ts, MENTION + SICK_QUESTION)
    await workplace.wait_until(lambda: "医院证明" in words_of(answer))
    await workplace.settle()
    assert workplace.people.from_bot(MIXED) == [answer]
    assert "5 天" not in words_of(answer)
    assert "问题已修改" in words_of(answer)
    assert await workplace.scalar("SELECT attempts FROM chat_questions") == 2


async def test_an_edit_that_leaves_the_words_as_they_are_changes_nothing(
    workplace: Workplace,
) -> None:
    answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    before = words_of(answer)
    workplace.people.edit(OPS, MIXED, answer.thread_ts, f"  {MENTION} {LEAVE_QUESTION}")
    await workplace.settle()
    assert words_of(answer) == before
    assert await workplace.scalar("SELECT attempts FROM chat_questions") == 1


async def test_an_answer_is_refreshed_under_the_rights_of_that_moment(
    workplace: Workplace,
) -> None:
    answer = await workplace.ask(HR, HR_ONLY, SALARY_QUESTION)
    assert SALARY in words_of(answer)
    workplace.people.join(OPS, HR_ONLY)
    await workplace.settle()
    workplace.people.edit(HR, HR_ONLY, answer.thread_ts, f"{MENTION}{SALARY_QUESTION} 急")
    await workplace.wait_until(lambda: SALARY not in words_of(answer))
    await workplace.settle()
    assert not any(SALARY in words_of(one) for one in workplace.people.from_bot(HR_ONLY))


async def test_the_answer_of_a_deleted_question_is_taken_back(workplace: Workplace) -> None:
    answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    workplace.people.delete(OPS, MIXED, answer.thread_ts)
    await workplace.wait_until(lambda: "撤回" in words_of(answer))
    await workplace.settle()
    assert answer.blocks == []
    assert workplace.people.from_bot(MIXED) == [answer]
    assert await workplace.scalar("SELECT outcome FROM chat_questions") == "withdrawn"


async def test_other_messages_may_be_edited_and_deleted(workplace: Workplace) -> None:
    said = workplace.people.say(OPS, MIXED, "今天吃什么？")
    workplace.people.edit(OPS, MIXED, said.ts, "面")
    workplace.people.delete(OPS, MIXED, said.ts)
    await workplace.settle()
    assert workplace.people.from_bot(MIXED) == []


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with run_chat_server() as running:
        yield running


@pytest.fixture
async def slow_workplace(office: Office, server: ChatServer) -> AsyncIterator[Workplace]:
    """Return a workplace whose answers wait for the model to be let go."""
    server.respond = lambda _: Script(text="NOT_FOUND", hangs=True)
    office.add_settings(
        f'[models]\nbase_url = "{server.base_url}"\nchat_model = "scripted"\n'
        'api_key = "k"\ntimeout_s = 60\nprivate = true\n'
    )
    async with open_workplace(office) as workplace:
        yield workplace


async def test_a_question_edited_before_it_is_answered_is_answered_as_it_is_then(
    slow_workplace: Workplace, server: ChatServer
) -> None:
    workplace = slow_workplace
    question = workplace.people.mention(OPS, MIXED, LEAVE_QUESTION)
    await server.wait_for_requests(1)
    workplace.people.edit(OPS, MIXED, question.ts, MENTION + SICK_QUESTION)
    await workplace.slack.delivery.settle()
    server.release()
    await workplace.settle()
    assert SICK_QUESTION in str(server.requests[-1])
    [answer] = workplace.people.from_bot(MIXED)
    assert "问题已修改" not in words_of(answer)
    assert await workplace.scalar("SELECT revision FROM chat_questions") == 1


async def test_nothing_is_said_in_private_to_a_question_deleted_before_it_is_answered(
    slow_workplace: Workplace, server: ChatServer
) -> None:
    server.respond = lambda _: Script(text="L4 的薪酬带宽上限是每月 38,000 元 [1]。", hangs=True)
    workplace = slow_workplace
    question = workplace.people.mention(HR, MIXED, SALARY_QUESTION)
    await server.wait_for_requests(1)
    workplace.people.delete(HR, MIXED, question.ts)
    await workplace.slack.delivery.settle()
    server.release()
    await workplace.settle()
    [left] = workplace.people.from_bot(MIXED, viewer=HR)
    assert "撤回" in left.text
    assert workplace.people.from_bot("dm", viewer=HR) == []

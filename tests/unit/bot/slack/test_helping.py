"""People are called to a question once, told the question alone, and say when it is resolved."""

import copy
from collections.abc import AsyncIterator

import pytest

from bot.preferences.store import ChannelChoice, Preferences
from playground.slack.workspace import Message
from tests.unit.bot.office import GUEST, HR, LEAVE_QUESTION, OPS, SALARY, SALARY_QUESTION, Office
from tests.unit.bot.slack.workplace import MIXED, SHARED, Workplace, open_workplace, words_of

UNKNOWN = "食堂周五供应什么甜品？"
HELPER = "su.qin"


@pytest.fixture
async def workplace(office: Office) -> AsyncIterator[Workplace]:
    async with open_workplace(office, people_to_call=("U2",)) as workplace:
        yield workplace


def told(workplace: Workplace, person: str, channel: str) -> list[Message]:
    """Return what somebody alone was told in a channel, or in direct messages after a press."""
    seen = workplace.people.messages(channel, viewer=person)
    return [one for one in seen if one.ephemeral_to]


async def press(workplace: Workplace, person: str, message: Message, action: str) -> str:
    """Press a button and return what the person is told."""
    before = len(told(workplace, person, message.channel))
    assert await workplace.people.press(person, message, action)
    await workplace.wait_until(lambda: len(told(workplace, person, message.channel)) > before)
    return words_of(told(workplace, person, message.channel)[-1])


async def test_who_found_nothing_calls_people_once_and_either_marks_it_resolved(
    workplace: Workplace,
) -> None:
    answer = await workplace.ask(OPS, MIXED, UNKNOWN)
    assert "只有提问的人" in await press(workplace, HR, answer, "answer_human")
    assert "<@U2>" in await press(workplace, OPS, answer, "answer_human")
    assert "已经有人" in await press(workplace, OPS, answer, "answer_human")
    [_, call] = workplace.people.from_bot(MIXED)
    assert call.thread_ts == answer.thread_ts
    assert all(word in words_of(call) for word in ("<@U2>", "<@U3>", UNKNOWN))
    assert "只有被请来" in await press(workplace, HR, call, "help_resolved")
    assert await workplace.people.press(OPS, call, "help_resolved")
    await workplace.wait_until(lambda: "✓" in words_of(call))
    assert "help_resolved" not in words_of(call)
    assert await workplace.scalar("SELECT resolved_by FROM chat_help_requests") == "U3"


async def test_who_was_called_marks_it_resolved_after_a_restart(office: Office) -> None:
    async with open_workplace(office, people_to_call=("U2", "U3")) as workplace:
        slack = workplace.slack
        answer = await workplace.ask(OPS, MIXED, UNKNOWN)
        said = await press(workplace, OPS, answer, "answer_human")
        assert "<@U2>" in said
        assert "<@U3>" not in said
        async with open_workplace(office, slack=slack):
            call = workplace.people.from_bot(MIXED)[-1]
            still_open = copy.deepcopy(call)
            assert await workplace.people.press(HELPER, call, "help_resolved")
            await workplace.wait_until(lambda: "✓" in words_of(call))
            assert "已有人标记" in await press(workplace, OPS, still_open, "help_resolved")
            assert "<@U2>" in words_of(call).split("✓")[1]
            assert await workplace.scalar("SELECT resolved_by FROM chat_help_requests") == "U2"


async def test_an_answer_that_does_not_help_offers_people_too(workplace: Workplace) -> None:
    answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    assert "answer_human" not in words_of(answer)
    assert await workplace.people.press(OPS, answer, "answer_not_solved")
    await workplace.wait_until(lambda: bool(workplace.slack.views.stacks.get("U3")))
    await workplace.people.submit(OPS, {})
    await workplace.wait_until(lambda: bool(told(workplace, OPS, MIXED)))
    thanks = told(workplace, OPS, MIXED)[-1]
    assert "<@U2>" in await press(workplace, OPS, thanks, "answer_human")


async def test_people_called_directly_are_told_the_question_and_no_page(
    workplace: Workplace,
) -> None:
    workplace.slack.workspace.find_member(HELPER).is_restricted = True
    answer = await workplace.ask(HR, "dm", SALARY_QUESTION)
    assert SALARY in words_of(answer)
    assert await workplace.people.press(HR, answer, "answer_not_solved")
    await workplace.wait_until(lambda: bool(workplace.slack.views.stacks.get("U1")))
    await workplace.people.submit(HR, {})
    await workplace.wait_until(lambda: bool(told(workplace, HR, "dm")))
    await press(workplace, HR, told(workplace, HR, "dm")[-1], "answer_human")
    [call] = workplace.people.from_bot("dm", viewer=HELPER)
    assert SALARY_QUESTION in words_of(call)
    assert SALARY not in words_of(call)
    assert await workplace.people.press(HELPER, call, "help_resolved")
    await workplace.wait_until(lambda: "✓" in words_of(call))


async def test_a_channel_names_people_of_its_own(workplace: Workplace) -> None:
    preferences = Preferences(workplace.product.state.database, platform="slack")
    choice = ChannelChoice(people_to_call=("U1",))
    await preferences.save_channel("C3", choice, changed_by="U1")
    answer = await workplace.ask(OPS, SHARED, UNKNOWN)
    assert "<@U1>" in await press(workplace, OPS, answer, "answer_human")
    assert "<@U2>" not in words_of(workplace.people.from_bot(SHARED)[-1])


async def test_a_ring_in_a_question_is_not_passed_on(workplace: Workplace) -> None:
    answer = await workplace.ask(GUEST, SHARED, f"{UNKNOWN} &lt;!channel&gt; <@U1>")
    await press(workplace, GUEST, answer, "answer_human")
    call = workplace.people.from_bot(SHARED)[-1]
    assert "<!channel>" not in words_of(call)
    assert "<@U1>" not in words_of(call)


async def test_a_call_that_was_written_down_and_not_posted_is_posted_once(office: Office) -> None:
    async with open_workplace(
        office, people_to_call=("U2",), lease_s=0.5, rate_limit_retries=0
    ) as workplace:
        answer = await workplace.ask(OPS, MIXED, UNKNOWN)
        workplace.slack.faults.limit["chat.postMessage"] = 4
        assert await workplace.people.press(OPS, answer, "answer_human")
        await workplace.wait_until(lambda: len(workplace.people.from_bot(MIXED)) == 2)
        await workplace.wait_until(lambda: workplace.slack.faults.limit["chat.postMessage"] == 0)
        assert await workplace.scalar("SELECT count(*) FROM chat_help_requests") == 1
        assert len(workplace.people.from_bot(MIXED)) == 2


async def test_without_anybody_to_call_nobody_is_offered(office: Office) -> None:
    async with open_workplace(office) as workplace:
        answer = await workplace.ask(OPS, MIXED, UNKNOWN)
        assert "answer_human" not in words_of(answer)

"""Buttons below answers, and the slash command: rights of the moment, words for everybody else."""

from collections.abc import AsyncIterator

import pytest

from playground.slack.workspace import Message
from tests.unit.bot.office import HR, LEAVE_QUESTION, OPS, SALARY, Office
from tests.unit.bot.slack.workplace import (
    HR_ONLY,
    MIXED,
    OPEN,
    Workplace,
    open_workplace,
    words_of,
)


@pytest.fixture
async def workplace(office: Office) -> AsyncIterator[Workplace]:
    async with open_workplace(office) as workplace:
        yield workplace


async def press(
    workplace: Workplace, person: str, message: Message, action: str, *, value: str = ""
) -> Message:
    """Press a button and return what the person is told."""
    before = {id(one) for one in workplace.people.messages(message.channel, viewer=person)}
    assert await workplace.people.press(person, message, action, value=value)

    def told() -> list[Message]:
        seen = workplace.people.messages(message.channel, viewer=person)
        return [one for one in seen if id(one) not in before and one.ephemeral_to]

    await workplace.wait_until(lambda: bool(told()))
    return told()[0]


async def search(workplace: Workplace, person: str, channel: str, words: str) -> Message:
    """Search and return the results."""
    before = len(workplace.people.messages(channel, viewer=person))
    assert await workplace.people.slash(person, channel, f"/kb {words}") is not None
    await workplace.wait_until(
        lambda: len(workplace.people.messages(channel, viewer=person)) > before
    )
    return workplace.people.messages(channel, viewer=person)[-1]


async def test_whoever_asked_says_that_it_is_solved_and_others_are_told_why_not(
    workplace: Workplace,
) -> None:
    answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    refused = await press(workplace, HR, answer, "answer_solved")
    assert "只有提问的人" in refused.text
    assert await workplace.scalar("SELECT count(*) FROM chat_feedback") == 0
    assert "谢谢" in (await press(workplace, OPS, answer, "answer_solved")).text
    assert await workplace.scalar("SELECT is_solved FROM chat_feedback") == 1


async def test_what_is_not_solved_may_be_corrected_in_a_form(workplace: Workplace) -> None:
    answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    assert await workplace.people.press(OPS, answer, "answer_not_solved")
    await workplace.wait_until(lambda: "U3" in workplace.slack.views.stacks)
    await workplace.people.submit(OPS, {"correction": "是 10 天"})
    await workplace.wait_until(
        lambda: any(one.ephemeral_to for one in workplace.people.messages(MIXED, viewer=OPS))
    )
    assert await workplace.scalar("SELECT is_solved FROM chat_feedback") == 0
    assert await workplace.scalar("SELECT correction FROM chat_feedback") == "是 10 天"


async def test_sources_are_shown_under_the_rights_of_whoever_presses(workplace: Workplace) -> None:
    answer = await workplace.ask(HR, HR_ONLY, "L4 的薪酬带宽上限是多少？")
    assert SALARY in words_of(await press(workplace, HR, answer, "answer_sources"))
    workplace.people.join(OPS, HR_ONLY)
    await workplace.settle()
    assert SALARY not in words_of(await press(workplace, OPS, answer, "answer_sources"))


async def test_trying_again_answers_in_the_same_place(workplace: Workplace) -> None:
    answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    answer.text, answer.blocks[0]["text"] = "stale", "stale"
    assert "只有提问的人" in (await press(workplace, HR, answer, "answer_again")).text
    assert await workplace.people.press(OPS, answer, "answer_again")
    await workplace.wait_until(lambda: "5 天" in answer.text)
    await workplace.settle()
    assert len(workplace.people.from_bot(MIXED)) == 1


async def test_search_results_are_private_and_those_of_the_asker(workplace: Workplace) -> None:
    found = await search(workplace, HR, MIXED, "薪酬带宽")
    assert found.ephemeral_to == "U1"
    assert SALARY in words_of(found)
    assert "仅" in words_of(found) or "只有您" in words_of(found)
    others = await search(workplace, OPS, MIXED, "薪酬带宽")
    assert SALARY not in words_of(others)
    assert workplace.people.from_bot(MIXED) == []


async def test_results_are_leafed_through(office: Office) -> None:
    async with open_workplace(office, search_page_size=1) as workplace:
        page = await search(workplace, HR, MIXED, "杭州住宿标准")
        first, hit = words_of(page), page.blocks[2]
        assert await workplace.people.press(HR, page, "search_later")
        await workplace.wait_until(lambda: words_of(page) != first)
        assert page.blocks[2] != hit
        assert await workplace.people.press(HR, page, "search_earlier")
        await workplace.wait_until(lambda: words_of(page) == first)


async def test_a_result_is_shared_only_where_everybody_may_read_it(workplace: Workplace) -> None:
    secret = await search(workplace, HR, MIXED, "薪酬带宽")
    assert "没有分享" in (await press(workplace, HR, secret, "search_share")).text
    assert workplace.people.from_bot(MIXED) == []
    common = await search(workplace, HR, MIXED, "年假结转")
    assert "已分享" in (await press(workplace, HR, common, "search_share")).text
    [shared] = workplace.people.from_bot(MIXED)
    assert "<@U1>" in words_of(shared)
    assert "5 天" in words_of(shared)


async def test_sharing_needs_us_in_the_channel(workplace: Workplace) -> None:
    room = workplace.slack.workspace.find_room(OPEN)
    room.members.remove("U0PLAYGROUND")
    found = await search(workplace, HR, OPEN, "年假结转")
    assert "邀请我" in (await press(workplace, HR, found, "search_share")).text


async def test_a_result_list_is_answered_for_the_asker_alone(workplace: Workplace) -> None:
    found = await search(workplace, HR, MIXED, "L4 的薪酬带宽上限是多少？")
    told = await press(workplace, HR, found, "search_answer")
    assert SALARY in words_of(told)
    assert told.ephemeral_to == "U1"


@pytest.mark.parametrize("line", ["", "after:yesterday 年假"])
async def test_a_command_that_is_none_is_explained(workplace: Workplace, line: str) -> None:
    assert "/kb" in (await search(workplace, OPS, MIXED, line)).text


@pytest.mark.parametrize("filling", ["&", '"', "\\", "<", "\x01", "住"])
@pytest.mark.parametrize("size", [40, 280, 290, 1_400])
async def test_a_search_of_any_length_ends_in_results_or_a_reason(
    office: Office, filling: str, size: int
) -> None:
    async with open_workplace(office, search_page_size=10) as workplace:
        found = await search(workplace, HR, MIXED, "年假结转 " + filling * size)
        assert "结果" in found.text or "太长" in found.text
        assert workplace.slack.calls.refused == []


async def test_what_is_not_found_is_said(workplace: Workplace) -> None:
    found = await search(workplace, OPS, "dm", "space:nowhere 年假可以结转几天 <!channel>")
    assert "没有找到" in found.text
    assert "<!channel>" not in found.text

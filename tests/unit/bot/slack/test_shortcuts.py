"""The shortcuts: a form, and a question that is answered where it was wished, once."""

from collections.abc import AsyncIterator

import pytest

from playground.slack.workspace import Message
from tests.unit.bot.office import HR, LEAVE_QUESTION, OPS, SALARY, SALARY_QUESTION, Office
from tests.unit.bot.slack.workplace import (
    HR_ONLY,
    MIXED,
    OPEN,
    Workplace,
    open_workplace,
    words_of,
)

IDS = {HR: "U1", OPS: "U3"}


@pytest.fixture
async def workplace(office: Office) -> AsyncIterator[Workplace]:
    async with open_workplace(office) as workplace:
        yield workplace


async def open_form(workplace: Workplace, person: str, message: Message | None = None) -> None:
    """Choose a shortcut and wait for its form."""
    user = IDS[person]
    interactions = workplace.people.interactions
    if message is None:
        assert await interactions.run_shortcut(user, "ask_zhixing")
    else:
        assert await interactions.run_message_shortcut(user, message, "ask_about_message")
    await workplace.wait_until(lambda: bool(workplace.slack.views.stacks.get(user)))


async def put(workplace: Workplace, person: str, channel: str, **values: str) -> Message:
    """Send the form and return the answer."""
    before = len(workplace.finished(channel, person))
    await workplace.people.submit(person, values)
    await workplace.wait_until(lambda: len(workplace.finished(channel, person)) > before)
    await workplace.settle()
    return workplace.finished(channel, person)[before]


async def test_a_message_is_asked_about_in_its_thread_with_the_rights_of_all_who_listen(
    workplace: Workplace,
) -> None:
    message = workplace.people.say(OPS, MIXED, SALARY_QUESTION)
    await open_form(workplace, HR, message)
    answer = await put(workplace, HR, MIXED, where="thread")
    assert answer.thread_ts == message.ts
    assert SALARY_QUESTION in words_of(answer)
    assert "<@U1>" in words_of(answer)
    assert SALARY not in words_of(answer)
    [whispered] = [one for one in workplace.people.from_bot(MIXED, viewer=HR) if one.ephemeral_to]
    assert SALARY in words_of(whispered)
    assert workplace.people.from_bot(MIXED) == [answer]


async def test_it_may_be_asked_about_for_oneself_and_edited_before(workplace: Workplace) -> None:
    message = workplace.people.say(OPS, MIXED, "薪酬？")
    await open_form(workplace, HR, message)
    answer = await put(workplace, HR, "dm", question=SALARY_QUESTION)
    assert SALARY in words_of(answer)
    assert workplace.people.from_bot(MIXED, viewer=HR) == []
    await open_form(workplace, OPS, message)
    assert SALARY not in words_of(await put(workplace, OPS, "dm", question=SALARY_QUESTION))


async def test_without_a_message_the_form_asks_for_oneself(workplace: Workplace) -> None:
    await open_form(workplace, OPS)
    answer = await put(workplace, OPS, "dm", question=LEAVE_QUESTION)
    assert "5 天" in words_of(answer)
    assert "answer_share" not in words_of(answer)


async def test_where_we_are_not_there_is_no_choice_of_the_thread(workplace: Workplace) -> None:
    message = workplace.people.say(OPS, OPEN, LEAVE_QUESTION)
    workplace.slack.workspace.find_room(OPEN).members.remove("U0PLAYGROUND")
    await open_form(workplace, OPS, message)
    [view] = workplace.slack.views.stacks["U3"]
    assert [one["block_id"] for one in view["blocks"]] == ["question"]


async def test_a_form_that_is_sent_twice_is_answered_once(workplace: Workplace) -> None:
    await open_form(workplace, OPS)
    [view] = workplace.slack.views.stacks["U3"]
    for _ in range(2):
        workplace.slack.views.stacks["U3"] = [view]
        await workplace.people.submit(OPS, {"question": LEAVE_QUESTION})
    await workplace.settle()
    assert len(workplace.people.from_bot("dm", viewer=OPS)) == 1


async def test_a_form_that_can_not_be_taken_stays_open_and_says_so(workplace: Workplace) -> None:
    await open_form(workplace, OPS)
    workplace.slack.faults.fail["conversations.open"] = 9
    reply = await workplace.people.submit(OPS, {"question": LEAVE_QUESTION})
    assert reply is not None
    assert "稍后再试" in reply["errors"]["question"]
    assert workplace.slack.views.stacks["U3"]
    assert workplace.people.from_bot("dm", viewer=OPS) == []


async def share(workplace: Workplace, person: str, answer: Message) -> Message:
    """Press "share to channel" and return what the person is told."""
    seen = set(map(id, workplace.people.messages(answer.channel, viewer=person)))
    assert await workplace.people.press(person, answer, "answer_share")

    def told() -> list[Message]:
        found = workplace.people.messages(answer.channel, viewer=person)
        return [one for one in found if id(one) not in seen and one.ephemeral_to]

    await workplace.wait_until(lambda: bool(told()))
    await workplace.settle()
    return told()[0]


async def test_an_answer_for_oneself_is_shared_where_everybody_may_read_it(
    workplace: Workplace,
) -> None:
    message = workplace.people.say(OPS, MIXED, "年假")
    await open_form(workplace, HR, message)
    answer = await put(workplace, HR, "dm", question=LEAVE_QUESTION)
    for _ in range(2):
        assert "已分享" in (await share(workplace, HR, answer)).text
    [shared] = workplace.people.from_bot(MIXED)
    assert shared.thread_ts == message.ts
    assert "5 天" in words_of(shared)


async def test_what_not_everybody_may_read_is_not_shared(workplace: Workplace) -> None:
    secret = workplace.people.say(HR, HR_ONLY, "薪酬")
    await open_form(workplace, HR, secret)
    answer = await put(workplace, HR, "dm", question=SALARY_QUESTION)
    workplace.people.join(OPS, HR_ONLY)
    await workplace.settle()
    assert "没有分享" in (await share(workplace, HR, answer)).text
    workplace.people.leave(OPS, HR_ONLY)
    workplace.people.leave(HR, HR_ONLY)
    await workplace.settle()
    assert "不在这个频道" in (await share(workplace, HR, answer)).text
    assert workplace.people.from_bot(HR_ONLY) == []

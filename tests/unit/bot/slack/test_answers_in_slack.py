"""Questions in a workspace, over real sockets: answered once, where asked, to whom it may go."""

from collections.abc import AsyncIterator

import pytest

from playground.slack.workspace import OTHER_TEAM_ID, Member
from tests.unit.bot.office import GUEST, HR, LEAVE_QUESTION, OPS, SALARY, SALARY_QUESTION, Office
from tests.unit.bot.slack.workplace import (
    HR_ONLY,
    MIXED,
    OPEN,
    SHARED,
    Workplace,
    open_workplace,
    words_of,
)


@pytest.fixture
async def workplace(office: Office) -> AsyncIterator[Workplace]:
    async with open_workplace(office) as workplace:
        yield workplace


async def test_a_mention_is_answered_once_in_its_thread_with_the_source(
    workplace: Workplace,
) -> None:
    answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    question = workplace.people.messages(MIXED)[0]
    assert "5 天" in words_of(answer)
    assert "1. 休假制度 · v1" in words_of(answer)
    assert answer.thread_ts == question.ts
    assert len(workplace.people.from_bot(MIXED)) == 1
    assert answer.metadata is not None


async def test_a_thread_goes_on_without_a_mention_and_other_talk_is_left_alone(
    workplace: Workplace,
) -> None:
    answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    workplace.people.say(OPS, MIXED, "今天吃什么？")
    workplace.people.say(OPS, MIXED, "<@U1> 你怎么看？", thread_ts=answer.thread_ts)
    workplace.people.say(OPS, MIXED, "病假三天以上需要什么？", thread_ts=answer.thread_ts)
    await workplace.wait_until(lambda: len(workplace.finished(MIXED)) == 2)
    await workplace.settle()
    assert "医院证明" in words_of(workplace.finished(MIXED)[1])
    assert workplace.finished(MIXED)[1].thread_ts == answer.thread_ts


async def test_a_direct_message_is_answered_where_it_stands(workplace: Workplace) -> None:
    answer = await workplace.ask(HR, "dm", SALARY_QUESTION)
    assert SALARY in words_of(answer)
    assert answer.thread_ts == ""
    assert (await workplace.ask(HR, "dm", "谢谢")).text


async def test_what_not_everybody_may_read_goes_to_the_asker_alone(workplace: Workplace) -> None:
    await workplace.ask(HR, MIXED, SALARY_QUESTION)
    said = workplace.people.from_bot(MIXED)
    assert len(said) == 1
    assert SALARY not in words_of(said[0])
    assert "已私下发给您" in words_of(said[0])
    whispered = [one for one in workplace.people.from_bot(MIXED, viewer=HR) if one.ephemeral_to]
    assert SALARY in words_of(whispered[0])
    assert "仅您可见" in words_of(whispered[0])
    assert len(workplace.people.from_bot(MIXED, viewer=OPS)) == 1


async def test_where_everybody_may_read_it_it_is_said_aloud(workplace: Workplace) -> None:
    assert SALARY in words_of(await workplace.ask(HR, HR_ONLY, SALARY_QUESTION))


@pytest.mark.parametrize("channel", [SHARED, OPEN])
async def test_a_guest_or_the_whole_workspace_narrows_what_is_said(
    workplace: Workplace, channel: str
) -> None:
    answer = await workplace.ask(HR, channel, SALARY_QUESTION)
    assert SALARY not in words_of(answer)


async def test_whoever_joins_listens_from_then_on(workplace: Workplace) -> None:
    assert SALARY in words_of(await workplace.ask(HR, HR_ONLY, SALARY_QUESTION))
    workplace.people.join(OPS, HR_ONLY)
    await workplace.settle()
    said = workplace.people.from_bot(HR_ONLY)
    answer = await workplace.ask(HR, HR_ONLY, SALARY_QUESTION)
    assert answer not in said
    assert SALARY not in words_of(answer)


async def test_another_company_in_the_channel_leaves_what_is_public(workplace: Workplace) -> None:
    workplace.slack.workspace.add_member(
        Member(
            user_id="U9", name="x", real_name="X", team_id=OTHER_TEAM_ID, is_stranger=True,
            email="mo.lan@nimbus.example",
        )
    )  # fmt: skip
    workplace.slack.workspace.find_room(HR_ONLY).members.append("U9")
    answer = await workplace.ask(HR, HR_ONLY, LEAVE_QUESTION)
    assert "5 天" not in words_of(answer)
    assert "5 天" not in words_of(await workplace.ask("x", HR_ONLY, LEAVE_QUESTION))


async def test_an_unconfirmed_address_makes_nobody_of_ours(workplace: Workplace) -> None:
    workplace.slack.workspace.find_member(OPS).is_email_confirmed = False
    assert "5 天" not in words_of(await workplace.ask(OPS, "dm", LEAVE_QUESTION))


async def test_unknown_people_are_refused_where_the_settings_say_so(office: Office) -> None:
    async with open_workplace(office, unknown_people="refuse") as workplace:
        answer = await workplace.ask(GUEST, "dm", LEAVE_QUESTION)
        assert "不认识" in words_of(answer)
        assert "5 天" in words_of(await workplace.ask(OPS, "dm", LEAVE_QUESTION))


async def test_bots_and_our_own_words_are_left_alone(workplace: Workplace) -> None:
    await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    bot = Member(user_id="U8", name="ci", real_name="CI", is_bot=True)
    workplace.slack.workspace.add_member(bot)
    workplace.people.say("ci", MIXED, "<@U0PLAYGROUND> build failed", subtype="bot_message")
    await workplace.settle()
    assert len(workplace.people.from_bot(MIXED)) == 1

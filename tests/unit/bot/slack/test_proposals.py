"""What the assistant itself proposes: shown where it was asked for, done once its asker agrees."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.agent.actions import ActionState
from bot.handlers.slack.action_desk import ActionDesk
from bot.handlers.slack.api import open_slack_api
from bot.handlers.slack.serving import build_parts
from bot.inbox.questions import Question, QuestionState
from core.clock import SystemClock
from core.messages import ProposedAction
from playground.slack.workspace import Message
from tests.unit.bot.office import GUEST, HR, OPS, Office
from tests.unit.bot.slack.mailing import TO, MailRoom, buttons_of, open_mail_room
from tests.unit.bot.slack.workplace import MIXED, SHARED, Workplace, open_workplace, words_of


@asynccontextmanager
async def open_desk(place: Workplace) -> AsyncIterator[ActionDesk]:
    """Open the desk of a process that answers."""
    async with open_slack_api(place.product.state.settings.slack) as api:
        parts = await build_parts(place.product, api)
        try:
            yield parts.desk
        finally:
            await parts.keeper.finish(timeout_s=10)


def ask(place: Workplace, person: str, channel: str = MIXED) -> Question:
    """Write a question that is taken for accepted."""
    asked = place.people.say(person, channel, "请给苏沁发邮件")
    return Question(
        question_id="q1",
        channel=asked.channel,
        ts=asked.ts,
        thread=asked.ts,
        account=asked.user,
        text=asked.text,
        is_direct=False,
        accepted_at=SystemClock().now(),
        state=QuestionState.ACCEPTED,
        attempts=1,
    )


def propose(**changes: Any) -> ProposedAction:
    params = {"to": [TO], "cc": [], "subject": "年假", "body": "可以结转 5 天。", **changes}
    return ProposedAction(skill="send_email", params=params, from_pages=frozenset({"to", "body"}))


def thread_of(place: Workplace, question: Question) -> list[Message]:
    said = place.people.from_bot(question.channel)
    return [one for one in said if one.thread_ts == question.thread]


async def take(room: MailRoom, person: str, proposed: ProposedAction) -> list[Message]:
    """Have a proposal shown and return its messages in the thread."""
    question = ask(room.place, person)
    async with open_desk(room.place) as desk:
        await desk.take_proposal(question, proposed, "zh")
        await room.place.wait_until(lambda: any(map(buttons_of, thread_of(room.place, question))))
    return thread_of(room.place, question)


@pytest.fixture
async def room(office: Office) -> AsyncIterator[MailRoom]:
    async with open_mail_room(office) as room:
        yield room


async def test_it_stands_in_the_thread_and_is_its_askers_alone(room: MailRoom) -> None:
    [card] = await take(room, OPS, propose())
    assert words_of(card).count("来自页面") == 2
    await room.press(HR, card, "action_confirm")
    assert "不由您决定" in await room.told(HR, card)
    assert room.mailbox.messages == []
    await room.press(OPS, card, "action_confirm")
    await room.wait_for(card, "已完成")
    assert len(room.mailbox.messages) == 1


async def test_what_a_person_types_over_is_no_longer_marked(room: MailRoom) -> None:
    [card] = await take(room, OPS, propose())
    await room.press(OPS, card, "action_edit")
    await room.form_of(OPS)
    assert await room.submit(OPS, {"body-0": "请查收。"}) == {}
    await room.wait_for(card, "新草稿")
    await room.place.wait_until(lambda: len(room.place.people.from_bot(MIXED)) == 2)
    new = room.place.people.from_bot(MIXED)[1]
    assert new.thread_ts == card.thread_ts
    assert words_of(new).count("来自页面") == 1
    assert "请查收。" in words_of(new)


async def test_marks_survive_drafting_it_again(room: MailRoom) -> None:
    room.mailbox.refuse = "552 full"
    [card] = await take(room, OPS, propose())
    await room.press(OPS, card, "action_confirm")
    await room.wait_for(card, "没有成功")
    await room.press(OPS, card, "action_draft_again")
    await room.form_of(OPS)
    assert await room.submit(OPS, {"subject": "再发"}) == {}
    await room.place.wait_until(lambda: bool(room.cards(OPS)))
    assert words_of(room.cards(OPS)[0]).count("来自页面") == 2


async def test_the_same_proposal_makes_one_draft(room: MailRoom) -> None:
    question = ask(room.place, OPS)
    async with open_desk(room.place) as desk:
        for _ in range(3):
            await desk.take_proposal(question, propose(), "zh")
        await room.place.wait_until(lambda: bool(thread_of(room.place, question)))
    assert await room.states() == [ActionState.PENDING]
    assert len(thread_of(room.place, question)) == 1


async def test_a_text_of_nine_thousand_characters_is_shown_whole_and_sent_whole(
    room: MailRoom,
) -> None:
    body = "\n".join(f"第 {number} 行：" + "内容" * 40 for number in range(200))
    cards = await take(room, OPS, propose(body=body))
    assert len(cards) > 1
    shown = "".join(
        str(block["text"]["text"])
        for card in cards
        for block in card.blocks
        if block["type"] == "section" and block["text"]["type"] == "plain_text"
    )
    assert body in shown
    assert [bool(buttons_of(one)) for one in cards] == [False] * (len(cards) - 1) + [True]
    await room.press(OPS, cards[-1], "action_confirm")
    await room.wait_for(cards[-1], "已完成")
    [message] = room.mailbox.messages
    sent = message.get_payload(decode=True)
    assert isinstance(sent, bytes)
    assert sent.decode().strip().replace("\r", "") == body
    assert len(room.place.people.from_bot(MIXED)) == len(cards)


async def test_who_decides_sees_it_directly(office: Office) -> None:
    more = '[actions.deciders]\nsend_email = ["user:su.qin"]'
    async with open_mail_room(office, more=more) as room:
        [card] = await take(room, OPS, propose())
        await room.place.wait_until(lambda: bool(room.cards("su.qin")))
        await room.press(OPS, card, "action_confirm")
        assert "不能自己确认" in await room.told(OPS, card)
        await room.press("su.qin", room.cards("su.qin")[0], "action_confirm")
        await room.wait_for(card, "已完成")
        assert len(room.mailbox.messages) == 1


@pytest.mark.parametrize(
    ("person", "channel", "proposed", "said"),
    [
        (GUEST, SHARED, propose(), "在职人员"),
        (OPS, MIXED, propose(to=["nobody"]), "内容不符合要求"),
        (OPS, MIXED, ProposedAction(skill="fax", params={}), "还不能由我来做"),
    ],
)
async def test_what_can_not_be_drafted_is_told_privately(
    room: MailRoom, person: str, channel: str, proposed: ProposedAction, said: str
) -> None:
    question = ask(room.place, person, channel)
    async with open_desk(room.place) as desk:
        await desk.take_proposal(question, proposed, "zh")
    whispers = [
        one for one in room.place.people.from_bot(channel, viewer=person) if one.ephemeral_to
    ]
    assert said in whispers[-1].text
    assert await room.states() == []


async def test_without_a_mail_server_there_is_no_draft(office: Office) -> None:
    async with open_workplace(office) as place:
        question = ask(place, OPS)
        async with open_desk(place) as desk:
            await desk.take_proposal(question, propose(), "en")
        [told] = place.people.from_bot(MIXED, viewer=OPS)
        assert "no mail server is configured" in told.text

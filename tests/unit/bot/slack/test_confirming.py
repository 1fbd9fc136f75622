"""An e-mail from its form to the mail server: by the right person, as shown, once, and told."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.agent.actions import ActionState
from bot.agent.wiring import build_confirmation
from knowledge.directory_import import import_directory
from playground.slack.server import serve_slack
from tests.fakes.mail_server import Mailbox
from tests.unit.bot.office import GUEST, HR, OPS, Office, write_directory
from tests.unit.bot.slack.mailing import (
    SU_QIN,
    TO,
    MailRoom,
    buttons_of,
    open_mail_room,
    write_settings,
)
from tests.unit.bot.slack.workplace import MIXED, build_workspace, open_workplace, words_of

SECOND_PERSON = '[actions.deciders]\nsend_email = ["group:company/hr"]'


@pytest.fixture
async def room(office: Office) -> AsyncIterator[MailRoom]:
    async with open_mail_room(office) as room:
        yield room


async def test_an_email_is_drafted_shown_confirmed_and_sent(room: MailRoom) -> None:
    form = await room.open_form(OPS, f"{TO}, mo.lan@nimbus.example 周会 改期")
    initial = {one["block_id"]: one["element"].get("initial_value") for one in form["blocks"]}
    assert initial["to"] == f"{TO}, mo.lan@nimbus.example"
    assert initial["subject"] == "周会 改期"
    reply = await room.submit(OPS, {"body-0": "周四 10:00。", "cc": "x@else.example"})
    assert reply == {}
    await room.place.wait_until(lambda: bool(room.cards(OPS)))
    [card] = room.cards(OPS)
    for shown in (
        "柯特",
        TO,
        "x@else.example（公司外部）",
        "周会 改期",
        "周四 10:00。",
        "无法撤回",
    ):
        assert shown in words_of(card)
    assert "来自页面" not in words_of(card)
    assert buttons_of(card) == {"action_confirm", "action_edit", "action_cancel"}
    assert room.mailbox.messages == []
    await room.press(OPS, card, "action_confirm")
    await room.wait_for(card, "对方的答复： taken")
    assert "已完成" in words_of(card)
    assert "由 柯特 确认" in words_of(card)
    assert buttons_of(card) == set()
    [message] = room.mailbox.messages
    assert (message["Subject"], message["Cc"]) == ("周会 改期", "x@else.example")
    # Nobody else in the channel hears of it.
    assert room.place.people.from_bot(MIXED) == []


async def test_what_is_wrong_is_said_at_the_field(room: MailRoom) -> None:
    await room.open_form(OPS)
    reply = await room.submit(
        OPS, {"to": "su.qin, Anna <a@b.example>", "cc": "nobody", "subject": " ", "body-0": "x"}
    )
    assert reply is not None
    assert reply["response_action"] == "errors"
    assert set(reply["errors"]) == {"to", "cc", "subject"}
    assert "su.qin" in reply["errors"]["to"]
    assert await room.states() == []
    assert room.place.slack.views.stacks["U3"]
    assert await room.submit(OPS, {"to": TO, "subject": "s", "body-0": "x"}) == {}
    await room.place.wait_until(lambda: bool(room.cards(OPS)))


async def test_members_of_the_directory_are_of_the_company_whatever_the_senders_domain(
    office: Office,
) -> None:
    async with open_mail_room(office) as room:
        settings = (office.home / "zhixing.toml").read_text(encoding="utf-8")
    elsewhere = settings.replace("zhixing@nimbus.example", "zhixing@other.example")
    (office.home / "zhixing.toml").write_text(elsewhere, encoding="utf-8")
    async with open_workplace(office) as place:
        room = MailRoom(place=place, mailbox=Mailbox())
        card = await room.draft(OPS, cc="x@nimbus.example")
        assert f"{TO}（公司外部）" not in words_of(card)
        assert "x@nimbus.example（公司外部）" in words_of(card)


async def test_addresses_that_settings_keep_out_are_refused_at_the_field(office: Office) -> None:
    async with open_mail_room(office, more='allowed_domains = ["nimbus.example"]') as room:
        await room.open_form(OPS, "x@else.example Hello")
        reply = await room.submit(OPS, {"body-0": "x"})
        assert reply is not None
        assert list(reply["errors"]) == ["to"]
        assert "else.example" in reply["errors"]["to"]


async def test_a_form_that_is_sent_three_times_makes_one_draft(room: MailRoom) -> None:
    room.place.slack.faults.deliveries = 3
    await room.draft(OPS)
    await asyncio.sleep(0.3)
    assert await room.states() == [ActionState.PENDING]
    assert len(room.cards(OPS)) == 1


async def test_clicks_that_come_twice_or_three_times_send_once(room: MailRoom) -> None:
    card = await room.draft(OPS)
    room.place.slack.faults.deliveries = 3
    await asyncio.gather(*(room.press(OPS, card, "action_confirm") for _ in range(2)))
    await room.wait_for(card, "已完成")
    assert len(room.mailbox.messages) == 1


async def test_a_late_click_is_told_what_became_of_it(room: MailRoom) -> None:
    card = await room.draft(OPS)
    late = [dict(one) for one in card.blocks]
    await room.press(OPS, card, "action_cancel")
    await room.wait_for(card, "已取消")
    assert "由 柯特 取消" in words_of(card)
    card.blocks = late
    await room.press(OPS, card, "action_confirm")
    assert "已经处理过了：已取消" in await room.told(OPS, card)
    assert room.mailbox.messages == []


async def test_others_are_told_privately_why_not(room: MailRoom) -> None:
    card = await room.draft(OPS)
    before = words_of(card)
    await room.press(HR, card, "action_confirm")
    assert "不由您决定，只有这些人可以：柯特" in await room.told(HR, card)
    await room.press(HR, card, "action_edit")
    await room.place.wait_until(lambda: len(room.whispers(HR, card)) == 2)
    assert "只有发起人可以修改" in await room.told(HR, card)
    assert words_of(card) == before
    assert await room.states() == [ActionState.PENDING]


async def test_a_second_person_confirms_where_settings_say_so(office: Office) -> None:
    async with open_mail_room(office, more=SECOND_PERSON) as room:
        own = await room.draft(OPS)
        await room.place.wait_until(lambda: bool(room.cards(HR) and room.cards(SU_QIN)))
        [hers], [second] = room.cards(HR), room.cards(SU_QIN)
        assert buttons_of(own) == {"action_edit", "action_cancel"}
        assert buttons_of(hers) == buttons_of(second) == {"action_confirm", "action_cancel"}
        assert "莫岚" in words_of(own)
        # By whatever way the asker comes to the button.
        await room.press(OPS, hers, "action_confirm")
        assert "不能自己确认" in await room.told(OPS, hers)
        assert room.mailbox.messages == []
        await asyncio.gather(
            room.press(HR, hers, "action_confirm"), room.press(SU_QIN, second, "action_confirm")
        )
        for card in (own, hers, second):
            await room.wait_for(card, "已完成")
            assert buttons_of(card) == set()
        assert len(room.mailbox.messages) == 1


async def test_who_left_the_group_since_may_not_confirm(office: Office) -> None:
    async with open_mail_room(office, more=SECOND_PERSON) as room:
        await room.draft(OPS)
        await room.place.wait_until(lambda: bool(room.cards(HR)))
        [card] = room.cards(HR)
        write_directory(office.company, groups=[])
        await import_directory(room.place.product.state.directory, office.company)
        await room.press(HR, card, "action_confirm")
        assert "不由您决定" in await room.told(HR, card)
        assert room.mailbox.messages == []


async def test_an_edit_makes_a_new_card_and_the_old_one_is_over(room: MailRoom) -> None:
    old = await room.draft(OPS)
    stale = [dict(one) for one in old.blocks]
    await room.press(OPS, old, "action_edit")
    form = await room.form_of(OPS)
    assert form["blocks"][0]["element"]["initial_value"] == TO
    assert await room.submit(OPS, {"subject": "改期（更正）"}) == {}
    await room.wait_for(old, "新草稿")
    assert buttons_of(old) == set()
    await room.place.wait_until(lambda: len(room.cards(OPS)) == 2)
    new = room.cards(OPS)[1]
    old.blocks = stale
    await room.press(OPS, old, "action_confirm")
    assert "已经处理过了" in await room.told(OPS, old)
    await room.press(OPS, new, "action_confirm")
    await room.wait_for(new, "已完成")
    assert [one["Subject"] for one in room.mailbox.messages] == ["改期（更正）"]


async def test_an_edit_that_comes_after_the_confirmation_is_told_so(office: Office) -> None:
    async with open_mail_room(office, more=SECOND_PERSON) as room:
        own = await room.draft(OPS)
        await room.place.wait_until(lambda: bool(room.cards(HR)))
        [card] = room.cards(HR)
        await room.press(OPS, own, "action_edit")
        await room.form_of(OPS)
        await room.press(HR, card, "action_confirm")
        await room.wait_for(own, "已完成")
        reply = await room.submit(OPS, {"subject": "too late"})
        assert reply is not None
        assert reply["response_action"] == "update"
        assert "已经处理过了：已完成" in str(reply["view"])
        assert await room.states() == [ActionState.DONE]
        assert len(room.mailbox.messages) == 1


@pytest.mark.parametrize(
    ("choice", "state", "mails"),
    [
        ("action_arrived", ActionState.DONE, 1),
        ("action_not_arrived", ActionState.FAILED, 1),
        ("action_send_again", ActionState.DONE, 2),
    ],
)
async def test_a_server_that_says_nothing_after_the_text_leaves_it_to_a_person(
    room: MailRoom, choice: str, state: ActionState, mails: int
) -> None:
    room.mailbox.hang = True
    card = await room.draft(OPS)
    await room.press(OPS, card, "action_confirm")
    await room.wait_for(card, "结果不明")
    assert buttons_of(card) == {"action_arrived", "action_not_arrived", "action_send_again"}
    room.mailbox.hang = False
    await asyncio.gather(*(room.press(OPS, card, choice) for _ in range(3)))
    await room.place.wait_until(lambda: "结果不明" not in words_of(card))
    await room.place.wait_until(lambda: "正在执行" not in words_of(card))
    assert await room.states() == [state]
    assert len(room.mailbox.messages) == mails
    assert len({one["Message-ID"] for one in room.mailbox.messages}) == 1


async def test_a_server_that_is_down_is_told_with_the_reason_and_drafted_again(
    office: Office,
) -> None:
    write_settings(office, 9)
    async with open_workplace(office) as place:
        room = MailRoom(place=place, mailbox=Mailbox())
        card = await room.draft(OPS)
        await room.press(OPS, card, "action_confirm")
        await room.wait_for(card, "没有成功")
        assert "原因" in words_of(card)
        assert "refused" in words_of(card)
        assert buttons_of(card) == {"action_draft_again"}
        await room.press(OPS, card, "action_draft_again")
        await room.form_of(OPS)
        assert await room.submit(OPS, {}) == {}
        await place.wait_until(lambda: len(room.cards(OPS)) == 2)
        assert await room.states() == [ActionState.FAILED, ActionState.PENDING]


async def test_another_process_expires_it_and_the_card_says_so(room: MailRoom) -> None:
    card = await room.draft(OPS)
    stale = [dict(one) for one in card.blocks]
    await room.place.product.state.database.write(
        lambda connection: (
            connection.exec_driver_sql(
                "UPDATE pending_actions SET expires_at = '2020-01-01 00:00:00.000000'"
            ).rowcount
        )
    )
    # As the scheduler does, which is not in the chat.
    assert len(await build_confirmation(room.place.product).expire()) == 1
    await room.wait_for(card, "已过期")
    assert buttons_of(card) == {"action_draft_again"}
    card.blocks = stale
    await room.press(OPS, card, "action_confirm")
    assert "已经过期" in await room.told(OPS, card)
    assert room.mailbox.messages == []


async def test_a_draft_outlives_a_restart_and_changed_settings_void_it(office: Office) -> None:
    async with serve_slack(build_workspace()) as slack:
        async with open_mail_room(office, slack=slack) as room:
            card, other = await room.draft(OPS), await room.draft(OPS, subject="second")
        async with open_workplace(office, slack=slack) as place:
            # Its mail server has gone; the settings are the same.
            await place.people.press(OPS, card, "action_confirm")
            await place.wait_until(lambda: "没有成功" in words_of(card))
        settings = (office.home / "zhixing.toml").read_text(encoding="utf-8")
        changed = settings.replace("zhixing@nimbus.example", "other@nimbus.example")
        (office.home / "zhixing.toml").write_text(changed, encoding="utf-8")
        async with open_workplace(office, slack=slack) as place:
            await place.people.press(OPS, other, "action_confirm")
            await place.wait_until(lambda: "已作废" in words_of(other))
            assert buttons_of(other) == {"action_draft_again"}


@pytest.mark.parametrize("method", ["chat.update", "chat.postMessage"])
async def test_a_card_is_brought_up_to_date_whatever_slack_does(
    office: Office, method: str
) -> None:
    async with open_mail_room(office, rate_limit_retries=1) as room:
        faults = room.place.slack.faults
        faults.limit[method], faults.fail[method], faults.lose[method] = 5, 3, 2
        card = await room.draft(OPS)
        await room.press(OPS, card, "action_confirm")
        await room.wait_for(card, "对方的答复： taken")
        await asyncio.sleep(0.3)
        assert len(room.cards(OPS)) == 1
        assert len(room.mailbox.messages) == 1


async def test_a_card_that_somebody_deleted_is_shown_anew_while_it_matters(
    room: MailRoom,
) -> None:
    room.mailbox.hang = True
    card = await room.draft(OPS)
    direct = room.place.slack.workspace.find_room(card.channel)
    await room.press(OPS, card, "action_confirm")
    direct.messages.remove(card)
    await room.place.wait_until(lambda: any("结果不明" in words_of(one) for one in room.cards(OPS)))


async def test_without_a_mail_server_that_is_said(office: Office) -> None:
    async with open_workplace(office) as place:
        await place.people.slash(OPS, MIXED, "/kb email")
        await place.wait_until(lambda: bool(place.people.messages(MIXED, viewer=OPS)))
        assert "没有配置邮件服务器" in place.people.messages(MIXED, viewer=OPS)[-1].text


async def test_who_is_not_one_of_the_company_sends_no_mail(room: MailRoom) -> None:
    people = room.place.people
    await people.slash(GUEST, "shared", "/kb email")
    await room.place.wait_until(lambda: bool(people.messages("shared", viewer=GUEST)))
    assert "在职人员" in people.messages("shared", viewer=GUEST)[-1].text


@pytest.mark.parametrize(("word", "said"), [("help", "What I can do"), ("帮助", "我能做什么")])
async def test_help_is_given_in_both_languages(office: Office, word: str, said: str) -> None:
    async with open_workplace(office) as place:
        await place.people.slash(OPS, MIXED, f"/kb {word}")
        await place.wait_until(lambda: bool(place.people.messages(MIXED, viewer=OPS)))
        told = place.people.messages(MIXED, viewer=OPS)[-1]
        assert said in told.text
        assert told.ephemeral_to

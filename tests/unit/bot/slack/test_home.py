"""The App Home and `/kb status`: everybody's own facts, and nobody else's."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.memory.turns import TurnStore
from playground.slack.choices import list_elements
from playground.slack.workspace import Message
from tests.unit.bot.office import GUEST, HR, LEAVE_QUESTION, OPS, SALARY_QUESTION, Office
from tests.unit.bot.slack.mailing import VALUES, open_mail_room
from tests.unit.bot.slack.workplace import (
    HR_ONLY,
    MIXED,
    OPEN,
    Workplace,
    open_workplace,
    words_of,
)

ADMINS = ("group:company/hr",)


@pytest.fixture
async def workplace(office: Office) -> AsyncIterator[Workplace]:
    async with open_workplace(office, admins=ADMINS) as workplace:
        yield workplace


def user_of(workplace: Workplace, person: str) -> str:
    return workplace.slack.workspace.find_member(person).user_id


async def open_home(workplace: Workplace, person: str) -> str:
    """Open somebody's Home and return all it says."""
    homes = workplace.slack.views.homes
    before = homes.get(user_of(workplace, person))
    workplace.people.open_home(person)
    await workplace.wait_until(lambda: homes.get(user_of(workplace, person)) is not before)
    return str(homes[user_of(workplace, person)]["blocks"])


async def use(workplace: Workplace, person: str, action: str, choice: str) -> None:
    """Use an element of somebody's Home."""
    user = user_of(workplace, person)
    view = workplace.slack.views.homes[user]
    [path] = [
        path
        for path, _, element in list_elements(view["blocks"])
        if element.get("action_id") == action
    ]
    interactions = workplace.people.interactions
    # Once more when the connection went away just then.
    while not await interactions.press_in_view(user, view, path, action, choice, {}):
        await workplace.slack.delivery.sockets.wait_connected()


async def wait_for_home(workplace: Workplace, person: str, words: str) -> None:
    homes = workplace.slack.views.homes
    await workplace.wait_until(lambda: words in str(homes[user_of(workplace, person)]["blocks"]))


async def form_of(workplace: Workplace, person: str) -> dict[str, Any]:
    stacks = workplace.slack.views.stacks
    user = user_of(workplace, person)
    await workplace.wait_until(lambda: bool(stacks.get(user)))
    return stacks[user][-1]


async def configure(workplace: Workplace, channel: str, **choices: Any) -> None:
    """Set how a channel is answered, as an administrator does."""
    await open_home(workplace, HR)
    channel_id = workplace.slack.workspace.find_room(channel).channel_id
    await use(workplace, HR, "home_channel", channel_id)
    await form_of(workplace, HR)
    while await workplace.people.submit(HR, choices) is None:
        await workplace.slack.delivery.sockets.wait_connected()
    await wait_for_home(workplace, HR, f"<#{channel_id}>")


async def test_it_shows_what_is_known_of_a_person(workplace: Workplace) -> None:
    shown = await open_home(workplace, HR)
    for one in ("莫岚 / Mo Lan", "HR lead", "mo.lan@nimbus.example", "Staff, 人事 HR", "/kb help"):
        assert one in shown
    assert "不认识这个账号" in await open_home(workplace, GUEST)


async def test_questions_are_shown_to_nobody_but_who_asked(workplace: Workplace) -> None:
    await workplace.ask(HR, HR_ONLY, SALARY_QUESTION)
    await workplace.ask(HR, "dm", "薪酬带宽的下限呢？")
    await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    hers = await open_home(workplace, HR)
    assert SALARY_QUESTION in hers
    assert "薪酬带宽的下限呢？" in hers
    assert LEAVE_QUESTION not in hers
    for other in (OPS, "su.qin", GUEST):
        shown = await open_home(workplace, other)
        assert "薪酬" not in shown
    assert LEAVE_QUESTION in await open_home(workplace, OPS)


async def test_actions_are_shown_to_who_asked_and_who_decides(office: Office) -> None:
    more = '[actions.deciders]\nsend_email = ["user:su.qin"]'
    async with open_mail_room(office, more=more) as room:
        await room.draft(OPS)
        await room.place.wait_until(lambda: bool(room.cards("su.qin")))
        own = await open_home(room.place, OPS)
        assert "由您发起" in own
        assert "https://playground.slack.com/archives/D3/" in own
        assert "等您确认" in await open_home(room.place, "su.qin")
        other = await open_home(room.place, HR)
        assert "没有等待处理的操作" in other
        assert VALUES["subject"] not in own + other


async def test_a_language_is_chosen_once_and_kept(workplace: Workplace) -> None:
    await open_home(workplace, OPS)
    await use(workplace, OPS, "home_language", "en")
    await wait_for_home(workplace, OPS, "What I know about you")
    assert "What I know about you" in await open_home(workplace, OPS)
    assert "我所知道的您" in await open_home(workplace, HR)
    await workplace.people.slash(OPS, MIXED, "/kb 状态")
    await workplace.wait_until(lambda: bool(workplace.people.messages(MIXED, viewer=OPS)))
    assert "administrators only" in workplace.people.messages(MIXED, viewer=OPS)[-1].text


async def test_what_was_said_is_forgotten_for_who_asks_for_that(workplace: Workplace) -> None:
    await workplace.ask(OPS, "dm", LEAVE_QUESTION)
    await workplace.ask(HR, "dm", SALARY_QUESTION)
    turns = TurnStore(workplace.product.state.database)
    assert await turns.load("slack:D3", OPS)
    await open_home(workplace, OPS)
    await use(workplace, OPS, "home_forget", "forget")
    await wait_for_home(workplace, OPS, "已经忘掉了")
    assert await turns.load("slack:D3", OPS) == []
    assert LEAVE_QUESTION not in await open_home(workplace, OPS)
    assert await turns.load("slack:D1", HR)
    assert SALARY_QUESTION in await open_home(workplace, HR)


async def test_only_administrators_set_channels(workplace: Workplace) -> None:
    assert "home_channel" not in await open_home(workplace, OPS)
    assert "home_channel" in await open_home(workplace, HR)
    # By a view that was somebody else's.
    theirs = workplace.slack.views.homes["U1"]
    [path] = [
        path
        for path, _, element in list_elements(theirs["blocks"])
        if element.get("action_id") == "home_channel"
    ]
    interactions = workplace.people.interactions
    await interactions.press_in_view("U3", theirs, path, "home_channel", "C1", {})
    await use(workplace, HR, "home_channel", "C1")
    form = await form_of(workplace, HR)
    await interactions.submit("U3", form, {})
    await workplace.settle()
    await open_home(workplace, OPS)
    assert "U3" not in workplace.slack.views.stacks
    assert await workplace.scalar("SELECT count(*) FROM channel_choices") == 0


async def test_a_channel_that_wants_mentions_gets_no_follow_ups(workplace: Workplace) -> None:
    await configure(workplace, MIXED, mode="mentions")
    answer = await workplace.ask(HR, MIXED, LEAVE_QUESTION)
    workplace.people.say(HR, MIXED, "病假三天以上需要什么？", thread_ts=answer.thread_ts)
    await workplace.settle()
    assert len(workplace.finished(MIXED)) == 1


async def test_a_channel_is_answered_as_was_set(workplace: Workplace) -> None:
    await configure(workplace, MIXED, mode="mentions", private=[], language="en")
    answer = await workplace.ask(HR, MIXED, SALARY_QUESTION)
    assert "已私下发给您" not in words_of(answer)
    assert [one for one in workplace.people.from_bot(MIXED, viewer=HR) if one.ephemeral_to] == []
    assert "Try again" in words_of(answer)
    workplace.people.say(HR, MIXED, "年假最多可以结转几天？", thread_ts=answer.thread_ts)
    await workplace.settle()
    assert len(workplace.finished(MIXED)) == 1


async def test_a_channel_searches_the_bases_that_were_set(office: Office) -> None:
    office.add_settings('[bases.nothing]\ninclude = ["elsewhere"]')
    async with open_workplace(office, admins=ADMINS) as workplace:
        await configure(workplace, MIXED, bases=["nothing"])
        assert "5 天" not in words_of(await workplace.ask(OPS, MIXED, LEAVE_QUESTION))
        assert "5 天" in words_of(await workplace.ask(OPS, MIXED, f"{LEAVE_QUESTION} @files"))
        assert "5 天" in words_of(await workplace.ask(OPS, OPEN, LEAVE_QUESTION))


async def test_a_channel_answers_questions_nobody_called_it_for(workplace: Workplace) -> None:
    await configure(workplace, MIXED, mode="questions")
    workplace.people.say(OPS, MIXED, "今天真热。")
    workplace.people.say(OPS, MIXED, "<@U1> 年假最多可以结转几天？")
    asked = workplace.people.say(OPS, MIXED, LEAVE_QUESTION)
    workplace.people.say(OPS, OPEN, LEAVE_QUESTION)
    await workplace.settle()
    await workplace.wait_until(lambda: len(workplace.finished(MIXED)) == 1)
    assert workplace.finished(MIXED)[0].thread_ts == asked.ts
    assert workplace.finished(OPEN) == []


async def test_the_form_shows_what_was_set(workplace: Workplace) -> None:
    await configure(workplace, MIXED, mode="threads", private=[], people=["U2"], bases=["files"])
    await use(workplace, HR, "home_channel", "C1")
    form = await form_of(workplace, HR)
    fields = {one["block_id"]: one["element"] for one in form["blocks"]}
    assert fields["mode"]["initial_option"]["value"] == "threads"
    assert "initial_options" not in fields["private"]
    assert fields["people"]["initial_users"] == ["U2"]
    assert [one["value"] for one in fields["bases"]["initial_options"]] == ["files"]


@pytest.mark.parametrize(("person", "is_told"), [(HR, True), (OPS, False), (GUEST, False)])
async def test_the_state_of_sources_is_for_administrators(
    workplace: Workplace,
    person: str,
    *,
    is_told: bool,
) -> None:
    await workplace.people.slash(person, "shared", "/kb status")
    await workplace.wait_until(lambda: bool(workplace.people.messages("shared", viewer=person)))
    told = workplace.people.messages("shared", viewer=person)[-1]
    assert told.ephemeral_to
    assert ("6 篇文档" in words_of(told)) is is_told
    assert ("管理员" in words_of(told)) is not is_told


async def command(workplace: Workplace, person: str, words: str) -> Message:
    """Give a command in a room and return what only that person is told."""
    before = len(workplace.people.messages(MIXED, viewer=person))
    await workplace.people.slash(person, MIXED, f"/kb {words}")
    await workplace.wait_until(
        lambda: len(workplace.people.messages(MIXED, viewer=person)) > before
    )
    found = workplace.people.messages(MIXED, viewer=person)[-1]
    assert found.ephemeral_to
    return found


async def test_what_is_remembered_is_shown_to_its_owner_and_forgotten_once_they_press(
    workplace: Workplace,
) -> None:
    await workplace.ask(HR, "dm", SALARY_QUESTION)
    await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    hers = words_of(await command(workplace, HR, "memory"))
    assert SALARY_QUESTION in hers
    assert LEAVE_QUESTION not in hers, "that is somebody else's"
    asked = await command(workplace, HR, "忘掉")
    assert "1 轮问答" in words_of(asked)
    turns = TurnStore(workplace.product.state.database)
    assert await turns.load_all(HR), "not before it is confirmed"
    assert await workplace.people.press(HR, asked, "memory_forget")
    await workplace.wait_until(
        lambda: any(
            "已经忘掉：1 轮问答" in one.text for one in workplace.people.messages(MIXED, viewer=HR)
        )
    )
    assert await turns.load_all(HR) == []
    assert len(await turns.load_all(OPS)) == 1
    assert SALARY_QUESTION not in await open_home(workplace, HR)
    assert "没有记着" in words_of(await command(workplace, HR, "记忆"))

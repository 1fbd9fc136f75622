"""Written answers appear while they are written: only what is checked, once, whatever fails."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from playground.slack.server import SlackServer, serve_slack
from playground.slack.workspace import Message
from tests.fakes.chat_server import ChatServer, Script, run_chat_server
from tests.unit.bot.office import HR, LEAVE_QUESTION, OPS, SALARY, SALARY_QUESTION, Office
from tests.unit.bot.slack.workplace import (
    MIXED,
    Workplace,
    build_workspace,
    open_workplace,
    words_of,
)

FIRST = "未休完的年假最多可以结转 5 天 [1]。"
INVENTED = "经理可以再批 30 天 [1]。"
RING = "须在次年 3 月 31 日之前休完，请通知 <@U3> [1]。"
SECOND = "须在次年 3 月 31 日之前休完 [1]。"
LAST = "病假期间照发工资 [1]。"


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with run_chat_server() as running:
        yield running


@pytest.fixture
def ringing_office(office: Office) -> Office:
    """Return an office one of whose pages would ring somebody."""
    page = office.files / "handbook" / "休假制度.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("之前休完。", "之前休完，请通知 <@U3>。"), encoding="utf-8")
    assert office.run("sync").exit_code == 0
    return office


@asynccontextmanager
async def write_at_work(
    office: Office, server: ChatServer, *, slack: SlackServer | None = None, **settings: object
) -> AsyncIterator[Workplace]:
    office.add_settings(
        f'[models]\nbase_url = "{server.base_url}"\nchat_model = "scripted"\n'
        'api_key = "k"\ntimeout_s = 60\nprivate = true\n'
    )
    async with open_workplace(office, slack=slack, **settings) as workplace:
        yield workplace


def pause(server: ChatServer, *sentences: str) -> None:
    """Let the model write some sentences, wait, and end with the last one."""
    # A sentence is known to be over when the next one begins.
    pieces = [*sentences, LAST[:1], LAST[1:]]
    server.enqueue(Script(pieces=pieces, pauses_after=len(sentences) + bool(sentences)))


async def see(workplace: Workplace, channel: str, holds: Callable[[str], bool]) -> Message:
    """Wait until the latest message of ours reads so."""

    def is_seen() -> bool:
        said = workplace.people.from_bot(channel, viewer=OPS)
        return bool(said) and holds(words_of(said[-1]))

    await workplace.wait_until(is_seen)
    return workplace.people.from_bot(channel, viewer=OPS)[-1]


async def test_checked_sentences_are_streamed_and_invented_ones_never_shown(
    ringing_office: Office, server: ChatServer
) -> None:
    pause(server, FIRST, INVENTED, RING)
    async with write_at_work(ringing_office, server) as workplace:
        question = workplace.people.mention(OPS, MIXED, LEAVE_QUESTION)
        shown = await see(workplace, MIXED, lambda said: "3 月 31 日" in said)
        assert shown.is_streaming
        assert shown.thread_ts == question.ts
        assert "5 天" in shown.text
        assert "30 天" not in shown.text
        assert "@U3>" in shown.text
        assert "<@U3>" not in shown.text
        # The first word goes once the stream is there.
        await workplace.wait_until(lambda: len(workplace.people.from_bot(MIXED)) == 1)
        server.release()
        await workplace.settle()
        [answer] = workplace.people.from_bot(MIXED)
        assert answer is shown
        assert not answer.is_streaming
        assert answer.metadata is not None
        assert "30 天" not in words_of(answer)
        assert "1. 休假制度 · v2" in words_of(answer)
        assert [one["type"] for one in answer.blocks] == ["markdown", "actions"]


async def test_what_is_being_done_is_told_and_taken_away_at_the_end(
    office: Office, server: ChatServer
) -> None:
    pause(server)
    async with write_at_work(office, server) as workplace:
        workplace.people.mention(OPS, MIXED, LEAVE_QUESTION)
        await workplace.wait_until(lambda: bool(workplace.slack.workspace.statuses))
        assert workplace.slack.views.told == ["正在阅读找到的页面…"]
        server.release()
        await workplace.settle()
        assert workplace.slack.workspace.statuses == {}


@pytest.mark.parametrize("place", ["dm", MIXED])
async def test_where_there_is_no_stream_the_message_is_updated(
    office: Office, server: ChatServer, place: str
) -> None:
    pause(server, FIRST)
    async with write_at_work(office, server) as workplace:
        if place != "dm":
            workplace.slack.faults.refuse["chat.startStream"] = "not_allowed"
        workplace.people.mention(OPS, place, LEAVE_QUESTION)
        shown = await see(workplace, place, lambda said: "5 天" in said)
        assert not shown.is_streaming
        assert words_of(shown).count("…") > 0
        assert "1. 休假制度" not in words_of(shown)
        server.release()
        await workplace.settle()
        [answer] = workplace.people.from_bot(place, viewer=OPS)
        assert answer is shown
        assert "1. 休假制度" in words_of(answer)


@pytest.mark.parametrize(("fault", "times"), [("lose", 2), ("fail", 2), ("limit", 1)])
@pytest.mark.parametrize(
    "method", ["chat.startStream", "chat.appendStream", "chat.stopStream", "chat.delete"]
)
async def test_a_stream_that_fails_ends_in_one_whole_answer(
    office: Office, server: ChatServer, method: str, fault: str, times: int
) -> None:
    # Slow enough to be begun, and gone on with, before it ends.
    server.enqueue(Script(pieces=[FIRST, SECOND, LAST, LAST[:1], LAST[1:]], waits_s=0.7))
    async with write_at_work(office, server, rate_limit_retries=0) as workplace:
        due = getattr(workplace.slack.faults, fault)
        due[method] = times
        await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
        [answer] = workplace.people.from_bot(MIXED)
        assert due[method] < times
        assert not answer.is_streaming
        assert "1. 休假制度" in words_of(answer)
        assert answer.text.count("5 天") == 1
        assert await workplace.scalar("SELECT stream FROM chat_questions") == ""


async def test_an_answer_that_turns_out_otherwise_replaces_what_was_shown(
    office: Office, server: ChatServer
) -> None:
    server.enqueue(Script(pieces=[FIRST, LAST[:1], LAST[1:]], pauses_after=2, error_after=3))
    async with write_at_work(office, server) as workplace:
        workplace.people.mention(OPS, MIXED, LEAVE_QUESTION)
        await see(workplace, MIXED, lambda said: "5 天" in said)
        server.release()
        await workplace.settle()
        [answer] = workplace.people.from_bot(MIXED)
        assert not answer.is_streaming
        assert "1. 休假制度" in words_of(answer)


async def test_only_what_everybody_may_read_is_streamed(office: Office, server: ChatServer) -> None:
    server.respond = lambda _: Script(
        pieces=["L4 的薪酬带宽上限是每月 38,000 元 [1]。", "完"], pauses_after=1
    )
    async with write_at_work(office, server) as workplace:
        workplace.people.mention(HR, MIXED, SALARY_QUESTION)
        await server.wait_for_requests(1)
        await workplace.wait_until(lambda: bool(workplace.slack.views.told))
        assert not any(SALARY in words_of(one) for one in workplace.people.from_bot(MIXED))
        server.release()
        await workplace.settle()
        assert not any(SALARY in words_of(one) for one in workplace.people.from_bot(MIXED))
        whispered = workplace.people.from_bot(MIXED, viewer=HR)[-1]
        assert SALARY in words_of(whispered)


async def test_who_takes_over_replaces_half_an_answer(office: Office, server: ChatServer) -> None:
    pause(server, FIRST)
    async with serve_slack(build_workspace()) as slack:
        async with write_at_work(office, server, slack=slack, stop_timeout_s=0.0) as first:
            first.people.mention(OPS, MIXED, LEAVE_QUESTION)
            half = await see(first, MIXED, lambda said: "5 天" in said)
        assert half.is_streaming
        pause(server)
        async with open_workplace(office, slack=slack) as second:
            await see(second, MIXED, lambda said: "中断" in said)
            assert "5 天" not in words_of(half)
            server.release()
            await second.settle()
            [answer] = second.people.from_bot(MIXED)
            assert answer is half
            assert "1. 休假制度" in words_of(answer)

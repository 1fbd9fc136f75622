"""A bot that is killed in the middle of twenty questions, and started again, answers each once."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from core.settings import SETTINGS_FILE
from playground.slack.server import APP_TOKEN, BOT_TOKEN, SlackServer, serve_slack
from playground.slack.workspace import Message
from tests.fakes.chat_server import Script, run_chat_server
from tests.unit.bot.conftest import set_environment
from tests.unit.bot.office import LEAVE_QUESTION, OPS, PUBLIC_PAGES, Office, build_office
from tests.unit.bot.slack.workplace import MIXED, build_workspace, is_placeholder, words_of

ROOT = Path(__file__).parents[2]
QUESTIONS = 20
PATIENCE_S = 120.0


def start(office: Office) -> subprocess.Popen[bytes]:
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("ZHIXING_")},
        "ZHIXING_EMBEDDER": "none",
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_APP_TOKEN": APP_TOKEN,
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "bot", "--home", str(office.home), "serve", "--role", "bot"]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    set_environment(monkeypatch)
    return build_office(tmp_path, PUBLIC_PAGES)


async def play(
    slack: SlackServer, office: Office, is_in_the_middle: Callable[[list[Message]], bool]
) -> None:
    people = slack.people
    first = start(office)
    try:
        await slack.delivery.sockets.wait_connected()
        questions = [people.mention(OPS, MIXED, LEAVE_QUESTION) for _ in range(QUESTIONS)]
        await people.wait_until(lambda: is_in_the_middle(people.from_bot(MIXED)))
    finally:
        first.send_signal(signal.SIGKILL)
        await asyncio.to_thread(first.wait)
    half_done = people.from_bot(MIXED)
    is_half = [one.is_streaming or is_placeholder(one) for one in half_done]
    assert any(is_half) or len(half_done) < QUESTIONS
    second = start(office)
    try:
        await people.wait_until(
            lambda: (
                sum("1. 休假制度" in words_of(one) for one in people.from_bot(MIXED)) >= QUESTIONS
            )
        )
        await slack.delivery.settle()
    finally:
        second.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(second.wait) == 0
    said = people.from_bot(MIXED)
    assert Counter(one.thread_ts for one in said) == Counter(one.ts for one in questions)
    assert all("5 天" in words_of(one) for one in said)
    assert not any(one.is_streaming for one in said)
    assert slack.delivery.record.lost == []


def use(office: Office, slack: SlackServer, more: str = "") -> None:
    office.add_settings(
        f'[slack]\nbase_url = "{slack.api_url}"\nping_interval_s = 0.2\nsweep_s = 0.2\n{more}'
    )
    assert (office.home / SETTINGS_FILE).exists()


async def test_all_questions_end_visibly_and_once(office: Office) -> None:
    async with serve_slack(build_workspace()) as slack:
        use(office, slack)
        async with asyncio.timeout(PATIENCE_S):
            await play(slack, office, lambda said: len(said) > QUESTIONS // 4)


async def test_no_half_written_answer_is_left(office: Office) -> None:
    pieces = ("未休完的年假最多可以结转 5 天 [1]。", *"须在次年 3 月 31 日之前休完 [1]。")
    async with serve_slack(build_workspace()) as slack, run_chat_server() as model:
        model.respond = lambda _: Script(pieces=pieces, waits_s=0.1)
        models = f'[models]\nbase_url = "{model.base_url}"\nchat_model = "scripted"\nprivate = true'
        use(office, slack, models)
        async with asyncio.timeout(PATIENCE_S):
            await play(slack, office, lambda said: sum(one.is_streaming for one in said) > 2)

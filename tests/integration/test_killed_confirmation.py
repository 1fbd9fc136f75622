"""A bot that is killed while a draft waits, and while it is sending, and started again."""

import asyncio
import signal
import subprocess
from pathlib import Path

import pytest

from playground.slack.server import SlackServer, serve_slack
from playground.slack.workspace import Message
from tests.fakes.mail_server import Mailbox, serve_mail
from tests.integration.test_killed_bot import PATIENCE_S, start
from tests.unit.bot.conftest import set_environment
from tests.unit.bot.office import OPS, PUBLIC_PAGES, Office, build_office
from tests.unit.bot.slack.mailing import VALUES, buttons_of, write_settings
from tests.unit.bot.slack.workplace import MIXED, build_workspace, words_of


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    set_environment(monkeypatch)
    return build_office(tmp_path, PUBLIC_PAGES)


async def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    await asyncio.to_thread(process.wait)


async def press(slack: SlackServer, card: Message, action: str) -> None:
    while not await slack.people.press(OPS, card, action):
        await slack.delivery.sockets.wait_connected()


async def draft(slack: SlackServer) -> Message:
    await slack.delivery.sockets.wait_connected()
    await slack.people.slash(OPS, MIXED, "/kb email")
    await slack.people.wait_until(lambda: bool(slack.views.stacks.get("U3")))
    assert await slack.people.submit(OPS, VALUES) == {}
    await slack.people.wait_until(lambda: bool(slack.people.from_bot("dm", viewer=OPS)))
    return slack.people.from_bot("dm", viewer=OPS)[-1]


async def play(slack: SlackServer, office: Office, mailbox: Mailbox) -> None:
    process = start(office)
    try:
        card = await draft(slack)
        await kill(process)
        mailbox.hang = True
        process = start(office)
        await slack.delivery.sockets.wait_connected()
        await press(slack, card, "action_confirm")
        await slack.people.wait_until(lambda: bool(mailbox.messages))
        await kill(process)
        mailbox.hang = False
        assert "结果不明" not in words_of(card)
        process = start(office)
        await slack.people.wait_until(lambda: "结果不明" in words_of(card))
        assert len(mailbox.messages) == 1
        assert "action_send_again" in buttons_of(card)
        await press(slack, card, "action_arrived")
        await slack.people.wait_until(lambda: "已完成" in words_of(card))
    finally:
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait) == 0
    assert len(mailbox.messages) == 1
    assert len(slack.people.from_bot("dm", viewer=OPS)) == 1


async def test_a_draft_outlives_it_and_nothing_is_sent_twice(office: Office) -> None:
    mailbox = Mailbox()
    async with serve_mail(mailbox) as port, serve_slack(build_workspace()) as slack:
        office.add_settings(
            f'[slack]\nbase_url = "{slack.api_url}"\nping_interval_s = 0.2\nsweep_s = 0.2'
        )
        write_settings(office, port, timeout_s=60)
        async with asyncio.timeout(PATIENCE_S):
            await play(slack, office, mailbox)
    # In a thread of its own: the command runs a loop.
    result = await asyncio.to_thread(office.run, "audit", "verify")
    assert "5 entries; the chain is whole" in result.stdout

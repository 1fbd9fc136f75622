"""Events over HTTP: signed, answered to Slack's questions, and worked on like those of a socket."""

import json
import time
from collections.abc import AsyncIterator
from socket import socket
from typing import Any

import aiohttp
import pytest
from pydantic import SecretStr

from playground.slack.delivery import SIGNING_SECRET, sign
from playground.slack.server import serve_slack
from tests.unit.bot.office import LEAVE_QUESTION, OPS, Office
from tests.unit.bot.slack.workplace import (
    MIXED,
    Workplace,
    build_workspace,
    open_workplace,
    words_of,
)


def find_free_port() -> int:
    with socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.fixture
async def workplace(office: Office) -> AsyncIterator[Workplace]:
    port = find_free_port()
    async with serve_slack(build_workspace()) as slack:
        slack.delivery.request_url = f"http://127.0.0.1:{port}/slack/events"
        async with open_workplace(
            office, slack=slack, mode="http", port=port, signing_secret=SecretStr(SIGNING_SECRET)
        ) as workplace:
            yield workplace


async def send(
    workplace: Workplace, body: dict[str, Any], headers: dict[str, str]
) -> tuple[int, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            workplace.slack.delivery.request_url,
            data=json.dumps(body),
            headers={"Content-Type": "application/json", **headers},
        ) as response,
    ):
        text = await response.text()
        return response.status, json.loads(text) if text.startswith("{") else text


async def test_a_mention_is_answered_and_a_button_works(workplace: Workplace) -> None:
    workplace.slack.faults.deliveries = 2
    answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    assert "5 天" in words_of(answer)
    assert len(workplace.people.from_bot(MIXED)) == 1
    assert await workplace.people.press(OPS, answer, "answer_solved")
    await workplace.wait_until(
        lambda: any(one.ephemeral_to for one in workplace.people.messages(MIXED, viewer=OPS))
    )
    assert await workplace.people.slash(OPS, MIXED, "/kb 年假") is not None


async def test_slack_is_told_the_word_it_asks_for(workplace: Workplace) -> None:
    body = {"type": "url_verification", "challenge": "word", "token": "t"}
    # The server may still be on its way up.
    await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    assert await send(workplace, body, sign(json.dumps(body))) == (200, {"challenge": "word"})


@pytest.mark.parametrize("fault", ["secret", "age", "moment", "none"])
async def test_what_slack_did_not_sign_is_refused(workplace: Workplace, fault: str) -> None:
    await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
    body = {"type": "url_verification", "challenge": "word", "token": "t"}
    text = json.dumps(body)
    headers = {
        "secret": sign(text, secret="another"),
        "age": sign(text, now=time.time() - 600),
        "moment": {**sign(text), "X-Slack-Request-Timestamp": "soon"},
        "none": {},
    }[fault]
    status, _ = await send(workplace, body, headers)
    assert status == 401

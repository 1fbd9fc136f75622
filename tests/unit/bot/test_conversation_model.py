"""Answers written by a chat model: what it is shown, what becomes of its text, its failures."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from bot.texts import get_texts
from core.messages import Outcome
from tests.fakes.chat_server import ChatServer, Script, run_chat_server
from tests.unit.bot.office import (
    DESK_QUESTION,
    DISK_QUESTION,
    HR,
    LEAVE_QUESTION,
    OPS,
    PEOPLE,
    SALARY,
    SALARY_QUESTION,
    Office,
    ask,
)

DESK_MAIL, DESK_PHONE = "desk@nimbus.example", "+86 571 8765 4321"
PLACEHOLDER = re.compile(r"<(EMAIL|PHONE|PERSON)_\d+>")


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with run_chat_server() as running:
        yield running


def use_model(office: Office, server: ChatServer, *, is_private: bool = False) -> None:
    office.add_settings(
        f'[models]\nbase_url = "{server.base_url}"\nchat_model = "scripted"\n'
        f'api_key = "k"\ntimeout_s = 10\nprivate = {json.dumps(is_private)}\n'
    )


def everything_sent(server: ChatServer) -> str:
    return json.dumps(server.requests, ensure_ascii=False)


def repeat_desk(request: Mapping[str, Any]) -> Script:
    """Answer with the sentence of the desk as the model was shown it."""
    shown = str(request["messages"][-1]["content"])
    [line] = [line for line in shown.splitlines() if line.startswith("To reach the facilities")]
    return Script(text=f"{line.rstrip('.')} [1].")


async def test_an_answer_is_written_and_cited(office: Office, server: ChatServer) -> None:
    use_model(office, server)
    server.enqueue(Script(text="年假最多可以结转 5 天，3 月 31 日之前休完 [1]。"))
    async with office.open() as product:
        answer = await ask(product, LEAVE_QUESTION, OPS)
    assert answer.outcome is Outcome.ANSWERED
    assert answer.text == "年假最多可以结转 5 天，3 月 31 日之前休完。 [1]"
    assert [one.document_id for one in answer.citations] == ["files:handbook/休假制度.md"]
    assert len(server.requests) == 1
    assert server.authorizations == ["Bearer k"]


async def test_no_personal_data_leaves_for_an_endpoint_that_is_not_private(
    office: Office, server: ChatServer
) -> None:
    use_model(office, server)
    server.respond = repeat_desk
    async with office.open() as product:
        answer = await ask(product, f"{DESK_QUESTION} Does Mo Lan or 苏沁 answer?", OPS)
    sent = everything_sent(server)
    assert {match[1] for match in PLACEHOLDER.finditer(sent)} == {"EMAIL", "PHONE", "PERSON"}
    names = [str(person[key]) for person in PEOPLE for key in ("name", "name_en") if key in person]
    mails = [str(person["email"]) for person in PEOPLE if "email" in person]
    for kept in (DESK_MAIL, DESK_PHONE, "8765 4321", *names, *mails):
        assert kept.casefold() not in sent.casefold()
    assert answer.outcome is Outcome.ANSWERED
    for restored in (DESK_MAIL, DESK_PHONE, "Mo Lan"):
        assert restored in answer.text
    assert PLACEHOLDER.search(answer.text) is None


async def test_a_private_endpoint_is_sent_the_text_as_it_is(
    office: Office, server: ChatServer
) -> None:
    use_model(office, server, is_private=True)
    server.respond = repeat_desk
    async with office.open() as product:
        answer = await ask(product, DESK_QUESTION, OPS)
    assert DESK_MAIL in everything_sent(server)
    assert DESK_MAIL in answer.text


async def test_a_space_that_must_never_leave_is_quoted_here(
    office: Office, server: ChatServer
) -> None:
    use_model(office, server)
    office.add_settings('[privacy]\nnever_to_leave = ["handbook"]')
    async with office.open() as product:
        answer = await ask(product, LEAVE_QUESTION, OPS)
    assert not server.requests
    assert answer.outcome is Outcome.ANSWERED
    assert "5 天" in answer.text


@pytest.mark.parametrize(
    "script",
    [
        Script(status=400, error={"message": "no such model"}),
        Script(status=401, error={"message": "bad key"}),
        Script(breaks_after=1, text="年假最多可以结转 5 天 [1]。"),
        Script(text=""),
    ],
    ids=["refused", "bad key", "broken off", "empty"],
)
async def test_a_model_that_fails_leaves_quotes(
    office: Office, server: ChatServer, script: Script
) -> None:
    use_model(office, server)
    server.respond = lambda _request: script
    async with office.open() as product:
        answer = await ask(product, LEAVE_QUESTION, OPS)
    assert answer.outcome is Outcome.ANSWERED
    assert answer.text.startswith(get_texts("zh").model_failed)
    assert "5 天" in answer.text
    assert len(answer.citations) == 1


async def test_quotes_say_in_english_too_that_the_model_failed(
    office: Office, server: ChatServer
) -> None:
    use_model(office, server)
    server.respond = lambda _request: Script(status=400)
    async with office.open() as product:
        answer = await ask(product, DISK_QUESTION, OPS)
    assert answer.text.startswith(get_texts("en").model_failed)
    assert "docker image prune" in answer.text


@pytest.mark.parametrize(
    "text",
    ["年假最多可以结转 9 天 [1]。", "午餐补贴由公司承担 88 元。", "NOT_FOUND"],
    ids=["number of its own", "no source", "not found"],
)
async def test_what_the_pages_do_not_hold_is_not_said(
    office: Office, server: ChatServer, text: str
) -> None:
    use_model(office, server)
    server.enqueue(Script(text=text))
    async with office.open() as product:
        answer = await ask(product, LEAVE_QUESTION, OPS)
    assert answer.outcome is Outcome.NOT_FOUND
    assert answer.text.startswith(get_texts("zh").not_found)
    assert not answer.citations


@pytest.mark.parametrize("text", ["年假最多可以结转 5 天 [7]。", "年假最多可以结转 5 天。"])
async def test_a_statement_with_no_or_a_wrong_source_is_given_the_one_that_holds_it(
    office: Office, server: ChatServer, text: str
) -> None:
    use_model(office, server)
    server.enqueue(Script(text=text))
    async with office.open() as product:
        answer = await ask(product, LEAVE_QUESTION, OPS)
    assert answer.text == "年假最多可以结转 5 天。 [1]"
    assert [one.document_id for one in answer.citations] == ["files:handbook/休假制度.md"]


async def test_a_statement_without_support_is_left_out_and_the_rest_stays(
    office: Office, server: ChatServer
) -> None:
    use_model(office, server)
    server.enqueue(Script(text="年假最多可以结转 5 天 [1]。病假最多 77 天 [1]。"))
    async with office.open() as product:
        answer = await ask(product, LEAVE_QUESTION, OPS)
    assert answer.outcome is Outcome.ANSWERED
    assert "5 天" in answer.text
    assert "77" not in answer.text


async def test_the_model_is_shown_only_what_the_asker_may_read(
    office: Office, server: ChatServer
) -> None:
    use_model(office, server)
    async with office.open() as product:
        for question in (SALARY_QUESTION, "杭州办公室的住宿标准和 L4 的薪酬带宽上限是多少？"):
            await ask(product, question, OPS)
            await ask(product, question, OPS, in_="c-mixed")
    sent = everything_sent(server)
    assert SALARY not in sent
    assert "650" not in sent


async def test_a_private_reply_is_written_apart_from_the_public_one(
    office: Office, server: ChatServer
) -> None:
    use_model(office, server)
    server.respond = lambda _request: Script(text="L4 的薪酬带宽上限是每月 38,000 元 [1]。")
    async with office.open() as product:
        answer = await ask(product, SALARY_QUESTION, HR, in_="c-mixed")
    assert answer.outcome is Outcome.NO_ACCESS
    assert SALARY not in answer.text
    assert answer.private_answer is not None
    assert SALARY in answer.private_answer


async def test_small_talk_and_questions_without_evidence_never_reach_the_model(
    office: Office, server: ChatServer
) -> None:
    use_model(office, server)
    async with office.open() as product:
        await ask(product, "你好", OPS)
        await ask(product, "Who won the chess tournament in 1987?", OPS)
    assert not server.requests


async def test_the_doctor_asks_the_model(office: Office, server: ChatServer) -> None:
    use_model(office, server)
    found = await asyncio.to_thread(office.run_json, "doctor")
    [model] = [one for one in found["findings"] if one["part"] == "chat model"]
    assert model == {"part": "chat model", "is_well": True, "said": "scripted answered 'ok'"}
    server.respond = lambda _request: Script(status=401, error={"message": "bad key"})
    result = await asyncio.to_thread(office.run, "doctor")
    assert result.exit_code == 1
    assert "✗ chat model: " in result.stdout
    assert "✓ database: " in result.stdout

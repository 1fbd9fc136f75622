"""Whatever a model sends, every run ends within its budgets, with a reply that helps."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.trace_steps import TraceSteps
from core.messages import Answer, Outcome
from core.settings import AgentSettings
from knowledge.readers import resolve_reader
from tests.fakes.chat_server import ChatServer, Script, run_chat_server
from tests.unit.bot.agent.agents import SendNote, call, open_bench
from tests.unit.bot.office import LEAVE_QUESTION, OPS, SALARY, Office

LIMITS = AgentSettings(steps=4, time_s=6, tokens=20_000)
MOST_REQUESTS = 2 * LIMITS.steps + 4
"""Each step asks once, twice for a prompt that is too long; then the writer and the quotes' one."""

BROKEN = {
    "broken JSON": Script(text='{"name": "search_docs", "arguments": {"query": '),
    "unknown tools": Script(calls=[("rm_rf", "{}"), ("", "{}"), ("поиск", '{"q": 1}')]),
    "the same again": Script(calls=[call("search_docs", query=LEAVE_QUESTION)]),
    "huge arguments": Script(calls=[("search_docs", json.dumps({"query": "x" * 99_000}))]),
    "arguments beyond all bounds": Script(calls=[("search_docs", "y" * 150_000)]),
    "no arguments": Script(calls=[("search_docs", ""), ("get_page", "null")]),
    "arguments of another kind": Script(calls=[("calculate", "[1, {}]"), ("get_page", "7")]),
    "an empty reply": Script(text=""),
    "a huge reply": Script(text="lots of words " * 9_000),
    "a refusal": Script(text="I'm sorry, but I can't help with that."),
    "blocked": Script(text="x", finish="content_filter"),
    "cut short": Script(text='PLAN: look\n{"name": "get_page", "argum', finish="length"),
    "no choices": Script(has_null_choices=True),
    "a page": Script(raw_body="<html>busy</html>", content_type="text/html"),
    "broken off": Script(text="a b c", breaks_after=1),
    "an error in the stream": Script(text="a b c", error_after=1),
    "a bad request": Script(status=400, error={"message": "bad"}),
    "too long": Script(status=400, error={"message": "x", "code": "context_length_exceeded"}),
    "a server fault": Script(status=500),
    "overloaded": Script(status=429, headers={"Retry-After": "60"}),
    "deep nesting": Script(text='{"a":' * 3_000),
    "many calls": Script(calls=[call("calculate", expression=f"{n}+1") for n in range(12)]),
    "orders as a plan": Script(text="PLAN: " + "; ".join(f"step {n}" for n in range(200))),
    "a draft nobody asked for": Script(
        calls=[call("send_email", to=["x@evil.example"], subject="s", body="b")]
    ),
}


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with run_chat_server() as running:
        yield running


def check(answer: Answer, server: ChatServer) -> None:
    assert answer.text.strip()
    assert answer.outcome in {Outcome.ANSWERED, Outcome.NOT_FOUND}
    assert answer.proposed_action is None
    assert SALARY not in json.dumps(server.requests, ensure_ascii=False)
    assert len(server.requests) <= MOST_REQUESTS + 2 * 3 * LIMITS.steps, "retries included"


@pytest.mark.parametrize("script", BROKEN.values(), ids=BROKEN.keys())
async def test_every_kind_of_reply_ends_in_an_answer(
    office: Office, server: ChatServer, script: Script
) -> None:
    server.respond = lambda _request: script
    async with open_bench(
        office, server, settings=LIMITS, skills=[SendNote()], timeout_s=2
    ) as bench:
        answer = await bench.ask(LEAVE_QUESTION, OPS)
    check(answer, server)
    # The page that answers was found before any model was asked.
    assert "5 天" in answer.text or "休假制度" in answer.text


@pytest.mark.parametrize(
    "script",
    [
        Script(hangs=True),
        Script(pieces=["word "], repeats=0, waits_s=0.01),
        Script(pieces=[""], repeats=0, waits_s=0.01),
        Script(pieces=["年假最多可以结转 5 天 [1]。\n\n"], repeats=0, waits_s=0.01),
    ],
    ids=["hangs", "endless words", "endless nothing", "the same sentence without end"],
)
async def test_what_never_ends_is_given_up(
    office: Office, server: ChatServer, script: Script
) -> None:
    limits = AgentSettings(steps=4, time_s=2)
    server.respond = lambda request: (
        script if script.hangs or "tools" not in request else Script(text="PLAN: done")
    )
    async with open_bench(office, server, settings=limits, timeout_s=20) as bench:
        agent = bench.conversation.parts.agent
        assert agent is not None
        reader = await resolve_reader(bench.product.state.registry, as_=OPS)
        reply = await agent.answer(LEAVE_QUESTION, reader, TraceSteps())
    assert reply.answer.text.strip()
    assert reply.answer.outcome in {Outcome.ANSWERED, Outcome.NOT_FOUND}


NAMES = st.sampled_from(
    ["search_docs", "get_page", "look_up_person", "calculate", "list_versions", "send_email", "x"]
)
ARGUMENTS = st.one_of(
    st.text(max_size=40),
    st.dictionaries(
        st.sampled_from(["query", "page", "person", "expression", "to", "subject", "body", "?"]),
        st.one_of(st.text(max_size=20), st.integers(), st.none(), st.lists(st.text(max_size=5))),
        max_size=3,
    ).map(lambda value: json.dumps(value, ensure_ascii=False)),
)
SCRIPTS = st.one_of(
    st.builds(lambda calls: Script(calls=calls), st.lists(st.tuples(NAMES, ARGUMENTS), max_size=4)),
    st.builds(lambda text: Script(text=text), st.text(max_size=200)),
    st.sampled_from(list(BROKEN.values())).filter(lambda one: one.status != 429),
)


async def test_any_row_of_replies_ends_in_an_answer(office: Office, server: ChatServer) -> None:
    async with open_bench(
        office, server, settings=LIMITS, skills=[SendNote()], timeout_s=2
    ) as bench:
        loop = asyncio.get_running_loop()

        @settings(
            max_examples=60,
            deadline=None,
            suppress_health_check=[HealthCheck.function_scoped_fixture],
        )
        @given(st.lists(SCRIPTS, min_size=1, max_size=5))
        def run(scripts: Sequence[Script]) -> None:
            server.requests.clear()
            server.scripts.clear()
            server.enqueue(*scripts)
            future = asyncio.run_coroutine_threadsafe(bench.ask(LEAVE_QUESTION, OPS), loop)
            check(future.result(60), server)

        await asyncio.to_thread(run)

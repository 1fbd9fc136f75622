"""Tool calls over the wire: whole, streamed, odd, and with servers that know no tools."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from core.errors import ModelReplyError
from core.models import ChatMessage, ChatReply, Finish, StreamEnd, ToolCall, ToolSpec
from core.models.openai_compatible import OpenAiCompatibleModel
from core.settings import ModelSettings
from tests.fakes.chat_server import ChatServer, Script, run_chat_server

SEARCH = ToolSpec(
    name="search_docs",
    description="Search.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}},
)
QUESTION = [
    ChatMessage(role="system", content="You help."),
    ChatMessage(role="user", content="how long is the leave?"),
]
CALL = ToolCall(call_id="c1", name="search_docs", arguments='{"query": "leave"}')
ROUND = [
    *QUESTION,
    ChatMessage(role="assistant", content="", tool_calls=(CALL,)),
    ChatMessage(role="tool", content="15 days", tool_call_id="c1"),
]


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with run_chat_server() as running:
        yield running


@pytest.fixture
async def model(server: ChatServer) -> AsyncIterator[OpenAiCompatibleModel]:
    model = OpenAiCompatibleModel(
        ModelSettings(
            base_url=server.base_url,
            chat_model="scripted",
            timeout_s=10,
            prompt_price=2.0,
            completion_price=10.0,
        )
    )
    yield model
    await model.close()


async def ask(model: OpenAiCompatibleModel, **options: Any) -> ChatReply:
    return await model.complete(QUESTION, max_tokens=50, tools=[SEARCH], **options)


async def stream(model: OpenAiCompatibleModel) -> StreamEnd:
    async with aclosing(model.stream(QUESTION, max_tokens=50, tools=[SEARCH])) as events:
        seen = [event async for event in events]
    end = seen[-1]
    assert isinstance(end, StreamEnd)
    return end


def shape(calls: Sequence[ToolCall]) -> list[tuple[str, str]]:
    return [(one.name, one.arguments) for one in calls]


async def test_a_tool_call_comes_back_with_its_cost(
    server: ChatServer, model: OpenAiCompatibleModel
) -> None:
    server.enqueue(Script(calls=[("search_docs", '{"query": "leave"}')]))
    reply = await ask(model)
    assert (reply.text, reply.finish) == ("", Finish.TOOL_CALLS)
    assert shape(reply.tool_calls) == [("search_docs", '{"query": "leave"}')]
    assert reply.usage.cost == pytest.approx((11 * 2 + 7 * 10) / 1_000_000)
    assert model.usage.cost == reply.usage.cost
    sent = server.requests[0]
    assert sent["tools"][0]["function"]["name"] == "search_docs"
    assert "tool_choice" not in sent


async def test_streamed_calls_are_put_together(
    server: ChatServer, model: OpenAiCompatibleModel
) -> None:
    calls = [("search_docs", '{"query": "leave of contractors"}'), ("get_page", '{"page": "a"}')]
    server.enqueue(Script(calls=calls))
    end = await stream(model)
    assert shape(end.tool_calls) == calls
    assert [one.call_id for one in end.tool_calls] == ["call_0", "call_1"]
    assert end.finish is Finish.TOOL_CALLS


@pytest.mark.parametrize(
    "pieces",
    [
        [
            {"index": None, "id": "a", "function": {"name": "one", "arguments": '{"x": 1}'}},
            {"index": None, "id": "b", "function": {"name": "two", "arguments": "{}"}},
        ],
        [
            {"index": None, "id": "a", "function": {"name": "one", "arguments": '{"x"'}},
            {"index": None, "function": {"arguments": ": 1}"}},
            {"index": None, "id": "b", "function": {"name": "two", "arguments": "{}"}},
        ],
        [
            {"index": 0, "id": "a", "function": {"name": "one", "arguments": '{"x": 1}'}},
            {"index": 0, "id": "b", "function": {"name": "two", "arguments": "{}"}},
        ],
        [
            {"index": 1, "id": "b", "function": {"name": "two", "arguments": "{}"}},
            {"index": 0, "id": "a", "function": {"name": "one", "arguments": {"x": 1}}},
            {"index": 2, "function": {"arguments": "no name"}},
        ],
    ],
    ids=["no index", "no index, cut", "one index", "an object, and a call without a name"],
)
async def test_odd_streams_give_the_same_calls(
    server: ChatServer, model: OpenAiCompatibleModel, pieces: Sequence[Mapping[str, Any]]
) -> None:
    server.enqueue(Script(call_pieces=pieces))
    end = await stream(model)
    assert shape(end.tool_calls) == [("one", '{"x": 1}'), ("two", "{}")]


async def test_results_go_back_in_the_form_of_the_api(
    server: ChatServer, model: OpenAiCompatibleModel
) -> None:
    reply = await model.complete(ROUND, max_tokens=50, tools=[SEARCH])
    assert reply.text == "ok"
    *_, called, result = server.requests[0]["messages"]
    assert called["tool_calls"][0]["function"]["arguments"] == CALL.arguments
    assert result == {"role": "tool", "content": "15 days", "tool_call_id": "c1"}


async def test_a_result_without_its_call_would_be_refused(
    server: ChatServer, model: OpenAiCompatibleModel
) -> None:
    assert server is not None
    with pytest.raises(ModelReplyError, match="preceeding"):
        await model.complete([*QUESTION, ROUND[-1]], max_tokens=50, tools=[SEARCH])


async def test_a_server_without_tool_choice_is_asked_without(
    server: ChatServer, model: OpenAiCompatibleModel
) -> None:
    server.unknown_options = {"tool_choice": "tool_choice is not supported"}
    for _ in range(2):
        await ask(model, tool_choice="required")
    assert ["tool_choice" in one for one in server.requests] == [True, False, False]
    assert all("tools" in one for one in server.requests)


@pytest.mark.parametrize(
    "words",
    [
        "registry.example/library/small does not support tools",
        "tools param requires --jinja flag",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "Extra inputs are not permitted: tools",
        "Unknown field: tools",
    ],
)
async def test_a_server_without_tools_is_told_of_them_in_words(
    server: ChatServer, model: OpenAiCompatibleModel, words: str
) -> None:
    server.unknown_options = {"tools": words, "tool_choice": words}
    server.enqueue(Script(text='{"name": "search_docs", "arguments": {"query": "leave"}}'))
    reply = await model.complete(ROUND, max_tokens=50, tools=[SEARCH], tool_choice="required")
    assert json.loads(reply.text)["name"] == "search_docs"
    sent = server.requests[-1]
    assert not {"tools", "tool_choice"} & sent.keys()
    assert [one["role"] for one in sent["messages"]] == ["system", "user", "assistant", "user"]
    assert "search_docs" in sent["messages"][0]["content"]
    assert CALL.arguments in sent["messages"][2]["content"]
    assert "15 days" in sent["messages"][3]["content"]
    before = len(server.requests)
    await ask(model)
    assert len(server.requests) == before + 1, "what a server refuses is not tried again"


async def test_an_endless_call_is_cut_off(server: ChatServer, model: OpenAiCompatibleModel) -> None:
    server.enqueue(Script(calls=[("search_docs", "x" * 100_001)]))
    with pytest.raises(ModelReplyError, match="100,000"):
        await ask(model)
    server.enqueue(Script(pieces=["more " * 1000], repeats=0))
    with pytest.raises(ModelReplyError, match="100,000"):
        await stream(model)

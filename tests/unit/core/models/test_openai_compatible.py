import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from datetime import UTC, datetime
from typing import Any, Protocol

import pytest
from pydantic import SecretStr

from core.clock import FixedClock
from core.errors import (
    ModelReplyError,
    PromptTooLongError,
    RateLimitedError,
    ServiceUnavailableError,
    SettingsError,
)
from core.models import ChatMessage, Finish, StreamEnd, StreamEvent, TextDelta, Usage
from core.models.openai_compatible import OpenAiCompatibleModel
from core.settings import ModelSettings
from tests.fakes.chat_server import ChatServer, Script, run_chat_server

QUESTION = [ChatMessage(role="user", content="how long is the leave?")]
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with run_chat_server() as running:
        yield running


class Waits:
    """Stands in for sleeping and remembers how long each wait would have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture
def waits() -> Waits:
    return Waits()


class ModelBuilder(Protocol):
    def __call__(self, **changes: Any) -> OpenAiCompatibleModel: ...


@pytest.fixture
async def build_model(server: ChatServer, waits: Waits) -> AsyncIterator[ModelBuilder]:
    async with AsyncExitStack() as stack:

        def build(**changes: Any) -> OpenAiCompatibleModel:
            values = {"base_url": server.base_url, "chat_model": "scripted", "timeout_s": 30.0}
            model = OpenAiCompatibleModel(
                ModelSettings.model_validate({**values, **changes}),
                clock=FixedClock(NOON),
                sleep=waits,
                rng=random.Random(1),
            )
            stack.push_async_callback(model.close)
            return model

        yield build


async def collect(
    model: OpenAiCompatibleModel, into: list[StreamEvent] | None = None
) -> list[StreamEvent]:
    seen = [] if into is None else into
    async with aclosing(model.stream(QUESTION, max_tokens=50)) as events:
        async for event in events:
            seen.append(event)
    return seen


def join_text(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_a_reply_comes_back_with_its_usage(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    server.enqueue(Script(text="15 days [1]"))
    model = build_model()
    reply = await model.complete(QUESTION, max_tokens=50, temperature=0.2)
    assert reply.text == "15 days [1]"
    assert reply.finish is Finish.STOP
    assert reply.usage == Usage(calls=1, prompt_tokens=11, completion_tokens=7)
    sent = server.requests[0]
    assert (sent["model"], sent["max_tokens"], sent["temperature"]) == ("scripted", 50, 0.2)
    assert sent["messages"] == [{"role": "user", "content": "how long is the leave?"}]


async def test_an_endpoint_without_a_key_is_called_with_a_stand_in(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    await build_model().complete(QUESTION, max_tokens=5)
    await build_model(api_key=SecretStr("k-1")).complete(QUESTION, max_tokens=5)
    assert server.authorizations == ["Bearer none", "Bearer k-1"]


async def test_an_address_without_a_path_gets_v1(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    model = build_model(base_url=server.base_url.removesuffix("/v1") + "/")
    assert (await model.complete(QUESTION, max_tokens=5)).text == "ok"


def test_an_address_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(SettingsError, match=r"models\.base_url"):
        OpenAiCompatibleModel(ModelSettings(base_url="localhost:8000", chat_model="m"))


async def test_a_stream_ends_with_usage_and_finish(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    server.enqueue(Script(pieces=["15 ", "days", " [1]"]))
    model = build_model()
    events = await collect(model)
    assert join_text(events) == "15 days [1]"
    assert events[-1] == StreamEnd(
        usage=Usage(calls=1, prompt_tokens=11, completion_tokens=7), finish=Finish.STOP
    )
    assert server.requests[0]["stream_options"] == {"include_usage": True}
    assert model.usage.prompt_tokens == 11


async def test_a_stream_without_usage_still_counts_the_call(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    server.enqueue(Script(usage=None))
    model = build_model()
    await collect(model)
    assert model.usage == Usage(calls=1)


async def test_a_reply_cut_at_its_limit_says_so(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    server.enqueue(Script(finish="length"), Script(finish="length"))
    model = build_model()
    assert (await model.complete(QUESTION, max_tokens=5)).finish is Finish.LENGTH
    end = (await collect(model))[-1]
    assert isinstance(end, StreamEnd)
    assert end.finish is Finish.LENGTH


@pytest.mark.parametrize(
    "script",
    [
        Script(raw_body="<html>welcome</html>", content_type="text/html"),
        Script(has_null_choices=True),
        Script(text=""),
        Script(text="<think>only thoughts</think>"),
        Script(finish="content_filter"),
        Script(raw_body='{"choices": [', content_type="application/json"),
    ],
)
async def test_what_is_no_reply_is_an_error(
    server: ChatServer, waits: Waits, build_model: ModelBuilder, script: Script
) -> None:
    server.enqueue(script)
    with pytest.raises(ModelReplyError):
        await build_model().complete(QUESTION, max_tokens=5)
    assert waits.seconds == []


async def test_thoughts_before_the_reply_are_left_out(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    server.enqueue(
        Script(text="<think>15? yes</think>\n\n15 days"),
        Script(pieces=["<th", "ink>hm", "m</thi", "nk>", "\n\n", "15 ", "days <think>"]),
    )
    model = build_model()
    assert (await model.complete(QUESTION, max_tokens=5)).text == "15 days"
    assert join_text(await collect(model)) == "15 days <think>"


@pytest.mark.parametrize("status", [408, 409, 500, 503])
async def test_an_overloaded_endpoint_is_asked_three_times(
    server: ChatServer, build_model: ModelBuilder, status: int
) -> None:
    server.enqueue(Script(status=status), Script(status=status))
    model = build_model()
    assert (await model.complete(QUESTION, max_tokens=5)).text == "ok"
    assert len(server.requests) == 3
    server.enqueue(*[Script(status=status)] * 3)
    with pytest.raises(ServiceUnavailableError):
        await model.complete(QUESTION, max_tokens=5)


async def test_retry_after_is_waited_for(
    server: ChatServer, waits: Waits, build_model: ModelBuilder
) -> None:
    server.enqueue(
        Script(status=429, headers={"Retry-After": "7"}),
        Script(status=429, headers={"Retry-After": "Mon, 30 Nov 2026 12:00:09 GMT"}),
    )
    await build_model().complete(QUESTION, max_tokens=5)
    assert waits.seconds == [7.0, 9.0]


async def test_a_retry_after_beyond_the_time_limit_is_reported_at_once(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    server.enqueue(Script(status=429, headers={"Retry-After": "300"}))
    with pytest.raises(RateLimitedError) as caught:
        await build_model().complete(QUESTION, max_tokens=5)
    assert caught.value.retry_after_s == 300
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (Script(status=401, error={"message": "bad key sk-abcdefghijklmnop1234"}), SettingsError),
        (Script(status=403), SettingsError),
        (Script(status=404), SettingsError),
        (
            Script(status=429, error={"message": "pay", "code": "insufficient_quota"}),
            SettingsError,
        ),
        (Script(status=413), PromptTooLongError),
        (
            Script(status=400, error={"message": "no", "code": "context_length_exceeded"}),
            PromptTooLongError,
        ),
        (
            Script(status=400, error={"message": "This model's maximum context length is 4096"}),
            PromptTooLongError,
        ),
        (Script(status=400), ModelReplyError),
        (Script(status=422), ModelReplyError),
    ],
)
async def test_refusals_are_told_apart_and_not_repeated(
    server: ChatServer,
    waits: Waits,
    build_model: ModelBuilder,
    script: Script,
    expected: type[Exception],
) -> None:
    server.enqueue(script, script)
    model = build_model()
    with pytest.raises(expected) as caught:
        await model.complete(QUESTION, max_tokens=5)
    assert type(caught.value) is expected
    assert "sk-abcdefghijklmnop1234" not in str(caught.value)
    with pytest.raises(expected):
        await collect(model)
    assert waits.seconds == []


async def test_an_option_the_model_refuses_is_left_out_from_then_on(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    def refuse(option: str) -> Script:
        error = {"message": "unsupported", "code": "unsupported_parameter", "param": option}
        return Script(status=400, error=error)

    server.enqueue(refuse("max_tokens"), refuse("temperature"))
    model = build_model()
    await model.complete(QUESTION, max_tokens=5)
    await model.complete(QUESTION, max_tokens=5)
    assert len(server.requests) == 4
    for sent in server.requests[2:]:
        assert "temperature" not in sent
        assert "max_tokens" not in sent
        assert sent["max_completion_tokens"] == 5


@pytest.mark.parametrize(
    "script",
    [
        Script(pieces=["15 ", "days"], finish=None),
        Script(pieces=["15 ", "days"], breaks_after=1),
        Script(pieces=["15 ", "days"], error_after=1),
    ],
)
async def test_a_stream_that_breaks_off_is_an_error(
    server: ChatServer, build_model: ModelBuilder, script: Script
) -> None:
    server.enqueue(script)
    model = build_model()
    pieces: list[StreamEvent] = []
    with pytest.raises(ServiceUnavailableError):
        await collect(model, pieces)
    assert join_text(pieces).startswith("15")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "script",
    [
        Script(raw_body="<html>welcome</html>", content_type="text/html"),
        Script(raw_body="data: {broken\n\n", content_type="text/event-stream"),
        Script(pieces=["<think>only thoughts</think>"]),
    ],
)
async def test_what_is_no_stream_is_an_error(
    server: ChatServer, build_model: ModelBuilder, script: Script
) -> None:
    server.enqueue(script)
    with pytest.raises((ModelReplyError, ServiceUnavailableError)):
        await collect(build_model())


async def test_an_overlong_prompt_found_inside_the_stream_is_told(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    error = {"message": "prompt is too long", "code": "context_length_exceeded"}
    server.enqueue(Script(error_after=0, stream_error=error))
    with pytest.raises(PromptTooLongError):
        await collect(build_model())


async def test_a_stream_is_retried_before_its_first_piece(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    server.enqueue(Script(status=503), Script(text="15 days"))
    assert join_text(await collect(build_model())).strip() == "15 days"


async def test_an_endpoint_that_hangs_is_given_up(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    server.enqueue(Script(hangs=True), Script(hangs=True))
    model = build_model(timeout_s=0.2)
    with pytest.raises(ServiceUnavailableError, match=r"within 0\.2 s"):
        await model.complete(QUESTION, max_tokens=5)
    with pytest.raises(ServiceUnavailableError):
        await collect(model)


async def test_an_endpoint_that_is_not_there_is_a_transient_error(
    waits: Waits, build_model: ModelBuilder
) -> None:
    async with run_chat_server() as gone:
        model = build_model(base_url=gone.base_url)
    with pytest.raises(ServiceUnavailableError, match="can't be reached"):
        await model.complete(QUESTION, max_tokens=5)
    assert len(waits.seconds) == 2


async def test_no_more_calls_run_at_once_than_allowed(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    server.respond = lambda _request: Script(hangs=True)
    model = build_model(max_concurrent=2)
    calls = [asyncio.create_task(model.complete(QUESTION, max_tokens=5)) for _ in range(5)]
    await server.wait_for_requests(2)
    server.release()
    await asyncio.gather(*calls)
    assert len(server.requests) == 5
    assert server.most_at_once == 2


async def test_a_full_house_is_reported_after_the_time_limit(
    server: ChatServer, build_model: ModelBuilder
) -> None:
    server.respond = lambda _request: Script(hangs=True)
    model = build_model(max_concurrent=1, timeout_s=0.2)
    results = await asyncio.gather(
        *(model.complete(QUESTION, max_tokens=5) for _ in range(2)), return_exceptions=True
    )
    assert all(isinstance(result, ServiceUnavailableError) for result in results)


async def test_leaving_a_stream_early_frees_its_place(build_model: ModelBuilder) -> None:
    model = build_model(max_concurrent=1)
    async with aclosing(model.stream(QUESTION, max_tokens=5)) as events:
        await anext(events)
    assert (await model.complete(QUESTION, max_tokens=5)).text == "ok"

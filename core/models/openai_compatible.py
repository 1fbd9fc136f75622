"""Chat over any OpenAI-compatible endpoint."""

import asyncio
import json
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

import openai
from openai import AsyncOpenAI, AsyncStream
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from core.clock import Clock, SystemClock
from core.errors import (
    ModelReplyError,
    ServiceUnavailableError,
    SettingsError,
)
from core.models import (
    ChatMessage,
    ChatReply,
    Finish,
    StreamEnd,
    StreamEvent,
    TextDelta,
    ToolChoice,
    ToolSpec,
    Usage,
)
from core.models.foreign_errors import find_refused_option, translate_error
from core.models.metering import count_usage
from core.models.reasoning import ReasoningFilter
from core.models.retrying import Sleep, call_with_retries
from core.models.tool_calls import ToolCallCollector, read_tool_calls
from core.models.wire_messages import build_tool, build_wire_messages, describe_tools
from core.settings import ModelSettings

T = TypeVar("T")

# The key of endpoints that want none; the client refuses an empty one.
NO_KEY = "none"
_FOREIGN = (openai.OpenAIError, json.JSONDecodeError, UnicodeDecodeError)

MOST_REPLY_CHARS = 100_000
"""A reply, reasoning and tool calls included, that is longer is no answer to anything."""
_PRICED_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """What one call asks for."""

    messages: Sequence[ChatMessage]
    max_tokens: int
    temperature: float
    tools: Sequence[ToolSpec]
    tool_choice: ToolChoice
    is_stream: bool


class OpenAiCompatibleModel:
    """A chat model behind `models.base_url`.

    `timeout_s` bounds a whole call: waiting for a place, all attempts and, in a stream, every
    wait for the next piece. The client's own retries are off: it would multiply the time-out and
    give up on a long Retry-After without saying how long.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        clock: Clock | None = None,
        sleep: Sleep = asyncio.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self._settings = settings
        self._base_url = _complete_base_url(settings.base_url)
        self._client = AsyncOpenAI(
            base_url=self._base_url,
            api_key=settings.api_key.get_secret_value() or NO_KEY,
            timeout=settings.timeout_s,
            max_retries=0,
        )
        self._places = asyncio.Semaphore(settings.max_concurrent)
        self._clock = clock or SystemClock()
        self._sleep = sleep
        self._rng = rng or random.Random()  # noqa: S311 - spreads retries, guards nothing
        self._usage = Usage()
        # Options this model has refused; it would refuse them every time.
        self._refused: set[str] = set()

    @property
    def name(self) -> str:
        """See `ChatModel`."""
        return self._settings.chat_model

    @property
    def is_private(self) -> bool:
        """See `ChatModel`."""
        return self._settings.private

    @property
    def usage(self) -> Usage:
        """See `ChatModel`."""
        return self._usage

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        tools: Sequence[ToolSpec] = (),
        tool_choice: ToolChoice = "auto",
    ) -> ChatReply:
        """See `ChatModel`."""
        call = _Call(
            messages=messages,
            max_tokens=max_tokens,
            temperature=temperature,
            tools=tools,
            tool_choice=tool_choice,
            is_stream=False,
        )
        deadline = time.monotonic() + self._settings.timeout_s

        async def attempt() -> ChatReply:
            reply = await self._within(self._request(call), deadline)
            return self._read_reply(reply)

        await self._take_place(deadline)
        try:
            return await call_with_retries(
                attempt, deadline=deadline, sleep=self._sleep, rng=self._rng
            )
        finally:
            self._places.release()

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        tools: Sequence[ToolSpec] = (),
        tool_choice: ToolChoice = "auto",
    ) -> AsyncGenerator[StreamEvent, None]:
        """See `ChatModel`."""
        call = _Call(
            messages=messages,
            max_tokens=max_tokens,
            temperature=temperature,
            tools=tools,
            tool_choice=tool_choice,
            is_stream=True,
        )
        deadline = time.monotonic() + self._settings.timeout_s

        async def attempt() -> AsyncStream[ChatCompletionChunk]:
            reply = await self._within(self._request(call), deadline)
            if not isinstance(reply, AsyncStream):
                raise self._refuse_reply("a page instead of a stream")
            return reply

        await self._take_place(deadline)
        try:
            reply = await call_with_retries(
                attempt, deadline=deadline, sleep=self._sleep, rng=self._rng
            )
            try:
                async with aclosing(self._read_stream(reply)) as events:
                    async for event in events:
                        yield event
            finally:
                await reply.close()
        finally:
            self._places.release()

    async def close(self) -> None:
        """See `ChatModel`."""
        await self._client.close()

    async def _request(self, call: _Call) -> object:
        """Send one request; an option the model refuses is left out and remembered."""
        while True:
            options = self._build_options(call)
            messages = call.messages
            if call.tools and "tools" not in options:
                messages = describe_tools(messages, call.tools)
            try:
                return await self._client.chat.completions.create(
                    model=self._settings.chat_model,
                    messages=build_wire_messages(messages),
                    **options,
                )
            except openai.APIStatusError as error:
                option = find_refused_option(error, sent=options.keys())
                if option not in options or option in self._refused:
                    raise
                self._refused.add(option)

    def _build_options(self, call: _Call) -> dict[str, Any]:
        options: dict[str, Any] = {
            "max_tokens": call.max_tokens,
            "temperature": call.temperature,
        }
        if call.is_stream:
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        if call.tools:
            options["tools"] = [build_tool(tool) for tool in call.tools]
            # `auto` is what servers do anyway; some refuse to be told.
            if call.tool_choice != "auto" and "tools" not in self._refused:
                options["tool_choice"] = call.tool_choice
        kept = {name: value for name, value in options.items() if name not in self._refused}
        if "max_tokens" in self._refused:
            kept["max_completion_tokens"] = call.max_tokens
        return kept

    def _read_reply(self, reply: object) -> ChatReply:
        # An HTML page with status 200 arrives as a plain string, and `choices` may be null.
        if not isinstance(reply, ChatCompletion):
            raise self._refuse_reply("a page instead of a reply; models.base_url should end in /v1")
        usage = self._count(reply.usage)
        if not reply.choices:
            raise self._refuse_reply("a reply without choices")
        choice = reply.choices[0]
        outspoken = ReasoningFilter()
        content = choice.message.content or "" if choice.message else ""
        calls = read_tool_calls(choice.message.tool_calls if choice.message else None)
        if len(content) + sum(len(one.arguments) for one in calls) > MOST_REPLY_CHARS:
            raise self._refuse_reply(f"more than {MOST_REPLY_CHARS:,} characters")
        text = (outspoken.feed(content) + outspoken.finish()).strip()
        finish = self._read_finish(choice.finish_reason)
        if not text and not calls:
            raise self._refuse_reply(f"an empty reply (finish reason {choice.finish_reason!r})")
        return ChatReply(text=text, usage=usage, finish=finish, tool_calls=calls)

    async def _read_stream(
        self, reply: AsyncStream[ChatCompletionChunk]
    ) -> AsyncGenerator[StreamEvent, None]:
        outspoken = ReasoningFilter()
        collector = ToolCallCollector()
        finish: Finish | None = None
        usage: Usage | None = None
        is_empty = True
        length = 0
        while (chunk := await self._next_chunk(reply)) is not None:
            # The chunk with the usage has no choices.
            if chunk.usage is not None and usage is None:
                usage = self._count(chunk.usage)
            for choice in chunk.choices or ():
                piece = choice.delta.content if choice.delta else None
                length += len(piece or "")
                length += collector.feed(choice.delta.tool_calls if choice.delta else None)
                if length > MOST_REPLY_CHARS:
                    raise self._refuse_reply(f"more than {MOST_REPLY_CHARS:,} characters")
                if piece and (said := outspoken.feed(piece)):
                    is_empty = False
                    yield TextDelta(text=said)
                if choice.finish_reason is not None:
                    finish = self._read_finish(choice.finish_reason)
        if rest := outspoken.finish():
            is_empty = False
            yield TextDelta(text=rest)
        if finish is None:
            raise ServiceUnavailableError(f"{self._place} ended a stream without a finish reason")
        calls = collector.finish()
        if is_empty and not calls:
            raise self._refuse_reply("an empty stream")
        yield StreamEnd(usage=usage or self._count(None), finish=finish, tool_calls=calls)

    async def _next_chunk(
        self, reply: AsyncStream[ChatCompletionChunk]
    ) -> ChatCompletionChunk | None:
        try:
            return await self._within(anext(reply), time.monotonic() + self._settings.timeout_s)
        except StopAsyncIteration:
            return None

    async def _within(self, call: Awaitable[T], deadline: float) -> T:
        """Await a foreign call until the deadline and translate what it raises."""
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                return await call
        except TimeoutError as error:
            raise ServiceUnavailableError(
                f"{self._place} did not answer within {self._settings.timeout_s:g} s"
            ) from error
        except _FOREIGN as error:
            raise translate_error(
                error,
                model=self._settings.chat_model,
                base_url=self._base_url,
                timeout_s=self._settings.timeout_s,
                clock=self._clock,
            ) from error

    async def _take_place(self, deadline: float) -> None:
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                await self._places.acquire()
        except TimeoutError as error:
            raise ServiceUnavailableError(
                f"{self._place} is busy: {self._settings.max_concurrent} calls are under way; "
                "raise models.max_concurrent if the endpoint can take more"
            ) from error

    def _count(self, reported: CompletionUsage | None) -> Usage:
        read = (reported.prompt_tokens or 0) if reported else 0
        written = (reported.completion_tokens or 0) if reported else 0
        prices = self._settings
        usage = Usage(
            calls=1,
            prompt_tokens=read,
            completion_tokens=written,
            cost=(read * prices.prompt_price + written * prices.completion_price) / _PRICED_TOKENS,
        )
        self._usage += usage
        count_usage(usage)
        return usage

    def _read_finish(self, reason: str | None) -> Finish:
        match reason:
            case "length":
                return Finish.LENGTH
            case "tool_calls" | "function_call":
                return Finish.TOOL_CALLS
            case "content_filter":
                raise self._refuse_reply("a reply its own filter has blocked")
            case _:
                # Some servers leave the reason out of whole replies, or have words of their own.
                return Finish.STOP

    def _refuse_reply(self, what: str) -> ModelReplyError:
        return ModelReplyError(f"{self._place} sent {what}")

    @property
    def _place(self) -> str:
        return f"chat model {self._settings.chat_model!r} at {self._base_url!r}"


def _complete_base_url(base_url: str) -> str:
    """Add the `/v1` that people leave out of an address without a path."""
    if not base_url.startswith(("http://", "https://")):
        raise SettingsError(f"models.base_url {base_url!r} must begin with http:// or https://")
    trimmed = base_url.rstrip("/")
    has_path = "/" in trimmed.split("://", 1)[1]
    return trimmed if has_path else f"{trimmed}/v1"

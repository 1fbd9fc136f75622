"""A chat endpoint on loopback that speaks the OpenAI protocol and fails on demand."""

import asyncio
import itertools
import json
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

_OPTIONS = frozenset(
    {
        "model",
        "messages",
        "max_tokens",
        "max_completion_tokens",
        "temperature",
        "stream",
        "stream_options",
        "tools",
        "tool_choice",
        "response_format",
    }
)
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """How one request is answered. Fields left alone make a well-formed reply of `text`.

    Attributes:
        pieces: The text of a stream, piece by piece; empty = the words of `text`.
        breaks_after: Drop the connection after this many streamed events.
        error_after: Send an error object into the stream after this many events.
        pauses_after: Stream this many events, then wait until `release` is called.
        hangs: Accept the request and never answer.
        calls: Tools called, as name and arguments; the arguments may be broken JSON.
        call_pieces: Raw deltas of a streamed call, instead of those of `calls`.
        repeats: Send the pieces so many times over, 0 = without end.
        waits_s: Between two streamed events.
    """

    text: str = "ok"
    status: int = 200
    error: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw_body: str | None = None
    content_type: str = "application/json"
    has_null_choices: bool = False
    finish: str | None = "stop"
    usage: Mapping[str, int] | None = field(default_factory=lambda: dict(USAGE))
    pieces: Sequence[str] = ()
    breaks_after: int | None = None
    error_after: int | None = None
    stream_error: Mapping[str, Any] = field(
        default_factory=lambda: {"message": "engine stopped", "type": "server_error"}
    )
    pauses_after: int | None = None
    hangs: bool = False
    calls: Sequence[tuple[str, str]] = ()
    call_pieces: Sequence[Mapping[str, Any]] = ()
    repeats: int = 1
    waits_s: float = 0.0


Responder = Callable[[Mapping[str, Any]], Script]


class ChatServer:
    """Answers requests with queued scripts, then with `respond`, and remembers what it was sent.

    A request that the real API would refuse is refused with the real API's status.

    Attributes:
        unknown_options: What this server does not know, with the words it refuses it in.
    """

    def __init__(self) -> None:
        self.unknown_options: dict[str, str] = {}
        self.requests: list[Mapping[str, Any]] = []
        self.authorizations: list[str] = []
        self.scripts: deque[Script] = deque()
        self.respond: Responder = lambda _request: Script()
        self.most_at_once = 0
        self.base_url = ""
        self._at_once = 0
        self._arrived = asyncio.Condition()
        self._released = asyncio.Event()

    def enqueue(self, *scripts: Script) -> None:
        """Answer the next requests with these, in order."""
        self.scripts.extend(scripts)

    def release(self) -> None:
        """Let hanging requests end."""
        self._released.set()

    async def wait_for_requests(self, count: int) -> None:
        """Return once this many requests have arrived."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        async with self._arrived:
            self.requests.append(body)
            self._arrived.notify_all()
        self.authorizations.append(request.headers.get("Authorization", ""))
        if refusal := self._find_refusal(body):
            error = {"message": refusal, "type": "invalid_request_error"}
            return web.json_response({"error": error}, status=400)
        script = self.scripts.popleft() if self.scripts else self.respond(body)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            if script.hangs:
                await self._released.wait()
            if body.get("stream") and script.status == 200 and script.raw_body is None:
                return await self._stream(request, script)
            return self._answer(script)
        finally:
            self._at_once -= 1

    def _find_refusal(self, body: Mapping[str, Any]) -> str:
        for option, words in self.unknown_options.items():
            if option in body:
                return words
        return find_fault(body)

    def _answer(self, script: Script) -> web.Response:
        if script.raw_body is not None:
            return web.Response(
                text=script.raw_body,
                status=script.status,
                headers=dict(script.headers),
                content_type=script.content_type,
            )
        if script.status != 200:
            error = script.error or {"message": f"status {script.status}"}
            return web.json_response(
                {"error": error}, status=script.status, headers=dict(script.headers)
            )
        message: dict[str, Any] = {"role": "assistant", "content": script.text}
        finish = script.finish
        if script.calls:
            message |= {"content": None, "tool_calls": _build_calls(script)}
            finish = "tool_calls"
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return web.json_response(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": "scripted",
                "choices": None if script.has_null_choices else [choice],
                "usage": script.usage,
            }
        )

    async def _stream(self, request: web.Request, script: Script) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for number, event in enumerate(_build_events(script)):
            if number == script.pauses_after:
                await self._released.wait()
            if number == script.breaks_after:
                # Without the closing chunk the client sees a broken body.
                assert request.transport is not None
                request.transport.close()
                return response
            if number == script.error_after:
                await _send(response, json.dumps({"error": script.stream_error}))
                return response
            await _send(response, json.dumps(event))
            if script.waits_s:
                await asyncio.sleep(script.waits_s)
        await _send(response, "[DONE]")
        return response


def _build_events(script: Script) -> Iterator[dict[str, Any]]:
    pieces = list(script.pieces) or [word + " " for word in script.text.split()]
    rounds = range(script.repeats) if script.repeats else itertools.count()
    finish = script.finish
    if script.calls or script.call_pieces:
        finish = "tool_calls"
        for delta in script.call_pieces or _cut_calls(script):
            yield _build_chunk({"tool_calls": [delta]}, None)
    else:
        for _ in rounds:
            for piece in pieces:
                yield _build_chunk({"content": piece}, None)
    if finish is not None:
        yield _build_chunk({}, finish)
    if script.usage is not None:
        yield {**_build_chunk({}, None), "choices": [], "usage": script.usage}


def _build_calls(script: Script) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for number, (name, arguments) in enumerate(script.calls)
    ]


def _cut_calls(script: Script) -> Iterator[Mapping[str, Any]]:
    """Yield calls as the API streams them: id and name first, then the arguments in pieces."""
    for index, call in enumerate(_build_calls(script)):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        yield {**call, "index": index, "function": {"name": name, "arguments": ""}}
        for start in range(0, len(arguments), 7):
            yield {"index": index, "function": {"arguments": arguments[start : start + 7]}}


def find_fault(body: Mapping[str, Any]) -> str:
    """Return why the real API would refuse a request, in its words; empty when it would not."""
    unknown = sorted(body.keys() - _OPTIONS)
    if unknown:
        return f"Unrecognized request argument supplied: {unknown[0]}"
    tools = body.get("tools")
    if "tool_choice" in body and not tools:
        return "'tool_choice' is only allowed when 'tools' are specified."
    if tools is not None and (not isinstance(tools, list) or not tools):
        return "[] is too short - 'tools'"
    for tool in tools or ():
        function = tool.get("function", {}) if isinstance(tool, dict) else {}
        if tool.get("type") != "function" or not _NAME.fullmatch(str(function.get("name", ""))):
            return f"Invalid 'tools[0].function.name': {function.get('name')!r}"
        if function.get("parameters", {}).get("type") != "object":
            return f"Invalid schema for function {function['name']!r}: type must be 'object'"
    return _find_message_fault(body.get("messages") or [])


def _find_message_fault(messages: Sequence[Mapping[str, Any]]) -> str:
    open_calls: set[str] = set()
    for message in messages:
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                return "messages with role 'tool' must be a response to a preceeding message"
            open_calls.discard(str(message["tool_call_id"]))
        elif open_calls:
            break
        elif fault := _find_form_fault(message):
            return fault
        else:
            open_calls |= {str(call["id"]) for call in message.get("tool_calls") or ()}
    if open_calls:
        return "An assistant message with 'tool_calls' must be followed by tool messages"
    return "" if messages else "[] is too short - 'messages'"


def _find_form_fault(message: Mapping[str, Any]) -> str:
    role, calls = message.get("role"), message.get("tool_calls")
    if role not in {"system", "user", "assistant"}:
        return f"Invalid value: {role!r}"
    if calls is not None and (role != "assistant" or not calls):
        return "Invalid 'messages.tool_calls'"
    if not isinstance(message.get("content"), str) and not calls:
        return "Invalid value for 'content': expected a string, got null."
    if any(not isinstance(call["function"]["arguments"], str) for call in calls or ()):
        return "Invalid type for 'tool_calls.function.arguments'"
    return ""


def _build_chunk(delta: Mapping[str, Any], finish: str | None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


async def _send(response: web.StreamResponse, data: str) -> None:
    await response.write(f"data: {data}\n\n".encode())


@asynccontextmanager
async def run_chat_server() -> AsyncIterator[ChatServer]:
    """Serve on a free loopback port; `base_url` ends in /v1."""
    server = ChatServer()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        server.base_url = f"http://{host}:{port}/v1"
        yield server
    finally:
        server.release()
        await runner.cleanup()

"""A chat endpoint on loopback that speaks the OpenAI protocol and fails on demand."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """How one request is answered. Fields left alone make a well-formed reply of `text`.

    Attributes:
        pieces: The text of a stream, piece by piece; empty = the words of `text`.
        breaks_after: Drop the connection after this many streamed events.
        error_after: Send an error object into the stream after this many events.
        hangs: Accept the request and never answer.
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
    hangs: bool = False


Responder = Callable[[Mapping[str, Any]], Script]


class ChatServer:
    """Answers requests with queued scripts, then with `respond`, and remembers what it was sent."""

    def __init__(self) -> None:
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
        message = {"role": "assistant", "content": script.text}
        choice = {"index": 0, "message": message, "finish_reason": script.finish}
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
            if number == script.breaks_after:
                # Without the closing chunk the client sees a broken body.
                assert request.transport is not None
                request.transport.close()
                return response
            if number == script.error_after:
                await _send(response, json.dumps({"error": script.stream_error}))
                return response
            await _send(response, json.dumps(event))
        await _send(response, "[DONE]")
        return response


def _build_events(script: Script) -> list[dict[str, Any]]:
    pieces = list(script.pieces) or [word + " " for word in script.text.split()]
    events = [_build_chunk({"content": piece}, None) for piece in pieces]
    if script.finish is not None:
        events.append(_build_chunk({}, script.finish))
    if script.usage is not None:
        events.append({**_build_chunk({}, None), "choices": [], "usage": script.usage})
    return events


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

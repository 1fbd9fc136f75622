"""Socket Mode: connections of the app, envelopes, acknowledgements."""

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import uuid4

from aiohttp import WSMsgType, web

from playground.slack.faults import Faults
from playground.slack.refusals import SlackRefusalError
from playground.slack.workspace import APP_ID

MOST_CONNECTIONS = 10
EnvelopeKind = Literal["events_api", "slash_commands", "interactive"]
Outcome = dict[str, Any] | Literal["unanswered", "dropped"]


@dataclass(slots=True)
class Envelope:
    """One try to deliver a payload."""

    kind: EnvelopeKind
    payload: dict[str, Any]
    attempt: int = 0
    reason: str = ""
    envelope_id: str = field(default_factory=lambda: str(uuid4()))

    def to_json(self) -> dict[str, Any]:
        """Return the frame."""
        return {
            "envelope_id": self.envelope_id,
            "type": self.kind,
            "payload": self.payload,
            "accepts_response_payload": self.kind != "events_api",
            "retry_attempt": self.attempt,
            "retry_reason": self.reason,
        }


@dataclass(eq=False, slots=True)
class _Connection:
    socket: web.WebSocketResponse
    request: web.Request
    waiting: dict[str, asyncio.Future[Outcome]] = field(default_factory=dict)
    # After it was told to go, a connection gets nothing new.
    is_leaving: bool = False


class Sockets:
    """The app's connections; each envelope goes to one of them, in turn."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._tickets: set[str] = set()
        self._connections: list[_Connection] = []
        self._turn = 0
        self._arrived = asyncio.Event()
        self.opened = 0
        self.address = ""

    @property
    def is_connected(self) -> bool:
        """Tell whether the app listens."""
        return any(not one.is_leaving for one in self._connections)

    def give_ticket(self) -> str:
        """Return the address of a new connection, for `apps.connections.open`."""
        if len(self._connections) >= MOST_CONNECTIONS:
            raise SlackRefusalError("too_many_websockets")
        ticket = uuid4().hex
        self._tickets.add(ticket)
        return f"{self.address}?ticket={ticket}"

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Hold a connection until it ends."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            raise web.HTTPForbidden(text="invalid ticket")
        self._tickets.remove(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        connection = _Connection(socket, request)
        self._connections.append(connection)
        self.opened += 1
        try:
            await socket.send_json(
                {
                    "type": "hello",
                    "num_connections": len(self._connections),
                    "debug_info": {"host": "loopback", "approximate_connection_time": 18060},
                    "connection_info": {"app_id": APP_ID},
                }
            )
            self._arrived.set()
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._take_ack(connection, json.loads(message.data))
        finally:
            self._forget(connection)
        return socket

    async def send(self, envelope: Envelope, *, timeout_s: float) -> Outcome:
        """Send an envelope over some connection, waiting for one, and wait for its answer."""
        connection = await self._pick()
        answered: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        connection.waiting[envelope.envelope_id] = answered
        try:
            await connection.socket.send_json(envelope.to_json())
            # Not wait_for, which may overlook that it is cancelled when the answer is there.
            async with asyncio.timeout(timeout_s):
                return await answered
        except TimeoutError:
            return "unanswered"
        except ConnectionError:
            return "dropped"
        finally:
            connection.waiting.pop(envelope.envelope_id, None)

    def drop(self) -> None:
        """Cut every connection, without a word."""
        for connection in list(self._connections):
            if connection.request.transport is not None:
                connection.request.transport.abort()
            self._forget(connection)

    async def disconnect(
        self, reason: Literal["warning", "refresh_requested", "link_disabled"]
    ) -> None:
        """Ask the app to connect anew, as Slack does every few hours."""
        for connection in self._connections:
            connection.is_leaving = True
            with contextlib.suppress(ConnectionError):
                await connection.socket.send_json(
                    {"type": "disconnect", "reason": reason, "debug_info": {"host": "loopback"}}
                )
        self._arrived.clear()

    async def wait_connected(self) -> None:
        """Wait until the app listens."""
        while not self.is_connected:
            self._arrived.clear()
            await self._arrived.wait()

    async def close(self) -> None:
        """End every connection."""
        for connection in list(self._connections):
            with contextlib.suppress(ConnectionError):
                await connection.socket.close()

    async def _pick(self) -> _Connection:
        await self.wait_connected()
        ready = [one for one in self._connections if not one.is_leaving]
        self._turn += 1
        return ready[self._turn % len(ready)]

    def _take_ack(self, connection: _Connection, frame: dict[str, Any]) -> None:
        answered = connection.waiting.get(str(frame.get("envelope_id")))
        if answered is None or answered.done() or self._faults.overlooks_ack():
            return
        answered.set_result(frame.get("payload") or {})

    def _forget(self, connection: _Connection) -> None:
        if connection in self._connections:
            self._connections.remove(connection)
        for answered in connection.waiting.values():
            if not answered.done():
                answered.set_result("dropped")

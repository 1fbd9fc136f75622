"""How the app is told what happens: over Socket Mode, or over HTTP when it gave an address."""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlencode
from uuid import uuid4

import aiohttp

from playground.slack.faults import Faults
from playground.slack.sockets import Envelope, EnvelopeKind, Sockets
from playground.slack.workspace import (
    APP_ID,
    BOT_USER_ID,
    TEAM_DOMAIN,
    TEAM_ID,
    Json,
    Room,
    Workspace,
)

SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"  # noqa: S105 - of the playground
RETRIES = 3
ROOM_EVENTS = {"im": "im", "mpim": "mpim", "group": "group", "channel": "channel"}


@dataclass(slots=True)
class Delivered:
    """What became of one delivery.

    Attributes:
        took_s: From the first try to the acknowledgement.
        attempts: Tries it took.
    """

    payload: Json
    took_s: float
    attempts: int


@dataclass(slots=True)
class _Reply:
    payload: Json


@dataclass(slots=True)
class Record:
    """Everything that was delivered, and what nobody ever took."""

    taken: list[Delivered] = field(default_factory=list)
    lost: list[Json] = field(default_factory=list)


class Delivery:
    """Delivers events, commands and clicks, with Slack's retries.

    Attributes:
        request_url: Where the app takes HTTP; empty = Socket Mode.
        ack_timeout_s: How long the app may take to acknowledge; Slack gives 3 seconds.
        retry_delays_s: Waits before the first, second and third repetition.
    """

    def __init__(self, workspace: Workspace, faults: Faults) -> None:
        self._workspace = workspace
        self._faults = faults
        self.sockets = Sockets(faults)
        self.record = Record()
        self.request_url = ""
        self.ack_timeout_s = 3.0
        self.retry_delays_s = (0.05, 0.2, 0.5)
        self._tasks: set[asyncio.Task[Any]] = set()

    def send_message(self, room: Room, fields: Json) -> None:
        """Tell the app of a message, if its bot is in the room."""
        if BOT_USER_ID not in room.members:
            return
        event: Json = {
            "type": "message",
            **fields,
            "channel": room.channel_id,
            "channel_type": ROOM_EVENTS[room.kind],
            "event_ts": fields["ts"],
        }
        self.send_event(event, is_ext_shared=room.is_ext_shared)

    def send_event(self, event: Json, *, is_ext_shared: bool = False) -> None:
        """Tell the app of an event, as often as the faults say."""
        payload: Json = {
            "token": "verification",
            "team_id": TEAM_ID,
            "context_team_id": TEAM_ID,
            "api_app_id": APP_ID,
            "event": event,
            "type": "event_callback",
            "event_id": f"Ev{uuid4().hex[:12].upper()}",
            "event_time": int(time.time()),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": TEAM_ID,
                    "user_id": BOT_USER_ID,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": is_ext_shared,
        }
        for _ in range(self._faults.deliveries):
            self._spawn(self._deliver("events_api", payload, retries=RETRIES))

    async def send_interactive(self, payload: Json) -> Json | None:
        """Deliver a click or a form; returns what the app said, None when it said nothing.

        Delivered several times, it is the first answer that counts.
        """
        replies = await asyncio.gather(
            *(
                self._deliver("interactive", payload, retries=0)
                for _ in range(self._faults.deliveries)
            )
        )
        return next((one for one in replies if one is not None), None)

    async def send_command(self, payload: Json) -> Json | None:
        """Deliver a slash command; returns what the app said, None when it said nothing."""
        return await self._deliver("slash_commands", payload, retries=0)

    async def settle(self) -> None:
        """Wait until every event so far was taken, or given up."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self) -> None:
        """Stop delivering."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.sockets.close()

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, kind: EnvelopeKind, payload: Json, *, retries: int) -> Json | None:
        began = time.monotonic()
        attempt, reason = 0, ""
        while True:
            reply = await self._try(Envelope(kind, payload, attempt=attempt, reason=reason))
            if isinstance(reply, _Reply):
                took_s = time.monotonic() - began
                self.record.taken.append(Delivered(payload, took_s, attempt + 1))
                return reply.payload
            if reply == "dropped" and kind == "events_api":
                # The connection went away with it; the next one gets it again.
                reason = "connection_failed"
                continue
            if attempt >= retries or reply == "final":
                self.record.lost.append(payload)
                return None
            await asyncio.sleep(self.retry_delays_s[attempt])
            attempt, reason = attempt + 1, "timeout"

    async def _try(self, envelope: Envelope) -> _Reply | Literal["unanswered", "dropped", "final"]:
        if self.request_url:
            return await self._post(envelope)
        reply = await self.sockets.send(envelope, timeout_s=self.ack_timeout_s)
        return _Reply(reply) if isinstance(reply, dict) else reply

    async def _post(self, envelope: Envelope) -> _Reply | Literal["unanswered", "final"]:
        is_event = envelope.kind == "events_api"
        if is_event:
            body, kind = json.dumps(envelope.payload), "application/json"
        else:
            values = envelope.payload
            if envelope.kind == "interactive":
                values = {"payload": json.dumps(envelope.payload)}
            body, kind = urlencode(values), "application/x-www-form-urlencoded"
        headers = {"Content-Type": kind, **sign(body)}
        if envelope.attempt:
            headers["X-Slack-Retry-Num"] = str(envelope.attempt)
            headers["X-Slack-Retry-Reason"] = "http_timeout"
        timeout = aiohttp.ClientTimeout(total=self.ack_timeout_s)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(self.request_url, data=body, headers=headers) as response,
            ):
                text = await response.text()
        except (aiohttp.ClientError, TimeoutError):
            return "unanswered"
        if response.ok:
            return _Reply(json.loads(text) if text.startswith("{") else {"text": text})
        return "final" if response.headers.get("X-Slack-No-Retry") == "1" else "unanswered"


def sign(body: str, *, secret: str = SIGNING_SECRET, now: float | None = None) -> dict[str, str]:
    """Return the headers by which the app knows that a request is Slack's."""
    moment = str(int(time.time() if now is None else now))
    base = f"v0:{moment}:{body}".encode()
    digest = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": moment, "X-Slack-Signature": f"v0={digest}"}


def build_command(
    workspace: Workspace, *, user: str, room: Room, command: str, text: str, trigger_id: str
) -> Json:
    """Return the payload of a slash command, without its response_url."""
    return {
        "token": "verification",
        "team_id": TEAM_ID,
        "team_domain": TEAM_DOMAIN,
        "channel_id": room.channel_id,
        "channel_name": room.name or "directmessage",
        "user_id": user,
        "user_name": workspace.members[user].name,
        "command": command,
        "text": text,
        "api_app_id": APP_ID,
        "is_enterprise_install": "false",
        "trigger_id": trigger_id,
    }

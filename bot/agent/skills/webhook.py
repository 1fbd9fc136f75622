"""Any other ticket system, through an address that takes signed requests.

Each request is a POST of JSON with `action` and what belongs to it. `X-Zhixing-Timestamp` is the
time in seconds, `X-Zhixing-Signature` is `sha256=` and the HMAC of `TIMESTAMP.BODY` under the
shared secret, `Idempotency-Key` is the same for every try at the same thing.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping

from pydantic import BaseModel, Field, JsonValue, ValidationError
from yarl import URL

from bot.agent.skills.definition import Queue
from bot.agent.skills.http_call import SafeCaller
from bot.agent.skills.jira import list_hosts
from bot.agent.skills.trackers import NewTicket, RejectedError, Ticket
from core.clock import Clock
from core.errors import RateLimitedError, ServiceUnavailableError
from core.http_reply import HttpReply, read_retry_after
from core.skill_settings import TrackerSettings

_MOST_BYTES = 1_000_000
_HAPPY = range(200, 300)
_NOT_FOUND, _TOO_MANY = 404, 429
_CLIENT_FAULTS = range(400, 500)
_UNDECIDED = frozenset({408, 409, 423, 425})


class _Ticket(BaseModel):
    ticket: str = ""
    title: str = ""
    status: str = ""
    priority: str = ""
    url: str = ""


class _Reply(_Ticket):
    tickets: list[_Ticket] = Field(default_factory=list)


class WebhookTracker:
    """One address."""

    def __init__(self, name: str, settings: TrackerSettings, clock: Clock) -> None:
        self.name = name
        self.address = settings.url
        self._settings = settings
        self._clock = clock
        self._caller = SafeCaller(hosts=list_hosts(name, settings))

    async def find_made(self, key: str) -> Ticket | None:
        """Ask for what was made with a key; receivers that can't tell answer 404."""
        try:
            found = await self._ask({"action": "find_made", "key": key}, key="")
        except _NotFoundError:
            return None
        return found[0] if found else None

    async def create(self, ticket: NewTicket, *, key: str) -> Ticket:
        """Send a new ticket."""
        body: dict[str, JsonValue] = {
            "action": "create",
            "queue": ticket.queue_name,
            "project": ticket.queue.project,
            "type": ticket.queue.issue_type,
            "priority": ticket.priority,
            "title": ticket.title,
            "description": ticket.description,
        }
        return (await self._ask(body, key=key) or [Ticket(ticket_id="", title=ticket.title)])[0]

    async def has_comment(self, ticket_id: str, *, key: str) -> bool:
        """Ask as for a ticket."""
        del ticket_id
        return await self.find_made(key) is not None

    async def comment(self, ticket_id: str, text: str, *, key: str) -> Ticket:
        """Send a comment."""
        body: dict[str, JsonValue] = {"action": "comment", "ticket": ticket_id, "text": text}
        return (await self._ask(body, key=key) or [Ticket(ticket_id=ticket_id)])[0]

    async def search(self, queues: tuple[Queue, ...], text: str, *, limit: int) -> list[Ticket]:
        """Ask for tickets."""
        body: dict[str, JsonValue] = {
            "action": "find",
            "queues": [one.project for one in queues],
            "text": text,
            "limit": limit,
        }
        return (await self._ask(body, key=""))[:limit]

    def owns(self, ticket_id: str, queues: tuple[Queue, ...]) -> bool:
        """Leave it to the receiver: nothing is known about the form of its numbers."""
        del queues
        return bool(ticket_id)

    async def close(self) -> None:
        """Close the connections."""
        await self._caller.close()

    async def _ask(self, body: Mapping[str, JsonValue], *, key: str) -> list[Ticket]:
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        timestamp = str(int(self._clock.now().timestamp()))
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "X-Zhixing-Timestamp": timestamp,
            "X-Zhixing-Signature": f"sha256={self._sign(timestamp, data)}",
        }
        if key:
            headers["Idempotency-Key"] = key
        reply = await self._caller.call(
            "POST",
            URL(self.address),
            headers=headers,
            body=data,
            timeout_s=self._settings.timeout_s,
            most_bytes=_MOST_BYTES,
        )
        if reply.status not in _HAPPY:
            raise self._refuse(reply)
        return _parse(reply)

    def _sign(self, timestamp: str, data: bytes) -> str:
        secret = self._settings.token.get_secret_value().encode()
        return hmac.new(secret, timestamp.encode() + b"." + data, hashlib.sha256).hexdigest()

    def _refuse(self, reply: HttpReply) -> Exception:
        said = f"the ticket system {self.name!r} answered {reply.status}"
        if reply.status == _TOO_MANY:
            pause_s = read_retry_after(reply, self._clock)
            return RateLimitedError(f"{said}; it asks to wait", retry_after_s=pause_s)
        if reply.status == _NOT_FOUND:
            return _NotFoundError(said)
        if reply.status in _CLIENT_FAULTS and reply.status not in _UNDECIDED:
            return RejectedError(f"{said}: {reply.excerpt()}")
        return ServiceUnavailableError(said)


class _NotFoundError(RejectedError):
    """The receiver knows of no such thing."""


def _parse(reply: HttpReply) -> list[Ticket]:
    """Return the tickets of a happy reply: one, a list, or nothing at all."""
    if not reply.body.strip():
        return []
    try:
        said = _Reply.model_validate_json(reply.body)
    except ValidationError:
        # It was taken; what it is called is not said in a way we understand.
        return []
    return [
        Ticket(
            ticket_id=one.ticket,
            title=one.title,
            status=one.status,
            priority=one.priority,
            url=one.url,
        )
        for one in (said, *said.tickets)
        if one.ticket
    ]

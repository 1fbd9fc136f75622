"""Jira over its REST API, Cloud and Data Center.

What we make is found again by a label (tickets) or a last line (comments) that holds the key of
the action. Cloud's search knows of a new issue only after a while, so "not found" proves nothing.

Sources: developer.atlassian.com/cloud/jira/platform/rest/v2 (issues, comments, search/jql) and
docs.atlassian.com/software/jira/docs/api/REST (Data Center: search).
"""

import base64
import json
import re
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, Field, JsonValue, ValidationError
from yarl import URL

from bot.agent.skills.definition import Queue
from bot.agent.skills.http_call import HostList, SafeCaller
from bot.agent.skills.trackers import NewTicket, RejectedError, Ticket
from core.errors import RateLimitedError, ServiceUnavailableError, SettingsError
from core.http_reply import HttpReply
from core.skill_settings import TrackerSettings

LABEL = "zhixing-"
_MOST_BYTES = 2_000_000
_MOST_COMMENTS = 100
_KEY = re.compile(r"([A-Z][A-Z0-9_]+)-\d+")
_FIELDS = "summary,status,priority"
_HAPPY = range(200, 300)
_TOO_MANY = 429
_SERVER_FAULTS = 500
_UNDECIDED = frozenset({408, 409, 423, 425})

_P = TypeVar("_P", bound=BaseModel)


class _Named(BaseModel):
    name: str = ""


class _Fields(BaseModel):
    summary: str = ""
    status: _Named | None = None
    priority: _Named | None = None


class _Issue(BaseModel):
    key: str
    fields: _Fields = _Fields()


class _Issues(BaseModel):
    issues: list[_Issue] = Field(default_factory=list)


class _Comment(BaseModel):
    body: str = ""


class _Comments(BaseModel):
    comments: list[_Comment] = Field(default_factory=list)


class JiraTracker:
    """One Jira, as one account."""

    def __init__(self, name: str, settings: TrackerSettings) -> None:
        self.name = name
        self.address = settings.url.rstrip("/")
        self._settings = settings
        self._caller = SafeCaller(hosts=list_hosts(name, settings))

    async def find_made(self, key: str) -> Ticket | None:
        """Find by the label."""
        found = await self._search(f'labels = "{LABEL}{key}"', limit=1)
        return found[0] if found else None

    async def create(self, ticket: NewTicket, *, key: str) -> Ticket:
        """Make an issue with the label."""
        fields: dict[str, JsonValue] = {
            "project": {"key": ticket.queue.project},
            "issuetype": {"name": ticket.queue.issue_type},
            "summary": ticket.title,
            "description": ticket.description,
            "labels": [f"{LABEL}{key}", *([ticket.queue_name] if ticket.is_labelled else [])],
        }
        if ticket.priority:
            fields["priority"] = {"name": ticket.priority}
        reply = await self._call("POST", "/rest/api/2/issue", body={"fields": fields})
        made = self._parse(reply, _Issue)
        return Ticket(
            ticket_id=made.key,
            title=ticket.title,
            priority=ticket.priority,
            url=self._link(made.key),
        )

    async def has_comment(self, ticket_id: str, *, key: str) -> bool:
        """Look for the last line in the latest comments."""
        reply = await self._call(
            "GET",
            f"/rest/api/2/issue/{_check_key(ticket_id)}/comment",
            query={"orderBy": "-created", "maxResults": str(_MOST_COMMENTS)},
        )
        found = self._parse(reply, _Comments)
        return any(one.body.rstrip().endswith(_sign(key)) for one in found.comments)

    async def comment(self, ticket_id: str, text: str, *, key: str) -> Ticket:
        """Add a comment that ends in the line."""
        number = _check_key(ticket_id)
        path = f"/rest/api/2/issue/{number}/comment"
        await self._call("POST", path, body={"body": f"{text}\n\n{_sign(key)}"})
        return Ticket(ticket_id=number, url=self._link(number))

    async def search(self, queues: tuple[Queue, ...], text: str, *, limit: int) -> list[Ticket]:
        """Find by number, or by words in any text of the issue."""
        projects = ", ".join(f'"{_escape(one.project)}"' for one in queues)
        plain = text.strip()
        if _KEY.fullmatch(plain.upper()):
            condition = f' AND key = "{plain.upper()}"'
        else:
            # The marks of the search language mean nothing here, wherever the words come from.
            words = " ".join(re.findall(r"\w+", plain))
            condition = f' AND text ~ "{words}"' if words else ""
        return await self._search(
            f"project in ({projects}){condition} ORDER BY updated DESC", limit=limit
        )

    def owns(self, ticket_id: str, queues: tuple[Queue, ...]) -> bool:
        """Compare the project in the number."""
        found = _KEY.fullmatch(ticket_id)
        return found is not None and found[1] in {one.project for one in queues}

    async def close(self) -> None:
        """Close the connections."""
        await self._caller.close()

    async def _search(self, jql: str, *, limit: int) -> list[Ticket]:
        # Cloud has done away with the search that Data Center still has.
        tail = "/search/jql" if self._settings.flavour == "cloud" else "/search"
        query = {"jql": jql, "fields": _FIELDS, "maxResults": str(limit)}
        try:
            reply = await self._call("GET", f"/rest/api/2{tail}", query=query)
        except RejectedError as error:
            # Data Center calls it a mistake to ask for a number that does not exist.
            if "does not exist" in str(error):
                return []
            raise
        return [
            Ticket(
                ticket_id=one.key,
                title=one.fields.summary,
                status=one.fields.status.name if one.fields.status else "",
                priority=one.fields.priority.name if one.fields.priority else "",
                url=self._link(one.key),
            )
            for one in self._parse(reply, _Issues).issues[:limit]
        ]

    async def _call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, JsonValue] | None = None,
    ) -> HttpReply:
        headers = {"Accept": "application/json", "Authorization": self._authorization()}
        if body is not None:
            headers["Content-Type"] = "application/json"
        reply = await self._caller.call(
            method,
            URL(self.address + path).update_query(dict(query or {})),
            headers=headers,
            body=None if body is None else json.dumps(body, ensure_ascii=False).encode(),
            timeout_s=self._settings.timeout_s,
            most_bytes=_MOST_BYTES,
        )
        if reply.status in _HAPPY:
            return reply
        raise self._refuse(reply)

    def _refuse(self, reply: HttpReply) -> Exception:
        said = f"Jira {self.name!r} answered {reply.status}"
        if reply.status == _TOO_MANY:
            return RateLimitedError(f"{said}; it asks to wait", retry_after_s=_read_pause(reply))
        if reply.status >= _SERVER_FAULTS or reply.status in _UNDECIDED:
            return ServiceUnavailableError(said)
        match reply.status:
            case 401:
                return RejectedError(f"{said}; check user and token of trackers.{self.name}")
            case 403:
                return RejectedError(f"{said}; its account may not do this: {_read_errors(reply)}")
            case _:
                return RejectedError(f"{said}: {_read_errors(reply)}")

    def _parse(self, reply: HttpReply, model: type[_P]) -> _P:
        try:
            return model.model_validate_json(reply.body)
        except ValidationError as error:
            raise ServiceUnavailableError(
                f"Jira {self.name!r} sent what is no reply of its API; check its address"
            ) from error

    def _authorization(self) -> str:
        token = self._settings.token.get_secret_value()
        if not self._settings.user:
            return f"Bearer {token}"
        pair = f"{self._settings.user}:{token}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"

    def _link(self, number: str) -> str:
        return f"{self.address}/browse/{number}"


def list_hosts(name: str, settings: TrackerSettings) -> HostList:
    """Return the one host of a tracker.

    Raises:
        SettingsError: Its address is none.
    """
    try:
        url = URL(settings.url)
        authority = frozenset(filter(None, (url.host_port_subcomponent,)))
        hosts = HostList(
            allowed=authority, private=authority if settings.is_private else frozenset()
        )
        hosts.check(url)
    except (ValueError, SettingsError) as error:
        raise SettingsError(
            f"trackers.{name}.url: {error}; write https://jira.company.example, and "
            "is_private = true when it lies in your own network"
        ) from error
    return hosts


def _check_key(ticket_id: str) -> str:
    if not _KEY.fullmatch(ticket_id):
        raise RejectedError(f"{ticket_id!r} is no number of a ticket; write it as IT-12")
    return ticket_id


def _sign(key: str) -> str:
    return f"[{LABEL}{key}]"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _read_pause(reply: HttpReply) -> float:
    try:
        return max(0.0, float(reply.headers.get("retry-after", "")))
    except ValueError:
        return 5.0


def _read_errors(reply: HttpReply) -> str:
    """Return what Jira says is wrong, field by field."""
    try:
        said = json.loads(reply.body)
        fields = [f"{name}: {text}" for name, text in (said.get("errors") or {}).items()]
        return "; ".join([*map(str, said.get("errorMessages") or ()), *fields]) or reply.excerpt()
    except (AttributeError, UnicodeDecodeError, ValueError):
        return reply.excerpt()

"""Skills that make tickets, comment on them and find them."""

import re
from collections.abc import Awaitable, Callable, Mapping

from pydantic import JsonValue

from bot.agent.actions import ActionState, Parameters
from bot.agent.caller import Caller
from bot.agent.skills.building import Built, SkillParts
from bot.agent.skills.definition import Parameter, TicketSkillFile, Words
from bot.agent.skills.http_call import NotSentError
from bot.agent.skills.parameters import build_schema
from bot.agent.skills.skill_file import SkillFile
from bot.agent.skills.standard_parameters import choose_parameters
from bot.agent.skills.tabulation import tabulate
from bot.agent.skills.trackers import NewTicket, RejectedError, Ticket, Tracker
from bot.agent.tools import ToolResult
from bot.agent.write_skill import SkillResult
from core.errors import (
    PermanentError,
    RateLimitedError,
    RefusedError,
    SettingsError,
    ToolFailedError,
    ZhixingError,
)

# How long a system is given to know of what it may have made, before a person is asked.
_LOOKS_S = (0.5, 1.0, 2.0)
_LONGEST_PAUSE_S = 5.0
_MOST_FOUND = 20
_LONGEST_TITLE = 250
_LONGEST_TEXT = 30_000
# What can be a label as well.
_QUEUE_NAME = r"[\w-]{1,60}"

Sleep = Callable[[float], Awaitable[None]]


def build_ticket(file: SkillFile, parts: SkillParts) -> Built:
    """Build a skill.

    Raises:
        SkillFileError: The tracker is not in the settings, or a value has nowhere to come from.
    """
    definition = file.read_as(TicketSkillFile)
    tracker = parts.trackers.get(definition.tracker)
    if tracker is None:
        raise file.fail(
            f"there is no section [trackers.{definition.tracker}] in the settings; add it, or "
            f"write one of {sorted(parts.trackers)}",
            "tracker",
        )
    standard, needed = _list_standard(definition)
    parameters = choose_parameters(file, standard, needed)
    fields = {name: one.title for name, one in standard.items()}
    version: dict[str, JsonValue] = {"tracker": tracker.address}
    schema = build_schema(parameters)
    match definition.action:
        case "create":
            return Built(
                act=CreateTicket(definition, tracker, sleep=parts.timing.sleep),
                schema=schema,
                fields=fields,
                version=version,
            )
        case "comment":
            return Built(
                act=CommentTicket(definition, tracker, sleep=parts.timing.sleep),
                schema=schema,
                fields=fields,
                version=version,
            )
        case "find":
            return Built(lookup=FindTickets(definition, tracker), schema=schema)


def _list_standard(
    definition: TicketSkillFile,
) -> tuple[Mapping[str, Parameter], frozenset[str]]:
    ticket = Parameter(
        description="The ticket's number, such as IT-12",
        title=Words(zh="工单号", en="Ticket"),
        max_length=64,
        required=True,
    )
    if definition.action == "comment":
        text = Parameter(
            description="What to write, in full",
            title=Words(zh="评论", en="Comment"),
            max_length=_LONGEST_TEXT,
            required=True,
        )
        return {"ticket": ticket, "text": text}, frozenset({"ticket", "text"})
    if definition.action == "find":
        words = Parameter(
            description="A ticket's number, or words it contains; empty = the latest",
            title=Words(zh="关键词", en="Words"),
            max_length=_LONGEST_TITLE,
        )
        return {"text": words}, frozenset()
    queues, priorities = tuple(definition.queues), tuple(definition.priorities)
    is_open = definition.others is not None
    found = {
        "queue": Parameter(
            description="Which team it goes to",
            title=Words(zh="队列", en="Queue"),
            enum=() if is_open else queues,
            pattern=_QUEUE_NAME if is_open else "",
            required=is_open or len(queues) > 1,
            default=None if is_open or len(queues) > 1 else queues[0],
        ),
        "priority": Parameter(
            description="How urgent it is",
            title=Words(zh="优先级", en="Priority"),
            enum=priorities,
        ),
        "title": Parameter(
            description="What it is about, in one line",
            title=Words(zh="标题", en="Title"),
            max_length=_LONGEST_TITLE,
            required=True,
        ),
        "description": Parameter(
            description="What happened, where, since when, and what is needed",
            title=Words(zh="描述", en="Description"),
            max_length=_LONGEST_TEXT,
            required=True,
        ),
    }
    if not priorities:
        del found["priority"]
    return found, frozenset({"title", "description"})


class CreateTicket:
    """Makes a ticket once: it is looked for by its key before, and after whatever went wrong."""

    def __init__(self, definition: TicketSkillFile, tracker: Tracker, *, sleep: Sleep) -> None:
        self._definition = definition
        self._tracker = tracker
        self._sleep = sleep

    def normalise(self, parameters: Mapping[str, JsonValue]) -> Parameters:
        """Return queue, priority, title and description; raises as `WriteSkill.normalise`."""
        definition = self._definition
        names = {"queue", "title", "description"} | (
            {"priority"} if definition.priorities else set()
        )
        _refuse_unknown(parameters, names)
        found = {
            "queue": self._choose_queue(parameters),
            "title": " ".join(_read(parameters, "title", _LONGEST_TITLE).split()),
            "description": _read(parameters, "description", _LONGEST_TEXT),
        }
        if definition.priorities and parameters.get("priority"):
            found["priority"] = _choose(parameters, "priority", list(definition.priorities), "")
        return dict(found)

    async def run(self, parameters: Parameters, *, idempotency_key: str) -> SkillResult:
        """Make it, unless there is one with the key already."""
        definition, tracker = self._definition, self._tracker
        try:
            made = await tracker.find_made(idempotency_key)
        except ZhixingError as error:
            return SkillResult(
                state=ActionState.FAILED,
                text=f"nothing was made: it could not be looked for before ({error})",
            )
        if made is not None:
            return _report(made)
        name = str(parameters["queue"])
        queue = definition.queues.get(name, definition.others)
        if queue is None:
            return SkillResult(state=ActionState.FAILED, text=f"there is no queue {name!r}")
        ticket = NewTicket(
            queue=queue,
            queue_name=name,
            is_labelled=name not in definition.queues,
            title=str(parameters["title"]),
            description=str(parameters["description"]),
            priority=definition.priorities.get(str(parameters.get("priority", "")), ""),
        )
        return await _write(
            lambda: tracker.create(ticket, key=idempotency_key),
            lambda: self.find_outcome(parameters, idempotency_key=idempotency_key),
            self._sleep,
        )

    async def find_outcome(
        self,
        parameters: Parameters,  # noqa: ARG002 - as the protocol has it
        *,
        idempotency_key: str,
    ) -> SkillResult | None:
        """Look for the ticket with the key."""
        made = await self._tracker.find_made(idempotency_key)
        return None if made is None else _report(made)

    def _choose_queue(self, parameters: Mapping[str, JsonValue]) -> str:
        queues = list(self._definition.queues)
        name = str(parameters.get("queue") or "")
        if self._definition.others is None or name in queues:
            return _choose(parameters, "queue", queues, queues[0] if len(queues) == 1 else "")
        if not re.fullmatch(_QUEUE_NAME, name):
            raise PermanentError(f"{name!r} is no name of a queue; write it as IT-DESK")
        return name


class CommentTicket:
    """Comments on a ticket once."""

    def __init__(self, definition: TicketSkillFile, tracker: Tracker, *, sleep: Sleep) -> None:
        self._definition = definition
        self._tracker = tracker
        self._sleep = sleep

    def normalise(self, parameters: Mapping[str, JsonValue]) -> Parameters:
        """Return ticket and text; raises as `WriteSkill.normalise`."""
        _refuse_unknown(parameters, {"ticket", "text"})
        ticket = _read(parameters, "ticket", 64).strip().upper()
        queues = self._definition.all_queues
        if queues and not self._tracker.owns(ticket, queues):
            names = ", ".join(sorted(one.project for one in queues))
            raise PermanentError(f"{ticket!r} is no ticket of {names}; write it as {names[:4]}-12")
        return {"ticket": ticket, "text": _read(parameters, "text", _LONGEST_TEXT)}

    async def run(self, parameters: Parameters, *, idempotency_key: str) -> SkillResult:
        """Comment, unless the comment with the key is there already."""
        try:
            done = await self.find_outcome(parameters, idempotency_key=idempotency_key)
        except ZhixingError as error:
            return SkillResult(
                state=ActionState.FAILED,
                text=f"nothing was written: the ticket could not be read before ({error})",
            )
        if done is not None:
            return done
        ticket, text = str(parameters["ticket"]), str(parameters["text"])
        return await _write(
            lambda: self._tracker.comment(ticket, text, key=idempotency_key),
            lambda: self.find_outcome(parameters, idempotency_key=idempotency_key),
            self._sleep,
        )

    async def find_outcome(
        self, parameters: Parameters, *, idempotency_key: str
    ) -> SkillResult | None:
        """Look for the comment with the key."""
        ticket = str(parameters["ticket"])
        if not await self._tracker.has_comment(ticket, key=idempotency_key):
            return None
        return SkillResult(state=ActionState.DONE, text=ticket)


class FindTickets:
    """Finds tickets of the listed queues."""

    def __init__(self, definition: TicketSkillFile, tracker: Tracker) -> None:
        self._definition = definition
        self._tracker = tracker

    async def run(self, arguments: Mapping[str, JsonValue], caller: Caller) -> ToolResult:
        """Search; whoever may use the skill sees what its account sees.

        Raises:
            ToolFailedError: The system does not answer, or refuses.
        """
        del caller
        queues = self._definition.all_queues
        text = str(arguments.get("text") or "")
        try:
            found = await self._tracker.search(queues, text, limit=_MOST_FOUND)
        except ZhixingError as error:
            raise ToolFailedError(str(error)) from error
        rows: list[dict[str, JsonValue]] = [
            {
                "ticket": one.ticket_id,
                "title": one.title,
                "status": one.status,
                "priority": one.priority,
                "url": one.url,
            }
            for one in found
        ]
        text = tabulate(rows) if rows else ""
        return ToolResult(text=text, rows=tuple(rows), has_found=bool(rows))


async def _write(
    send: Callable[[], Awaitable[Ticket]],
    look: Callable[[], Awaitable[SkillResult | None]],
    sleep: Sleep,
) -> SkillResult:
    """Send, and when it is not known what became of it, look for it."""
    try:
        return _report(await _send_patiently(send, sleep))
    except (NotSentError, RejectedError, RateLimitedError, SettingsError, RefusedError) as error:
        return SkillResult(state=ActionState.FAILED, text=str(error))
    except ZhixingError as error:
        reason = str(error)
    for pause_s in _LOOKS_S:
        await sleep(pause_s)
        try:
            found = await look()
        except ZhixingError:
            continue
        if found is not None:
            return found
    return SkillResult(state=ActionState.UNKNOWN, text=reason)


async def _send_patiently(send: Callable[[], Awaitable[Ticket]], sleep: Sleep) -> Ticket:
    try:
        return await send()
    except RateLimitedError as error:
        if error.retry_after_s > _LONGEST_PAUSE_S:
            raise
        await sleep(error.retry_after_s)
        return await send()


def _report(ticket: Ticket) -> SkillResult:
    text = " ".join(filter(None, (ticket.ticket_id, ticket.url))) or "taken"
    return SkillResult(state=ActionState.DONE, text=text)


def _refuse_unknown(parameters: Mapping[str, JsonValue], names: set[str]) -> None:
    if unknown := sorted(parameters.keys() - names):
        raise PermanentError(
            f"there is no {unknown[0]!r} here; there are {', '.join(sorted(names))}"
        )


def _choose(
    parameters: Mapping[str, JsonValue], name: str, choices: list[str], otherwise: str
) -> str:
    value = str(parameters.get(name) or otherwise)
    if value not in choices:
        raise PermanentError(f"{name!r} is one of {', '.join(choices)}, not {value!r}")
    return value


def _read(parameters: Mapping[str, JsonValue], name: str, limit: int) -> str:
    value = parameters.get(name)
    if not isinstance(value, str) or not value.strip():
        raise PermanentError(f"{name!r} needs a text")
    if len(value) > limit:
        raise PermanentError(f"{name!r} has {len(value)} characters; {limit} are allowed")
    return value.replace("\r\n", "\n").strip()

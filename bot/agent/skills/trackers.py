"""What ticket systems have in common."""

from dataclasses import dataclass
from typing import Protocol

from bot.agent.skills.definition import Queue
from core.errors import PermanentError


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A ticket as a system has it; what it does not say is empty."""

    ticket_id: str
    title: str = ""
    status: str = ""
    priority: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTicket:
    """A ticket to be made.

    Attributes:
        queue: Where the system has it.
        queue_name: What people call the queue.
        is_labelled: The place holds several queues, told apart by a label.
    """

    queue: Queue
    queue_name: str
    is_labelled: bool = False
    title: str
    description: str
    priority: str = ""


class RejectedError(PermanentError):
    """The system refused, and has written nothing."""


class Tracker(Protocol):
    """A ticket system.

    All raise `RejectedError` or `NotSentError` when nothing was written, and `TransientError` or
    another error of ours when that is not known.
    """

    @property
    def name(self) -> str:
        """As in the settings."""
        ...

    @property
    def address(self) -> str:
        """Where it is, without secrets."""
        ...

    async def find_made(self, key: str) -> Ticket | None:
        """Return the ticket made with a key; None when there is none, or none is known of yet."""
        ...

    async def create(self, ticket: NewTicket, *, key: str) -> Ticket:
        """Make a ticket that can be found by the key."""
        ...

    async def has_comment(self, ticket_id: str, *, key: str) -> bool:
        """Tell whether a ticket has the comment made with a key."""
        ...

    async def comment(self, ticket_id: str, text: str, *, key: str) -> Ticket:
        """Comment on a ticket, so that the comment can be told by the key."""
        ...

    async def search(self, queues: tuple[Queue, ...], text: str, *, limit: int) -> list[Ticket]:
        """Find tickets of some queues by their number or their words, the latest first."""
        ...

    def owns(self, ticket_id: str, queues: tuple[Queue, ...]) -> bool:
        """Tell by its form whether a ticket can be one of these queues."""
        ...

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        ...

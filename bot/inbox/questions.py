"""A question from a chat. Frozen and pure."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

STREAM_BEGINNING = "beginning"
"""In place of a stream's message while nobody knows yet which one it is."""


class QuestionState(StrEnum):
    """Whether a question still waits for its answer."""

    ACCEPTED = "accepted"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a form was opened that a question was put in; empty = nowhere in particular."""

    channel: str = ""
    thread: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingQuestion:
    """A message that asks something, as its platform brought it.

    Attributes:
        event_id: Of the delivery; one message may come by several.
        ts: The message, unique within its channel.
        thread: The message that began the thread the answer goes to; empty = no thread.
        account: Who asks, by the platform's own id.
        is_direct: Asked in a direct message, which the asker alone reads.
        needs_thread: Only meant for us if we were called into the thread before.
        origin: It was put in a form, and no message stands there; None = it is a message.
    """

    event_id: str
    channel: str
    ts: str
    thread: str
    account: str
    text: str
    is_direct: bool
    needs_thread: bool = False
    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that was accepted, and so is answered.

    Attributes:
        attempts: How often it was taken up, this time included; above 1 an earlier process may
            have posted something that is not in `posts`.
        posts: The messages of the answer, in order; the first is there from the beginning.
        stream: The message that is being written into bit by bit, `STREAM_BEGINNING` before it is
            known; empty = none is.
        starts_at: When it is its turn.
        is_over_limit: There were too many before it: it is refused.
        origin: Where the form was opened it was put in; None = it is a message.
        revision: How often it was changed since it was put.
        is_withdrawn: Its message was deleted: there is no answer any more.
        is_refreshed: It was answered before, and changed after that.
        passages: What the answer rests on.
        failure: Why it could not be answered, for operators; empty = it was.
    """

    question_id: str
    channel: str
    ts: str
    thread: str
    account: str
    text: str
    is_direct: bool
    accepted_at: datetime
    state: QuestionState
    attempts: int
    posts: tuple[str, ...] = ()
    stream: str = ""
    starts_at: datetime | None = None
    is_over_limit: bool = False
    origin: Origin | None = None
    revision: int = 0
    is_withdrawn: bool = False
    is_refreshed: bool = False
    outcome: str = ""
    trace_id: str = ""
    passages: tuple[str, ...] = ()
    failure: str = ""

"""Chat models: one protocol, whichever endpoint answers."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol, Self

Role = Literal["system", "user", "assistant"]


class Finish(StrEnum):
    """Why a reply ended."""

    STOP = "stop"
    LENGTH = "length"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a conversation with a model."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens read and written; zeros where the endpoint does not count."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> Self:
        """Sum both."""
        return type(self)(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """A whole reply. With `Finish.LENGTH` the text is cut at `max_tokens`."""

    text: str
    usage: Usage
    finish: Finish


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """The next piece of a streamed reply, never empty."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEnd:
    """The last event of a stream; a stream without it was cut off and raises instead."""

    usage: Usage
    finish: Finish


StreamEvent = TextDelta | StreamEnd


class ChatModel(Protocol):
    """A language model that continues a conversation.

    Calls wait for a free place when too many are under way. What a model thinks aloud before it
    replies is no part of the text.
    """

    @property
    def name(self) -> str:
        """The model's name at its endpoint."""
        ...

    @property
    def is_private(self) -> bool:
        """Whether text may go there as it is; else personal data is taken out before."""
        ...

    @property
    def usage(self) -> Usage:
        """What all calls so far have used."""
        ...

    async def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0
    ) -> ChatReply:
        """Return the reply to the conversation; its text is never empty.

        Raises:
            TransientError: The endpoint is unreachable, overloaded or too slow, after retries.
            SettingsError: The endpoint refuses the key, the model's name or the address.
            PromptTooLongError: The conversation does not fit into the model's context.
            ModelReplyError: The reply is empty, blocked or not in the expected form.
        """
        ...

    def stream(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0
    ) -> AsyncGenerator[StreamEvent, None]:
        """Yield the reply's text piece by piece, then one `StreamEnd`.

        Retries happen before the first piece only. Close the generator when leaving it early.

        Raises:
            TransientError, SettingsError, PromptTooLongError, ModelReplyError: As `complete`; also
                in the middle, when the stream breaks off.
        """
        ...

    async def close(self) -> None:
        """Release connections. Safe to call twice."""
        ...

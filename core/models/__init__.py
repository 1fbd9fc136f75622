"""Chat models: one protocol, whichever endpoint answers."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol, Self

from pydantic import JsonValue

Role = Literal["system", "user", "assistant", "tool"]
ToolChoice = Literal["auto", "required"]
"""Whether a model may call a tool or has to; a wish that not every server grants."""


class Finish(StrEnum):
    """Why a reply ended."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as models are told of it; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What a model wants to have called.

    Attributes:
        call_id: Names the call in the message with its result; unique within a conversation.
        arguments: As the model wrote them: meant to be JSON, but possibly none.
    """

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a conversation with a model.

    Attributes:
        tool_calls: Of an assistant: what it called. Each must be followed by its result.
        tool_call_id: Of a tool: the call whose result this is.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens read and written; zeros where the endpoint does not count.

    Attributes:
        cost: In the currency of the prices in the settings; 0 without prices.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.prompt_tokens + self.completion_tokens

    def describe(self) -> str:
        """Return a note for traces."""
        cost = f", cost {self.cost:.6f}" if self.cost else ""
        return f"{self.prompt_tokens}+{self.completion_tokens} tokens{cost}"

    def __add__(self, other: "Usage") -> Self:
        """Sum both."""
        return type(self)(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost=self.cost + other.cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """A whole reply. With `Finish.LENGTH` the text is cut at `max_tokens`.

    Attributes:
        text: May be empty beside tool calls only.
        tool_calls: In the order of the model; servers without tools give none, their models write
            calls into the text.
    """

    text: str
    usage: Usage
    finish: Finish
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """The next piece of a streamed reply, never empty."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEnd:
    """The last event of a stream; a stream without it was cut off and raises instead."""

    usage: Usage
    finish: Finish
    tool_calls: tuple[ToolCall, ...] = ()


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
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        tools: Sequence[ToolSpec] = (),
        tool_choice: ToolChoice = "auto",
    ) -> ChatReply:
        """Return the reply to the conversation; it has text or tool calls.

        Where the endpoint knows no tools they are described in words; the model is then asked to
        write its calls as JSON, which is part of the text.

        Raises:
            TransientError: The endpoint is unreachable, overloaded or too slow, after retries.
            SettingsError: The endpoint refuses the key, the model's name or the address.
            PromptTooLongError: The conversation does not fit into the model's context.
            ModelReplyError: The reply is empty, blocked or not in the expected form.
        """
        ...

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        tools: Sequence[ToolSpec] = (),
        tool_choice: ToolChoice = "auto",
    ) -> AsyncGenerator[StreamEvent, None]:
        """Yield the reply's text piece by piece, then one `StreamEnd` with its tool calls.

        Retries happen before the first piece only. Close the generator when leaving it early.

        Raises:
            TransientError, SettingsError, PromptTooLongError, ModelReplyError: As `complete`; also
                in the middle, when the stream breaks off.
        """
        ...

    async def close(self) -> None:
        """Release connections. Safe to call twice."""
        ...

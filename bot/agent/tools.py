"""What tools are: things the assistant may look up or work out for somebody. They write nothing.

What writes is a `WriteSkill`, which only `Confirmation` ever runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from bot.agent.caller import Caller
from knowledge.retrieval import Evidence

JsonSchema = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool found.

    Attributes:
        text: In words, as Markdown, in the language of the question where a person may read it.
        evidence: Passages it rests on, in the order in which they may be cited; none for records.
        rows: What was found as data, for a next step to work with.
        is_for_asker_alone: Somebody who listens may not see it: it is told in private.
        has_found: False = the search was well-formed, but there is nothing (that may be seen).
        notes: For the trace: what was left out and why.
    """

    text: str
    evidence: tuple[Evidence, ...] = ()
    rows: tuple[Mapping[str, JsonValue], ...] = ()
    is_for_asker_alone: bool = False
    has_found: bool = True
    notes: tuple[str, ...] = ()


class Tool(Protocol):
    """Something that can be looked up. Safe to run twice and side by side."""

    @property
    def name(self) -> str:
        """The name models call it by: lower-case letters, digits and underscores."""
        ...

    @property
    def description(self) -> str:
        """What it does and when to use it, for a model."""
        ...

    @property
    def parameters(self) -> JsonSchema:
        """JSON Schema of its arguments, an object."""
        ...

    @property
    def timeout_s(self) -> float:
        """After that long it is given up."""
        ...

    def is_offered_to(self, caller: Caller) -> bool:
        """Tell whether this person may use it at all; else it is neither offered nor callable."""
        ...

    async def run(self, arguments: Mapping[str, JsonValue], caller: Caller) -> ToolResult:
        """Look it up with the caller's rights.

        Raises:
            ToolRetryError: The arguments have to be mended; the message says how.
            ToolFailedError: It can't be done now; trying the same again will not help.
            RefusedError: The person may not see what was asked for.
        """
        ...

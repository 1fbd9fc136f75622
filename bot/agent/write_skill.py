"""What a skill that writes is: something done for a person, once one has agreed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from bot.agent.actions import ActionState, Parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillResult:
    """What a write came to: `done`, `failed` (nothing was written) or `unknown`."""

    state: ActionState
    text: str


class WriteSkill(Protocol):
    """Something that can be done for a person after confirmation."""

    @property
    def name(self) -> str:
        """Its name, as in `proposed_action.skill`."""
        ...

    @property
    def definition_hash(self) -> str:
        """Changes whenever what it would do changes."""
        ...

    def normalise(self, parameters: Mapping[str, JsonValue]) -> Parameters:
        """Return the parameters in canonical form.

        Raises:
            PermanentError: They can't be used; the message says what to mend.
        """
        ...

    async def run(self, parameters: Parameters, *, idempotency_key: str) -> SkillResult:
        """Do it; the same key must never lead to a second effect on a system that can tell."""
        ...


@runtime_checkable
class TraceableSkill(WriteSkill, Protocol):
    """A skill whose other side may be asked what became of a try."""

    @property
    def is_traceable(self) -> bool:
        """Whether the other side can be asked at all."""
        ...

    async def find_outcome(
        self, parameters: Parameters, *, idempotency_key: str
    ) -> SkillResult | None:
        """Return what became of it; None when the other side does not know of it (yet).

        Raises:
            ZhixingError: It can't be asked now.
        """
        ...

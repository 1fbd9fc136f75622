"""What one run of the agent may take, and why it ended."""

import time
from enum import StrEnum

from core.models import Usage
from core.settings import AgentSettings

# The answer is written in what is left.
LOOKING_SHARE = 0.65


class StopReason(StrEnum):
    """Why looking things up ended."""

    DONE = "done"
    PROPOSED = "proposed"
    STEPS = "steps"
    TIME = "time"
    TOKENS = "tokens"
    REPEATED = "repeated"
    NOTHING_FOUND = "nothing_found"
    NO_NEW_EVIDENCE = "no_new_evidence"
    TOOL_ERRORS = "tool_errors"
    MODEL_FAILED = "model_failed"

    @property
    def is_complete(self) -> bool:
        """Whether nothing was cut short."""
        return self in {StopReason.DONE, StopReason.PROPOSED, StopReason.NO_NEW_EVIDENCE}


class Budget:
    """Counts steps, tokens and seconds of one run."""

    def __init__(self, settings: AgentSettings) -> None:
        """Start the clock."""
        self._settings = settings
        self._began = time.monotonic()
        self.steps = 0
        self.usage = Usage()

    @property
    def looking_left_s(self) -> float:
        """Seconds left for looking things up."""
        return max(0.0, LOOKING_SHARE * self._settings.time_s - self._elapsed_s)

    @property
    def left_s(self) -> float:
        """Seconds left for everything."""
        return max(0.0, self._settings.time_s - self._elapsed_s)

    def find_end(self) -> StopReason | None:
        """Return which limit is reached, if one is."""
        if self.steps >= self._settings.steps:
            return StopReason.STEPS
        if self.usage.tokens >= self._settings.tokens:
            return StopReason.TOKENS
        return StopReason.TIME if self.looking_left_s <= 0 else None

    @property
    def _elapsed_s(self) -> float:
        return time.monotonic() - self._began

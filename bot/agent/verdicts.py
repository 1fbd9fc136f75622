"""What becomes of somebody pressing a button of a draft."""

from dataclasses import dataclass
from enum import StrEnum

from bot.agent.actions import PendingAction


class Verdict(StrEnum):
    """What became of somebody pressing a button."""

    ACCEPTED = "accepted"
    NOT_YOURS = "not_yours"
    ALREADY_DECIDED = "already_decided"
    EXPIRED = "expired"
    SKILL_CHANGED = "skill_changed"
    NOT_FOUND = "not_found"
    NOT_KNOWN = "not_known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The verdict, and the action as it is now; None when there is no such action."""

    verdict: Verdict
    action: PendingAction | None

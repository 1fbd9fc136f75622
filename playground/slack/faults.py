"""What goes wrong on demand, and how often each method was called."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Faults:
    """Faults to come; everything is off at first. A method of `*` means every one.

    Attributes:
        limit: How many more calls of a method are answered 429.
        retry_after: The Retry-After of those answers, in whole seconds.
        fail: How many more calls of a method are answered 500, undone.
        refuse: Methods that are refused, undone, each with the code to say.
        lose: How many more calls of a method are done, but their reply is lost.
        refuse_blocks: How many more messages with blocks are refused as `invalid_blocks`.
        deliveries: How often every event, click and form is delivered.
        unanswered_acks: How many more acknowledgements are overlooked, so that Slack tries again.
    """

    limit: dict[str, int] = field(default_factory=dict)
    retry_after: int = 0
    fail: dict[str, int] = field(default_factory=dict)
    refuse: dict[str, str] = field(default_factory=dict)
    lose: dict[str, int] = field(default_factory=dict)
    refuse_blocks: int = 0
    deliveries: int = 1
    unanswered_acks: int = 0

    def is_due(self, faults: dict[str, int], method: str) -> bool:
        """Tell whether a call of the method meets one of these faults, and count it off."""
        for name in (method, "*"):
            if faults.get(name, 0) > 0:
                faults[name] -= 1
                return True
        return False

    def refuses_blocks(self) -> bool:
        """Tell whether a message's blocks are refused, and count it off."""
        if self.refuse_blocks > 0:
            self.refuse_blocks -= 1
            return True
        return False

    def overlooks_ack(self) -> bool:
        """Tell whether an acknowledgement is overlooked, and count it off."""
        if self.unanswered_acks > 0:
            self.unanswered_acks -= 1
            return True
        return False


@dataclass(slots=True, kw_only=True)
class Calls:
    """Calls so far, by method."""

    by_method: Counter[str] = field(default_factory=Counter)
    refused: list[tuple[str, str]] = field(default_factory=list)
    """Method and code of every refusal."""

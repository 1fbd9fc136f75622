"""What goes wrong on demand."""

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Faults:
    """Faults to come; everything is off at first.

    Attributes:
        rate_limit_every: Answer 429 to every nth call; 0 = never.
        retry_after: The Retry-After of those answers.
        fail_every: Answer `fail_status` to every nth call; 0 = never.
        fail_times: How many more calls below a path (its beginning, without /v1) fail; -1 = all.
        hang_every: Never answer every nth call; 0 = never.
        hang_after: Never answer again after that many calls from now; -1 = answer always.
        hung: Set when `hang_after` has come true.
        cut_after: Fail listings below a path after that many of their pages.
        repeats_cursor: Give the same `next_cursor` for ever.
    """

    rate_limit_every: int = 0
    retry_after: str = "0.01"
    fail_every: int = 0
    fail_status: int = 502
    fail_times: dict[str, int] = field(default_factory=dict)
    hang_every: int = 0
    hang_after: int = -1
    hung: asyncio.Event = field(default_factory=asyncio.Event)
    cut_after: dict[str, int] = field(default_factory=dict)
    repeats_cursor: bool = False

    def should_hang(self, number: int) -> bool:
        """Tell whether the call of that number is never answered, and count it off."""
        if self.hang_after > 0:
            self.hang_after -= 1
        elif self.hang_after == 0:
            self.hung.set()
            return True
        return bool(self.hang_every) and number % self.hang_every == 0

    def should_fail(self, path: str) -> bool:
        """Tell whether a call fails by its path, and count it off."""
        for start, left in self.fail_times.items():
            if path.startswith(start) and left:
                self.fail_times[start] = left - 1 if left > 0 else left
                return True
        return False

    def is_cut(self, path: str, offset: int, size: int) -> bool:
        """Tell whether a page of a listing lies behind the place where listings fail."""
        return any(
            path.startswith(start) and offset >= after * max(size, 1)
            for start, after in self.cut_after.items()
        )

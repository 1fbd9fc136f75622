"""What goes wrong on demand."""

import re
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Faults:
    """Faults to come; everything is off at first. Paths are without the context path.

    Attributes:
        limit_every: Refuse every nth call with `limit_status` and Retry-After; 0 = never.
        retry_after: The Retry-After of those answers.
        calm_retry_after: Retry-After of successful answers; empty = none.
        fail_every: Answer `fail_status` to every nth call; 0 = never.
        fail_times: How many more calls whose path and query contain a text fail; -1 = all.
        refuse: Answer 403 to calls whose path contains one of these.
        hang_every: Never answer every nth call; 0 = never.
        cut_after: Fail listings whose path contains a text after that many of their entries.
        cuts_connection: Let those break off in the middle of their reply instead of answering 500.
        login_page: Answer everything with a web page.
        break_expanded_rights: Answer 404 to listings that expand restrictions.
        repeat_cursor: Give the same cursor for ever.
        rewrites: Patterns and replacements in replies to calls whose path and query contain a text.
    """

    limit_every: int = 0
    limit_status: int = 429
    retry_after: str = "0.01"
    calm_retry_after: str = ""
    fail_every: int = 0
    fail_status: int = 503
    fail_times: dict[str, int] = field(default_factory=dict)
    refuse: set[str] = field(default_factory=set)
    hang_every: int = 0
    cut_after: dict[str, int] = field(default_factory=dict)
    cuts_connection: bool = False
    login_page: bool = False
    break_expanded_rights: bool = False
    repeat_cursor: bool = False
    rewrites: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def takes_down(self, target: str) -> bool:
        """Tell whether a call fails by its path and query, and count it off."""
        for text, left in self.fail_times.items():
            if text in target and left:
                self.fail_times[text] = left - 1 if left > 0 else left
                return True
        return False

    def cuts(self, target: str, offset: int) -> bool:
        """Tell whether a page of a listing lies behind the place where listings fail."""
        return any(text in target and offset >= after for text, after in self.cut_after.items())

    def rewrite(self, target: str, reply: str) -> str:
        """Return a reply as it goes out."""
        for text, changes in self.rewrites.items():
            for pattern, replacement in changes if text in target else ():
                reply = re.sub(pattern, replacement, reply)
        return reply

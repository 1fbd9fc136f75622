"""What goes wrong on demand."""

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Faults:
    """Faults to come; everything is off at first. Counts go down with each call they strike.

    Attributes:
        limited_writes: Writes answered 429, with `retry_after`.
        failures: Calls answered `fail_status` before anything was done.
        failed_writes: The same of writes alone.
        failures_after_write: Writes that are done, and then answered `fail_status`.
        hangs: Calls that are never answered, nothing done.
        hangs_after_write: Writes that are done and never answered.
        forbids: Whether the account may read but not write.
        unseen_searches: So many searches do not know of an issue that is new.
        login_page: Answer everything with a web page.
    """

    limited_writes: int = 0
    retry_after: str = "0"
    failures: int = 0
    failed_writes: int = 0
    fail_status: int = 503
    failures_after_write: int = 0
    hangs: int = 0
    hangs_after_write: int = 0
    forbids: bool = False
    unseen_searches: int = 0
    login_page: bool = False

    def strikes(self, name: str) -> bool:
        """Tell whether a fault is due, and count it off."""
        left = int(getattr(self, name))
        if left:
            setattr(self, name, left - 1)
        return left > 0

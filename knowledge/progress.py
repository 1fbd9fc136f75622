"""Progress of long work: counts, rate and time left, for whoever shows it."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressReport:
    """Where a run stands.

    Attributes:
        total: None = not known yet.
        rate: Items a second since the start.
        left_s: Seconds left at that rate; None when unknown.
    """

    task: str
    done: int
    total: int | None
    failed: int
    rate: float
    left_s: float | None


class Progress(Protocol):
    """Shown progress."""

    def update(self, report: ProgressReport) -> None:
        """Show where the run stands; called often, must return at once."""
        ...


class NoProgress:
    """Shows nothing."""

    def update(self, report: ProgressReport) -> None:
        """Do nothing."""


def build_report(
    task: str, *, done: int, total: int | None, failed: int, elapsed_s: float
) -> ProgressReport:
    """Work out rate and time left."""
    rate = done / elapsed_s if elapsed_s > 0 else 0.0
    left_s = (total - done) / rate if total is not None and rate > 0 else None
    return ProgressReport(
        task=task, done=done, total=total, failed=failed, rate=rate, left_s=left_s
    )

"""Progress of long work on the terminal: counts, rate, time left."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.status import Status

from knowledge.progress import ProgressReport


class TerminalProgress:
    """One line that is rewritten; nothing where standard error is no terminal."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._status: Status | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status = self._console.status("listing …")
            self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def update(self, report: ProgressReport) -> None:
        """Show where the run stands."""
        if self._status is not None:
            self._status.update(describe(report))


def describe(report: ProgressReport) -> str:
    """Put a report into one line."""
    total = "" if report.total is None else f" of {report.total}"
    failed = f", {report.failed} failed" if report.failed else ""
    left = "" if report.left_s is None else f", {report.left_s:.0f} s left"
    return f"{report.task}: {report.done}{total} documents{failed}, {report.rate:.0f}/s{left}"

"""Progress on standard error: counts, rate and time left."""

import time
from collections.abc import Callable
from dataclasses import replace

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from knowledge.progress import Progress as ProgressSink
from knowledge.progress import ProgressReport, build_report

SHOWN_A_SECOND = 5
TOLD_EVERY_S = 30


class ConsoleProgress:
    """Shows one line a task.

    Where the console is no terminal: a line when a task is done, and one every TOLD_EVERY_S.
    """

    def __init__(
        self, console: Console | None = None, *, timer: Callable[[], float] = time.monotonic
    ) -> None:
        """Prepare; without a console standard error is used. `timer` gives seconds."""
        self._console = console or Console(stderr=True, soft_wrap=True)
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            console=self._console,
            refresh_per_second=SHOWN_A_SECOND,
            disable=not self._console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}
        self._timer = timer
        self._told_at = timer()
        self._finished: set[str] = set()

    def __enter__(self) -> "ConsoleProgress":
        self._bars.start()
        return self

    def __exit__(self, *_exit: object) -> None:
        self._bars.stop()

    def update(self, report: ProgressReport) -> None:
        """Show where a task stands."""
        if report.task not in self._tasks:
            self._tasks[report.task] = self._bars.add_task(report.task, note="")
        self._bars.update(
            self._tasks[report.task],
            completed=report.done,
            total=report.total,
            note=describe_pace(report),
        )
        if not self._console.is_terminal:
            self._tell(report)

    def _tell(self, report: ProgressReport) -> None:
        is_finished = report.done == report.total
        is_news = is_finished and report.task not in self._finished
        if not is_news and self._timer() - self._told_at < TOLD_EVERY_S:
            return
        if is_finished:
            self._finished.add(report.task)
        self._told_at = self._timer()
        total = "" if report.total is None else f" of {report.total:,}"
        line = f"{report.task}: {report.done:,}{total}, {describe_pace(report)}"
        self._console.print(line, markup=False, highlight=False)


class RenamedProgress:
    """Passes reports on under another name for the task."""

    def __init__(self, progress: ProgressSink, task: str) -> None:
        self._progress = progress
        self._task = task

    def update(self, report: ProgressReport) -> None:
        """Pass a report on."""
        self._progress.update(replace(report, task=self._task))


class StepCounter:
    """Counts the pieces of one task and reports each of them."""

    def __init__(
        self,
        progress: ProgressSink,
        task: str,
        *,
        total: int,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the task's clock; `timer` gives seconds."""
        self._progress = progress
        self._task = task
        self._total = total
        self._timer = timer
        self._started = timer()
        self._done = 0

    def advance(self, count: int = 1) -> None:
        """Report `count` more pieces done."""
        self._done += count
        self._progress.update(
            build_report(
                self._task,
                done=self._done,
                total=self._total,
                failed=0,
                elapsed_s=self._timer() - self._started,
            )
        )


def describe_pace(report: ProgressReport) -> str:
    """Say rate, time left and failures in a few words."""
    parts = [f"{report.rate:,.1f}/s"]
    if report.left_s:
        minutes, seconds = divmod(round(report.left_s), 60)
        parts.append(f"{minutes}:{seconds:02d} left")
    if report.failed:
        parts.append(f"{report.failed} failed")
    return ", ".join(parts)

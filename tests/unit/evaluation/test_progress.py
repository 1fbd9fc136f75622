"""Progress on the screen."""

import io
from typing import cast

from rich.console import Console

from evaluation.progress import (
    ConsoleProgress,
    RenamedProgress,
    StepCounter,
    describe_pace,
)
from knowledge.progress import ProgressReport, build_report


def read(console: Console) -> str:
    return cast("io.StringIO", console.file).getvalue()


def test_a_terminal_shows_counts_rate_and_time_left() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with ConsoleProgress(console) as progress:
        ticks = iter([0.0, 2.0, 4.0])
        counter = StepCounter(progress, "asking", total=8, timer=lambda: next(ticks))
        counter.advance(2)
        counter.advance()
    assert "asking" in read(console)
    assert "3/8" in read(console)
    assert "0.8/s" in read(console)


def test_elsewhere_one_line_tells_that_a_task_is_done() -> None:
    console = Console(file=io.StringIO(), width=100)
    with ConsoleProgress(console) as progress:
        for done in (1, 2, 2):
            progress.update(build_report("asking", done=done, total=2, failed=0, elapsed_s=1.0))
    assert read(console) == "asking: 2 of 2, 2.0/s\n"


def test_long_work_is_told_of_now_and_then() -> None:
    console = Console(file=io.StringIO(), width=100)
    now = 0.0
    progress = ConsoleProgress(console, timer=lambda: now)
    for done in range(1, 8):
        now += 10
        progress.update(build_report("asking", done=done, total=90, failed=0, elapsed_s=now))
    assert read(console).splitlines() == [
        "asking: 3 of 90, 0.1/s, 14:30 left",
        "asking: 6 of 90, 0.1/s, 14:00 left",
    ]


def test_pace_tells_rate_time_left_and_failures() -> None:
    report = ProgressReport(task="t", done=1, total=9, failed=2, rate=1234.5, left_s=125.0)
    assert describe_pace(report) == "1,234.5/s, 2:05 left, 2 failed"


def test_a_task_can_be_shown_under_another_name() -> None:
    console = Console(file=io.StringIO(), width=100)
    renamed = RenamedProgress(ConsoleProgress(console), "indexing")
    renamed.update(build_report("eval", done=3, total=3, failed=0, elapsed_s=1.0))
    assert read(console).startswith("indexing: 3 of 3")

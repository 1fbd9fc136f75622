"""Compares a run with an earlier one: what became better, what became worse beyond a tolerance."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from rich.console import Console
from rich.table import Table

from core.errors import SettingsError
from evaluation.report import open_table
from evaluation.results import FORMAT

Direction = Literal["higher", "lower"]

# The quality figures that are compared, and which way is better. Times depend on the machine and
# on what else it does; they are shown in reports, and judged by the bench.
COMPARED: Mapping[str, Direction] = {
    "recall_at_1": "higher",
    "recall_at_5": "higher",
    "recall_at_10": "higher",
    "mrr": "higher",
    "ndcg_at_10": "higher",
    "not_found_right": "higher",
    "wrongly_refused": "lower",
    "foreign_refused": "higher",
    "answer_right": "higher",
    "answer_point_coverage": "higher",
    "answer_citation_precision": "higher",
    "answer_not_found_right": "higher",
    "answer_wrongly_refused": "lower",
    "answer_foreign_refused": "higher",
}
MEAN = "mean"
NOTICEABLE = 0.0005
"""Smaller changes vanish in three digits and are not listed."""


class Verdict(StrEnum):
    """What a change means."""

    BETTER = "better"
    WORSE = "worse"
    REGRESSION = "regression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure of one set that moved."""

    dataset: str
    figure: str
    before: float
    after: float
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What moved between two runs over the sets both have.

    Attributes:
        only_before, only_after: Sets that one of the runs lacks; the mean is then not compared.
        notes: Circumstances that differ, so that figures may differ for reasons of their own.
    """

    changes: tuple[Change, ...]
    compared: tuple[str, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def regressions(self) -> tuple[Change, ...]:
        """Changes for the worse beyond the tolerance."""
        return tuple(one for one in self.changes if one.verdict is Verdict.REGRESSION)


class _RunPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    format: int
    embedder: str = ""
    part: str = ""
    cross: bool = False


class EarlierRun(BaseModel):
    """The parts of a run's JSON that are compared."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    datasets: dict[str, dict[str, float | None]]
    mean: dict[str, float | None]
    variant: str
    run: _RunPart


def load_run(path: Path) -> EarlierRun:
    """Read the JSON of an earlier run.

    Raises:
        SettingsError: The file can't be read, or is no run of this format.
    """
    try:
        run = EarlierRun.model_validate_json(path.read_bytes())
    except OSError as error:
        raise SettingsError(f"{str(path)!r} can't be read: {error.strerror}") from error
    except ValidationError as error:
        raise SettingsError(
            f"{str(path)!r} is not the JSON of an evaluation; write one with --json-to FILE"
        ) from error
    if run.run.format != FORMAT:
        raise SettingsError(
            f"{str(path)!r} has format {run.run.format}, this version compares {FORMAT}; "
            "make the earlier run again"
        )
    return run


def parse_run(result: Mapping[str, object]) -> EarlierRun:
    """Read the parts that are compared from a fresh result, as if it came from a file."""
    return EarlierRun.model_validate_json(json.dumps(result))


def compare_runs(before: EarlierRun, after: EarlierRun, *, tolerance: float) -> Comparison:
    """Compare every figure of every common set, and the mean where the sets are the same.

    Args:
        before: The earlier run.
        after: The present run.
        tolerance: How much worse a figure may be (0.01 = one point in a hundred) without being
            a regression.
    """
    compared = tuple(name for name in after.datasets if name in before.datasets)
    only_before = tuple(name for name in before.datasets if name not in after.datasets)
    only_after = tuple(name for name in after.datasets if name not in before.datasets)
    changes = [
        change
        for name in compared
        for change in _compare_figures(name, before.datasets[name], after.datasets[name], tolerance)
    ]
    if not only_before and not only_after:
        changes += _compare_figures(MEAN, before.mean, after.mean, tolerance)
    return Comparison(
        changes=tuple(changes),
        compared=compared,
        only_before=only_before,
        only_after=only_after,
        notes=tuple(_describe_differences(before, after)),
    )


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print what moved, set by set, and what could not be compared."""
    for note in comparison.notes:
        console.print(f"note: {note}", markup=False, highlight=False)
    if comparison.changes:
        console.print(_build_table(comparison))
    else:
        console.print(f"no figure moved on {len(comparison.compared)} sets", highlight=False)
    count = len(comparison.regressions)
    if count:
        console.print(f"{count} regressions beyond the tolerance", style="red", highlight=False)


def _build_table(comparison: Comparison) -> Table:
    table = open_table("Against the earlier run")
    table.add_column("set")
    table.add_column("figure")
    for heading in ("before", "after", "change"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    styles = {Verdict.BETTER: "green", Verdict.WORSE: "yellow", Verdict.REGRESSION: "red"}
    for change in comparison.changes:
        table.add_row(
            change.dataset,
            change.figure,
            f"{change.before:.3f}",
            f"{change.after:.3f}",
            f"{change.after - change.before:+.3f}",
            change.verdict.value,
            style=styles[change.verdict],
        )
    return table


def _compare_figures(
    dataset: str,
    before: Mapping[str, float | None],
    after: Mapping[str, float | None],
    tolerance: float,
) -> Iterator[Change]:
    for figure, direction in COMPARED.items():
        old, new = before.get(figure), after.get(figure)
        if old is None or new is None or abs(new - old) < NOTICEABLE:
            continue
        gain = new - old if direction == "higher" else old - new
        yield Change(
            dataset=dataset,
            figure=figure,
            before=old,
            after=new,
            verdict=_judge(gain, tolerance),
        )


def _judge(gain: float, tolerance: float) -> Verdict:
    if gain > 0:
        return Verdict.BETTER
    # Figures are rounded to four digits, so a difference carries an error of that size.
    is_beyond = -gain > tolerance + NOTICEABLE / 10
    return Verdict.REGRESSION if is_beyond else Verdict.WORSE


def _describe_differences(before: EarlierRun, after: EarlierRun) -> Iterator[str]:
    for name in before.datasets:
        if name not in after.datasets:
            yield f"the earlier run has set {name!r}, this one does not"
    for name in after.datasets:
        if name not in before.datasets:
            yield f"this run has set {name!r}, the earlier one does not"
    if before.variant != after.variant:
        yield f"variant {before.variant!r} is compared with {after.variant!r}"
    for label in ("embedder", "part", "cross"):
        old, new = getattr(before.run, label), getattr(after.run, label)
        if old != new:
            yield f"{label} was {old!r} and is {new!r}"

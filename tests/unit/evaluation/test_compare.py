"""What counts as a regression between two runs."""

import io
import json
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from core.errors import SettingsError
from evaluation.compare import (
    EarlierRun,
    Verdict,
    compare_runs,
    load_run,
    parse_run,
    print_comparison,
)

Sets = dict[str, dict[str, float | None]]


def build_run(
    datasets: Sets, *, mean: dict[str, float | None] | None = None, embedder: str = "e5"
) -> EarlierRun:
    return parse_run(
        {
            "datasets": datasets,
            "mean": mean or {},
            "variant": "shipped",
            "run": {"format": 1, "embedder": embedder, "part": "all", "cross": False},
        }
    )


def test_worse_within_the_tolerance_is_no_regression() -> None:
    before = build_run({"a": {"mrr": 0.8, "recall_at_5": 0.9}})
    after = build_run({"a": {"mrr": 0.79, "recall_at_5": 0.85}})
    comparison = compare_runs(before, after, tolerance=0.01)
    assert [(one.figure, one.verdict) for one in comparison.changes] == [
        ("recall_at_5", Verdict.REGRESSION),
        ("mrr", Verdict.WORSE),
    ]
    assert [one.figure for one in comparison.regressions] == ["recall_at_5"]


def test_more_wrong_refusals_are_worse() -> None:
    before = build_run({"a": {"wrongly_refused": 0.02, "foreign_refused": 0.9}})
    after = build_run({"a": {"wrongly_refused": 0.10, "foreign_refused": 0.95}})
    comparison = compare_runs(before, after, tolerance=0.02)
    assert {one.figure: one.verdict for one in comparison.changes} == {
        "wrongly_refused": Verdict.REGRESSION,
        "foreign_refused": Verdict.BETTER,
    }


def test_the_mean_is_compared_only_over_the_same_sets() -> None:
    one: Sets = {"a": {"mrr": 0.8}}
    two: Sets = {**one, "b": {"mrr": 0.2}}
    same = compare_runs(
        build_run(one, mean={"mrr": 0.8}), build_run(one, mean={"mrr": 0.5}), tolerance=0.01
    )
    assert [change.dataset for change in same.regressions] == ["mean"]
    other = compare_runs(
        build_run(one, mean={"mrr": 0.8}), build_run(two, mean={"mrr": 0.5}), tolerance=0.01
    )
    assert not other.changes
    assert other.only_after == ("b",)
    assert any("'b'" in note for note in other.notes)


def test_figures_that_one_run_lacks_are_not_judged() -> None:
    before = build_run({"a": {"not_found_right": None, "answer_right": 0.9}})
    after = build_run({"a": {"not_found_right": 0.1}})
    assert not compare_runs(before, after, tolerance=0).changes


def test_what_differs_between_the_runs_is_said() -> None:
    before, after = build_run({"a": {"mrr": 0.5}}), build_run({"a": {"mrr": 0.4}}, embedder="none")
    console = Console(file=io.StringIO(), width=120)
    print_comparison(compare_runs(before, after, tolerance=0.01), console)
    text = cast("io.StringIO", console.file).getvalue()
    assert "embedder was 'e5' and is 'none'" in text
    assert "-0.100" in text
    assert "1 regressions" in text


def test_equal_runs_are_said_to_be_equal() -> None:
    run = build_run({"a": {"mrr": 0.5}})
    console = Console(file=io.StringIO(), width=120)
    print_comparison(compare_runs(run, run, tolerance=0), console)
    assert "no figure moved on 1 sets" in cast("io.StringIO", console.file).getvalue()


def test_an_earlier_run_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    run = build_run({"a": {"mrr": 0.5}})
    path.write_text(run.model_dump_json(), encoding="utf-8")
    assert load_run(path) == run


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{}", "not the JSON of an evaluation"),
        ("nonsense", "not the JSON of an evaluation"),
        (
            json.dumps({"datasets": {}, "mean": {}, "variant": "s", "run": {"format": 99}}),
            "format 99",
        ),
    ],
)
def test_a_file_that_is_no_run_is_refused(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError, match=reason):
        load_run(path)
    with pytest.raises(SettingsError, match="can't be read"):
        load_run(tmp_path / "missing.json")

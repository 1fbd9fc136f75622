"""Figures of a run, worked out by hand from two tiny sets, and what is made of them."""

import io
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from rich.console import Console

from core.settings import RetrievalSettings
from evaluation.metrics import CurvePoint
from evaluation.records import QueryRecord, build_json
from evaluation.report import format_figure, print_summary
from evaluation.results import CURVE_POINTS, RunInfo, build_result, thin_curve
from evaluation.runner import Plan, run_evaluation
from evaluation.summary import average_figures, build_figures, build_summary
from evaluation.variants import build_simple
from knowledge.progress import NoProgress
from tests.fakes.overlap_index import OverlapIndexer
from tests.unit.evaluation.sets import ENGINES, GARDEN

SHIPPED = RetrievalSettings()
VARIANTS = {"shipped": SHIPPED, "vector": build_simple(SHIPPED, "vector")}
INFO = RunInfo(
    made_at=datetime(2026, 11, 30, tzinfo=UTC),
    seconds=1.23,
    embedder="words",
    index="v1",
    cores=2,
    concurrency=1,
    part="all",
    is_cross=False,
    variants=VARIANTS,
)


@pytest.fixture
async def records() -> list[QueryRecord]:
    plan = Plan(variants=VARIANTS, foreign_questions=2, has_answers=True)
    return await run_evaluation([ENGINES, GARDEN], plan, OverlapIndexer(), NoProgress())


def test_figures_of_each_set_and_their_mean(records: list[QueryRecord]) -> None:
    main = build_summary(records, main_variant="shipped").main
    engines, garden = main.datasets["engines"], main.datasets["garden"]
    assert (engines.questions, engines.answerable) == (3, 2)
    assert engines.recall_at_1 == engines.recall_at_5 == engines.mrr == 1
    # "prune roses dawn" finds the wrong item first, the Chinese question nothing at all.
    assert (garden.recall_at_1, garden.recall_at_5, garden.mrr) == (0, 0.5, 0.25)
    assert (engines.not_found_right, garden.not_found_right) == (1, None)
    # With the turn before it, most words of the second question are nowhere.
    assert (engines.wrongly_refused, garden.wrongly_refused) == (0.5, 0.5)
    assert (engines.foreign_refused, garden.foreign_refused) == (1, 1)
    assert main.mean.questions == 5
    assert main.mean.mrr == 0.625
    assert main.mean.not_found_right == 1


def test_answers_have_figures_of_their_own(records: list[QueryRecord]) -> None:
    main = build_summary(records, main_variant="shipped").main
    engines = main.datasets["engines"]
    assert engines.answer_right == 1
    assert engines.answer_point_coverage == 0.5
    assert engines.answer_not_found_right == engines.answer_foreign_refused == 1
    assert engines.answer_wrongly_refused == 0
    assert main.datasets["garden"].answer_citation_precision == 0


def test_kinds_and_languages_are_told_apart(records: list[QueryRecord]) -> None:
    summary = build_summary(records, main_variant="shipped")
    assert set(summary.kinds["engines"]) == {"fact", "list", "none"}
    assert summary.kinds["engines"]["none"].recall_at_5 is None
    assert summary.languages["zh"].questions == 1
    assert summary.languages["zh"].recall_at_10 == 0
    assert summary.stages_ms == {"bm25": (1.5, 1.5)}


def test_refusals_tell_foreign_questions_in_a_language_of_the_corpus(
    records: list[QueryRecord],
) -> None:
    summary = build_summary(records, main_variant="shipped")
    engines = summary.refusals_by_dataset["engines"]
    assert engines.counts == {
        "answerable": 2,
        "unanswerable": 1,
        "foreign": 2,
        "foreign_same_language": 1,
    }
    assert engines.shipped == {
        "answerable": 0.5,
        "unanswerable": 1,
        "foreign": 1,
        "foreign_same_language": 1,
    }
    assert engines.separation["foreign"] == 1
    assert engines.best is not None
    assert engines.best.wrongly_refused == 0
    assert engines.best.rightly_refused["foreign"] == 1


def test_nothing_measured_is_none_and_not_zero() -> None:
    empty = build_figures([])
    assert (empty.questions, empty.recall_at_5, empty.latency_ms_p95) == (0, None, None)
    assert average_figures([]).mrr is None


def test_the_json_has_the_stable_keys_and_every_variant(records: list[QueryRecord]) -> None:
    result = cast(
        "dict[str, Any]", build_result(build_summary(records, main_variant="shipped"), INFO)
    )
    stable = {
        "questions",
        "recall_at_1",
        "recall_at_5",
        "recall_at_10",
        "mrr",
        "ndcg_at_10",
        "not_found_right",
        "wrongly_refused",
        "latency_ms_p50",
        "latency_ms_p95",
    }
    assert stable <= set(result["datasets"]["engines"])
    assert stable <= set(result["mean"])
    assert result["variants"]["vector"]["mean"]["recall_at_5"] == 0
    assert "answer_right" not in result["variants"]["vector"]["mean"]
    assert result["variants"]["vector"]["settings"]["recall_terms"] == 0
    assert result["refusals"]["datasets"]["garden"]["questions"]["foreign"] == 2
    assert result["run"]["embedder"] == "words"


def test_a_record_becomes_one_json_line(records: list[QueryRecord]) -> None:
    line = build_json(records[0])
    assert line["id"] == "eq1"
    assert line["ranking"] == ["e1", "e2"]
    assert line["features"] == {"coverage": 1.0}
    assert line["answer"] == "the diesel engine needs oil every month"
    unanswerable = build_json(records[2])
    assert unanswerable["recall_at_5"] is None
    assert unanswerable["outcome"] == "not_found"


def test_a_long_curve_keeps_its_ends() -> None:
    curve = tuple(
        CurvePoint(threshold=place / 999, wrongly_refused=place / 999, rightly_refused={})
        for place in range(1000)
    )
    thinned = thin_curve(curve)
    assert len(thinned) == CURVE_POINTS
    assert (thinned[0], thinned[-1]) == (curve[0], curve[-1])
    assert thin_curve(curve[:7]) == curve[:7]


def test_the_tables_show_sets_variants_answers_and_refusals(records: list[QueryRecord]) -> None:
    console = Console(file=io.StringIO(), width=80)
    print_summary(build_summary(records, main_variant="shipped"), console)
    text = cast("io.StringIO", console.file).getvalue()
    for expected in ("Ranking by set (shipped)", "Variants", "Answers by set", "Refusals"):
        assert expected in text
    assert "0.625" in text
    assert "foreign same language" in text
    assert "…" not in text


def test_figures_are_written_by_what_they_are() -> None:
    assert format_figure("mrr", None) == "–"
    assert format_figure("mrr", 0.81449) == "0.814"
    assert format_figure("latency_ms_p95", 1234.56) == "1,234.6"
    assert format_figure("questions", 1250) == "1,250"

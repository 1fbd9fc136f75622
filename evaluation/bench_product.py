"""The product over a large index of generated pages: built once, measured in fresh processes."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.bootstrap import Product, open_embedder, open_product
from core.clock import SystemClock
from core.errors import PermanentError
from core.settings import Settings
from evaluation.bench import LOAD_LEVELS, AskFigures, LoadFigures, RetrievalFigures
from evaluation.bench_source import SOURCE_NAME, SeededEmbedder, SyntheticSource
from evaluation.metrics import compute_percentile
from evaluation.product_index import locate_settings
from evaluation.synthetic import build_page, build_question
from evaluation.timing import measure_latencies, read_peak_bytes, read_resident_bytes
from knowledge.access import OPERATOR
from knowledge.ingestion import SyncRun
from knowledge.progress import Progress
from knowledge.stores import PassageFilter

FOLDER = "bench"
PAGES_A_STEP = 1_000
PASSAGES_A_PAGE = 10
"""More than a page usually has, so that a step does not overshoot."""
WARM_UP = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchIndex:
    """Where the large index is and what is in it."""

    settings: Settings
    seed: int
    passages: int
    documents: int


def locate_index(settings: Settings, *, seed: int, passages: int) -> Settings:
    """Return settings whose home is the folder of this index."""
    home = settings.home / FOLDER / f"{passages}-{seed}"
    return locate_settings(settings, home)


async def build_index(
    settings: Settings, *, seed: int, passages: int, progress: Progress
) -> BenchIndex:
    """Bring in generated pages until the index holds `passages`; goes on where it stopped.

    Raises:
        PermanentError: A generated page could not be indexed.
    """
    while True:
        async with open_seeded(settings, seed) as product:
            held = await product.store.count(PassageFilter(access=OPERATOR))
            documents = len(await product.state.ledger.known_documents(SOURCE_NAME))
            if held >= passages:
                return BenchIndex(settings=settings, seed=seed, passages=held, documents=documents)
            missing = 1 + (passages - held) // PASSAGES_A_PAGE
            count = documents + min(missing, PAGES_A_STEP)
            await _sync(product, SyntheticSource(seed, count), progress)


async def _sync(product: Product, source: SyntheticSource, progress: Progress) -> None:
    parts, logs = product.ingest_parts, product.state.logs
    report = await SyncRun(source, parts, logs, progress=progress).run()
    if report.failures:
        document_id, reason = next(iter(report.failures.items()))
        raise PermanentError(f"generated page {document_id!r} could not be indexed: {reason}")


@asynccontextmanager
async def open_seeded(settings: Settings, seed: int) -> AsyncIterator[Product]:
    """Open the product with seeded passage vectors and real reading of questions."""
    embedder = SeededEmbedder(await open_embedder(settings, is_cached=False), seed=seed)
    try:
        async with open_product(settings, SystemClock(), embedder=embedder) as product:
            yield product
    finally:
        await embedder.close()


def measure_retrieval(index: BenchIndex, questions: int) -> RetrievalFigures:
    """Search with questions about the pages; for a process of its own."""
    return asyncio.run(_measure_retrieval(index, build_questions(index, questions)))


def build_questions(index: BenchIndex, count: int) -> list[str]:
    """Ask about pages spread over the whole index, each question once."""
    step = max(1, index.documents // count)
    pages = [build_page(index.seed, number * step % index.documents) for number in range(count)]
    return [build_question(index.seed, number, page) for number, page in enumerate(pages)]


def measure_ask(index: BenchIndex, questions: int) -> AskFigures:
    """Put questions to `ask` one after the other; for a process of its own."""
    return asyncio.run(_measure_ask(index, build_questions(index, questions)))


def measure_load(index: BenchIndex, questions: int) -> LoadFigures:
    """Put questions to `ask` by several askers at once; for a process of its own."""
    return asyncio.run(_measure_load(index, build_questions(index, questions)))


async def _measure_ask(index: BenchIndex, questions: Sequence[str]) -> AskFigures:
    outcomes: Counter[str] = Counter()
    async with open_seeded(index.settings, index.seed) as product:
        reader = await product.resolve_reader(as_=None, in_=None)

        async def ask(question: str) -> None:
            answer = await product.conversation.ask(question, reader)
            outcomes[answer.outcome.value] += 1

        await measure_latencies(questions[:WARM_UP], ask)
        outcomes.clear()
        latencies = await measure_latencies(questions, ask)
        return AskFigures(
            passages=index.passages,
            latencies=latencies,
            outcomes=dict(outcomes),
            peak_bytes=read_peak_bytes(),
        )


async def _measure_load(index: BenchIndex, questions: Sequence[str]) -> LoadFigures:
    async with open_seeded(index.settings, index.seed) as product:
        reader = await product.resolve_reader(as_=None, in_=None)

        async def ask(question: str) -> None:
            await product.conversation.ask(question, reader)

        await measure_latencies(questions[:WARM_UP], ask)
        levels = {
            askers: await measure_latencies(questions, ask, askers=askers) for askers in LOAD_LEVELS
        }
    return LoadFigures(passages=index.passages, levels=levels)


async def _measure_retrieval(index: BenchIndex, questions: Sequence[str]) -> RetrievalFigures:
    stages: dict[str, list[float]] = {}
    where = PassageFilter(access=OPERATOR)
    async with open_seeded(index.settings, index.seed) as product:

        async def search(question: str) -> None:
            found = await product.retriever.search(question, where)
            for stage in found.stages:
                stages.setdefault(stage.stage, []).append(stage.took_ms)

        await measure_latencies(questions[:WARM_UP], search)
        stages.clear()
        latencies = await measure_latencies(questions, search)
        return RetrievalFigures(
            passages=index.passages,
            documents=index.documents,
            latencies=latencies,
            stages_ms={name: compute_percentile(ms, 50) or 0.0 for name, ms in stages.items()},
            resident_bytes=read_resident_bytes(),
            peak_bytes=read_peak_bytes(),
        )

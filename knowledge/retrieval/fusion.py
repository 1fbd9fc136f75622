"""Fusion: one ranking from what several routes found. Pure.

Score fusion puts every candidate on two scales, words (BM25) and meaning (cosine), standardises
each over the candidates and adds them. Reciprocal ranks remain for comparison.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from knowledge.documents import Hit, PassageId
from knowledge.languages import Language
from knowledge.retrieval.languages import add_across_languages, find_foreign
from knowledge.retrieval.meaning import COSINE, measure_cosines, read_cosines
from knowledge.retrieval.recall import Recalled
from knowledge.stores import Vector

RRF_K = 60
CODE_BONUS = 1.5
"""In standard deviations, for a passage that holds every exact code of the question."""


def fuse(
    recalled: Recalled,
    *,
    method: Literal["score", "rrf"],
    asked_in: Language | None,
    vector: Vector | None = None,
) -> list[Hit]:
    """Return every recalled passage once, best first; ties by passage id.

    Every hit with a vector gets its cosine, whichever route found it. A passage that the search by
    words did not find has no words. `rescoring.rescore` replaces the words' part by exact BM25.

    Args:
        asked_in: The question's language; None = languages are not told apart.
        vector: The question's; None with words only.
    """
    hits = _merge(recalled)
    if vector is not None:
        hits = measure_cosines(hits, vector)
    if method == "rrf":
        ranks = [_reciprocal_ranks(found) for found in (recalled.terms, recalled.vector)]
        fused = [sum(rank.get(hit.passage_id, 0.0) for rank in ranks) for hit in hits]
        scored = [replace(hit, score=score) for hit, score in zip(hits, fused, strict=True)]
        return best_first(scored, stage="fused", code_bonus=1 / RRF_K)
    words = np.array([hit.scores.get("bm25", 0.0) for hit in hits], float)
    foreign = find_foreign([hit.text for hit in hits], asked_in)
    totals = add_across_languages(words, read_cosines(hits), foreign)
    scored = [replace(hit, score=float(total)) for hit, total in zip(hits, totals, strict=True)]
    return best_first(scored, stage="fused")


def best_first(hits: Sequence[Hit], *, stage: str, code_bonus: float = CODE_BONUS) -> list[Hit]:
    """Add the bonus for exact codes, note the score under the stage's name, and order."""
    most = max((hit.scores.get("code", 0.0) for hit in hits), default=0.0) or 1.0
    scored = [
        replace(hit, score=score, scores={**hit.scores, stage: score})
        for hit in hits
        for score in [hit.score + code_bonus * hit.scores.get("code", 0.0) / most]
    ]
    return sorted(scored, key=lambda hit: (-hit.score, hit.passage_id))


def _merge(recalled: Recalled) -> list[Hit]:
    """Return each passage once, with the score of every route that found it."""
    routes = (
        ("bm25", recalled.terms),
        (COSINE, recalled.vector),
        (COSINE, recalled.foreign),
        ("code", recalled.codes),
    )
    hits: dict[PassageId, Hit] = {}
    for name, found in routes:
        for hit in found:
            known = hits.get(hit.passage_id, hit)
            hits[hit.passage_id] = replace(known, scores={**known.scores, name: hit.score})
    return list(hits.values())


def _reciprocal_ranks(hits: Sequence[Hit]) -> dict[PassageId, float]:
    return {hit.passage_id: 1 / (RRF_K + rank) for rank, hit in enumerate(hits, 1)}

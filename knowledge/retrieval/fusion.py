"""Fusion: one ranking from what several routes found. Pure.

Score fusion puts every candidate on two scales, words (BM25) and meaning (cosine), standardises
each over the candidates and adds them. Reciprocal ranks remain for comparison.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from knowledge.documents import Hit, PassageId, SectionId
from knowledge.retrieval.recall import Recalled

RRF_K = 60
MEANING = "meaning"
"""Name of the score that rescoring finds a hit's cosines under."""
CODE_BONUS = 1.5
"""In standard deviations, for a passage that holds every exact code of the question."""
# Smaller spreads are noise of the arithmetic: the candidates are equal.
_NO_SPREAD = 1e-6

Scores = NDArray[np.float64]


def fuse(recalled: Recalled, *, method: Literal["score", "rrf"]) -> list[Hit]:
    """Return every recalled passage once, best first; ties by passage id.

    Score fusion works with what the routes report: a passage that the search by words did not
    find has no words, one that the search by vectors did not find has the lowest cosine it
    reports. `rescoring.rescore` replaces the words' part by exact BM25.
    """
    hits = _merge(recalled)
    if method == "rrf":
        ranks = [_reciprocal_ranks(found) for found in (recalled.terms, recalled.vector)]
        fused = [sum(rank.get(hit.passage_id, 0.0) for rank in ranks) for hit in hits]
        scored = [replace(hit, score=score) for hit, score in zip(hits, fused, strict=True)]
        return best_first(scored, stage="fused", code_bonus=1 / RRF_K)
    words = np.array([hit.scores.get("bm25", 0.0) for hit in hits], float)
    meaning = measure_meaning(hits, recalled.sections)
    scored = [
        replace(hit, score=float(total), scores={**hit.scores, MEANING: float(cosines)})
        for hit, total, cosines in zip(hits, add_standardised(words, meaning), meaning, strict=True)
    ]
    return best_first(scored, stage="fused")


def measure_meaning(hits: Sequence[Hit], sections: Sequence[Hit]) -> Scores:
    """Return the cosine of each passage plus the cosine of its section.

    A small passage is matched exactly, its section gives it context. A passage that no search
    reported counts as the farthest reported one; a section that none reported (often the passage
    is all of it) counts as near as the passage.
    """
    cosines = [hit.scores.get("vector") for hit in hits]
    floor = min((cosine for cosine in cosines if cosine is not None), default=0.0)
    near: dict[SectionId, float] = {}
    for section in sections:
        near[section.section_id] = max(section.score, near.get(section.section_id, -1.0))
    own = [floor if cosine is None else cosine for cosine in cosines]
    return np.array(
        [cosine + near.get(hit.section_id, cosine) for hit, cosine in zip(hits, own, strict=True)],
        float,
    )


def standardise(values: Scores, group: Scores) -> Scores:
    """Bring values to the mean 0 and standard deviation 1 of a group; a flat group gives zeros."""
    if not len(group) or group.std() <= _NO_SPREAD:
        return np.zeros_like(values)
    standardised: Scores = (values - group.mean()) / group.std()
    return standardised


def add_standardised(*scales: Scores) -> Scores:
    """Bring each scale to mean 0 and standard deviation 1 over the candidates, and add them.

    A scale on which all candidates are equal adds nothing.
    """
    total: Scores = np.sum([standardise(scale, scale) for scale in scales], axis=0)
    return total


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
    routes = {"bm25": recalled.terms, "vector": recalled.vector, "code": recalled.codes}
    hits: dict[PassageId, Hit] = {}
    for name, found in routes.items():
        for hit in found:
            known = hits.get(hit.passage_id, hit)
            hits[hit.passage_id] = replace(known, scores={**known.scores, name: hit.score})
    return list(hits.values())


def _reciprocal_ranks(hits: Sequence[Hit]) -> dict[PassageId, float]:
    return {hit.passage_id: 1 / (RRF_K + rank) for rank, hit in enumerate(hits, 1)}

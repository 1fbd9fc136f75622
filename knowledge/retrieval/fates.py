"""What became of each passage that recall found, and why, so that an answer can be explained."""

from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.documents import Hit, PassageId
from knowledge.retrieval import Fate, PassageFate
from knowledge.retrieval.recall import Recalled

MOST_RANKED = 30
MOST_LEFT_OUT = 10
"""Of those that were never ranked, for each reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sifting:
    """One search's passages after each stage that leaves some out, best first.

    Attributes:
        ranked: Candidates in their last order.
        before_rerank: Their order before the cross-encoder; the same without one.
        sections: How many sections the evidence may have.
    """

    recalled: Recalled
    fused: Sequence[Hit]
    admitted: Sequence[Hit]
    before_rerank: Sequence[Hit]
    ranked: Sequence[Hit]
    kept: Sequence[Hit]
    sections: int
    is_enough: bool


def judge_fates(sifting: Sifting) -> tuple[PassageFate, ...]:
    """Return the fates of the best passages in their last order, then of those left out earlier."""
    kept = _judge_kept(sifting)
    above = {hit.passage_id for hit in sifting.before_rerank[: len(sifting.kept)]}
    found = [
        _build(hit, kept.get(hit.passage_id) or _below_the_cut(hit, above))
        for hit in sifting.ranked[:MOST_RANKED]
    ]
    admitted = {hit.passage_id for hit in sifting.admitted}
    fused = {hit.passage_id for hit in sifting.fused}
    locked = [hit for hit in sifting.fused if hit.passage_id not in admitted]
    recalled = sifting.recalled
    routes = (recalled.terms, recalled.vector, recalled.foreign, recalled.codes)
    lost = {hit.passage_id: hit for route in routes for hit in route if hit.passage_id not in fused}
    found += [_build(hit, Fate.LOCKED) for hit in locked[:MOST_LEFT_OUT]]
    found += [_build(hit, Fate.FUSION) for hit in list(lost.values())[:MOST_LEFT_OUT]]
    return tuple(found)


def _judge_kept(sifting: Sifting) -> dict[PassageId, Fate]:
    sections: dict[str, None] = {}
    fates = {}
    for hit in sifting.kept:
        is_first = hit.section_id not in sections
        sections.setdefault(hit.section_id)
        if list(sections).index(hit.section_id) >= sifting.sections:
            fate = Fate.SECTION_LIMIT
        elif not sifting.is_enough:
            fate = Fate.BELOW_THRESHOLD
        else:
            fate = Fate.KEPT if is_first else Fate.SAME_SECTION
        fates[hit.passage_id] = fate
    return fates


def _below_the_cut(hit: Hit, above: set[PassageId]) -> Fate:
    return Fate.RERANKED if hit.passage_id in above else Fate.CUT


def _build(hit: Hit, fate: Fate) -> PassageFate:
    scores = {name: round(score, 4) for name, score in hit.scores.items()}
    return PassageFate(passage_id=hit.passage_id, fate=fate, scores=scores)

"""Fusion: one ranking from what several routes found. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from knowledge.documents import Hit, PassageId
from knowledge.retrieval.recall import Recalled

RRF_K = 60


def fuse(recalled: Recalled, *, method: Literal["score", "rrf"]) -> list[Hit]:
    """Return every passage once, best first; ties by passage id.

    Score fusion adds BM25 divided by its maximum and the cosine rescaled so that the best is 1
    and the last recalled one 0. RRF adds 1 / (60 + rank). Passages with an exact code come first.
    """
    routes = {"bm25": recalled.terms, "vector": recalled.vector, "code": recalled.codes}
    shares = {
        name: _by_rank(hits) if method == "rrf" else _by_score(name, hits)
        for name, hits in routes.items()
    }
    hits: dict[PassageId, Hit] = {}
    for name, found in routes.items():
        for hit in found:
            known = hits.get(hit.passage_id, hit)
            hits[hit.passage_id] = replace(known, scores={**known.scores, name: hit.score})
    fused = []
    for passage_id, hit in hits.items():
        score = sum(share.get(passage_id, 0.0) for share in shares.values())
        fused.append(replace(hit, score=score, scores={**hit.scores, "fused": score}))
    return sorted(fused, key=lambda hit: (-hit.score, hit.passage_id))


def _by_rank(hits: Sequence[Hit]) -> dict[PassageId, float]:
    return {hit.passage_id: 1 / (RRF_K + rank) for rank, hit in enumerate(hits, 1)}


def _by_score(name: str, hits: Sequence[Hit]) -> dict[PassageId, float]:
    if not hits:
        return {}
    best, last = hits[0].score, hits[-1].score
    if name != "vector":
        return {hit.passage_id: hit.score / best for hit in hits if best > 0}
    spread = (best - last) or 1.0
    return {hit.passage_id: (hit.score - last) / spread for hit in hits}

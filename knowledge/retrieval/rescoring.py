"""Rescoring of candidates by BM25 over weighted terms, with the whole index's statistics. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rank_bm25 import BM25Okapi

from knowledge.documents import Hit
from knowledge.ledger_records import TermStatistics


def rescore(
    hits: Sequence[Hit], terms: Mapping[str, float], statistics: TermStatistics
) -> list[Hit]:
    """Add BM25 of each candidate for the weighted terms to its score; best first.

    rank-bm25 fitted on a hundred candidates takes their words for the language; so it is given
    idf and average length of the whole index.
    """
    if not hits or not terms or not statistics.rows:
        return list(hits)
    ranker = BM25Okapi([hit.terms.split() or [""] for hit in hits])
    ranker.avgdl = statistics.average_length
    ranker.idf = {term: statistics.idf(term) for term in terms}
    totals = sum(weight * ranker.get_scores([term]) for term, weight in terms.items())
    best = max(totals) or 1.0
    rescored = [
        replace(hit, score=score, scores={**hit.scores, "rescored": score})
        for hit, total in zip(hits, totals, strict=True)
        for score in [hit.score + float(total / best)]
    ]
    return sorted(rescored, key=lambda hit: (-hit.score, hit.passage_id))

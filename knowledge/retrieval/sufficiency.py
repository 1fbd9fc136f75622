"""Whether the evidence is good enough to answer from. Pure."""

import math
from collections.abc import Mapping, Sequence

from knowledge.documents import Hit
from knowledge.ledger_records import TermStatistics
from knowledge.retrieval import Sufficiency


def judge_sufficiency(
    terms: Mapping[str, float], hits: Sequence[Hit], statistics: TermStatistics
) -> Sufficiency:
    """Judge by how much of the question's weight the best passages cover."""
    if not hits:
        return Sufficiency(is_enough=False, confidence=0.0, features={}, reasons=("no hits",))
    weights = {
        term: weight
        * math.log(1 + statistics.rows / (1 + statistics.document_frequency.get(term, 0)))
        for term, weight in terms.items()
    }
    total = sum(weights.values()) or 1.0
    best = max(
        sum(weight for term, weight in weights.items() if term in set(hit.terms.split())) / total
        for hit in hits[:5]
    )
    return Sufficiency(is_enough=best >= 0.3, confidence=best, features={"coverage": best})

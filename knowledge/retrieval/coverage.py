"""How much of a question stands in a text. Pure."""

from collections.abc import Iterable, Mapping

from knowledge.ledger_records import TermStatistics

LITTLE = 0.384
"""Below this the words found speak of something else; docs/retrieval.md tells how it was fitted."""


def measure_coverage(
    terms: Mapping[str, float], statistics: TermStatistics, texts: Iterable[str]
) -> float:
    """Return the largest share of a question's weight that one text holds, 0..1.

    Args:
        terms: The question's weighted terms.
        statistics: Of the whole index; rare terms weigh more.
        texts: Analysed texts, terms separated by spaces.
    """
    weights = statistics.weigh(terms)
    total = sum(weights.values()) or 1.0
    held = (set(text.split()) for text in texts)
    return max(
        (sum(weights[term] for term in weights.keys() & one) / total for one in held), default=0.0
    )

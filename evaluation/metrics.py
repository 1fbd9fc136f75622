"""What is measured of rankings, refusals and times. Pure functions; every share is 0..1.

A ranking is a list of corpus ids, best first, each once: an item stands where its best passage
stood. A near-duplicate of the evidence counts as the evidence, but finding both earns no more than
finding one, so that no question scores above 1.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

RECALL_DEPTHS = (1, 5, 10)
RANKING_DEPTH = 50
"""Ranks beyond it count as not found."""
GAIN_DEPTH = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """What counts as found for one question.

    Attributes:
        needed: How many different items make the evidence whole.
        accepted: The evidence and its near-duplicates.
    """

    needed: int
    accepted: frozenset[str]

    @classmethod
    def of(cls, evidence: Collection[str], alternatives: Collection[str] = ()) -> "Right":
        """Build from the evidence and its near-duplicates; evidence must not be empty."""
        if not evidence:
            raise ValueError("a question without evidence has no ranking to judge")
        return cls(needed=len(set(evidence)), accepted=frozenset(evidence) | set(alternatives))


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """What a gate refuses that lets through nothing below `threshold`."""

    threshold: float
    wrongly_refused: float
    rightly_refused: Mapping[str, float]


def rank_items(items: Iterable[str]) -> tuple[str, ...]:
    """Keep each item at its best place; the first RANKING_DEPTH of them."""
    return tuple(dict.fromkeys(items))[:RANKING_DEPTH]


def measure_recall(ranking: Sequence[str], right: Right, *, depth: int) -> float:
    """Share of the right items, at most `depth`, among the first `depth`.

    At depth 1 this is whether a right item comes first.
    """
    reachable = min(right.needed, depth)
    found = sum(item in right.accepted for item in ranking[:depth])
    return min(found, reachable) / reachable


def measure_reciprocal_rank(ranking: Sequence[str], right: Right) -> float:
    """Return 1 / rank of the first right item, 0 when there is none in RANKING_DEPTH."""
    for rank, item in enumerate(ranking[:RANKING_DEPTH], start=1):
        if item in right.accepted:
            return 1 / rank
    return 0.0


def measure_ndcg(ranking: Sequence[str], right: Right, *, depth: int = GAIN_DEPTH) -> float:
    """Normalised discounted cumulative gain with equal gains: 1 when the right items lead.

    Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, 2002.
    """
    gain, found = 0.0, 0
    for rank, item in enumerate(ranking[:depth], start=1):
        if item in right.accepted and found < right.needed:
            gain += 1 / math.log2(rank + 1)
            found += 1
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(right.needed, depth) + 1))
    return gain / ideal


def measure_citation_precision(cited: Collection[str], right: Right) -> float | None:
    """Share of the cited items that are right; None without any citation."""
    distinct = set(cited)
    return len(distinct & right.accepted) / len(distinct) if distinct else None


def compute_mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values there are; None when there are none."""
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None


def compute_share(claims: Iterable[bool]) -> float | None:
    """Return the share of true claims; None when there are none."""
    return compute_mean(float(claim) for claim in claims)


def compute_percentile(values: Sequence[float], percent: float) -> float | None:
    """Return the smallest value that at least `percent` % of the values do not exceed.

    A value that was really measured (nearest rank), never one in between; None without values.
    """
    if not values:
        return None
    rank = math.ceil(percent / 100 * len(values))
    return sorted(values)[max(rank, 1) - 1]


def measure_separation(answerable: Sequence[float], unanswerable: Sequence[float]) -> float | None:
    """Chance that an answerable question has the higher confidence; a tie counts one half.

    The area under the curve that `build_refusal_curve` samples; None when a side is empty.
    """
    if not answerable or not unanswerable:
        return None
    won = sum(
        1.0 if high > low else 0.5 if high == low else 0.0
        for high in answerable
        for low in unanswerable
    )
    return won / (len(answerable) * len(unanswerable))


def build_refusal_curve(
    answerable: Sequence[float], unanswerable: Mapping[str, Sequence[float]]
) -> tuple[CurvePoint, ...]:
    """Return what a gate on the confidence would refuse, at every threshold that matters.

    Thresholds are the distinct confidences of answerable questions in rising order and one just
    above the last, so each point refuses more answerable questions than the one before. Groups
    without questions are left out.
    """
    levels = sorted(set(answerable))
    if not levels:
        return ()
    groups = {name: values for name, values in unanswerable.items() if values}
    return tuple(
        CurvePoint(
            threshold=threshold,
            wrongly_refused=_share_below(answerable, threshold),
            rightly_refused={
                name: _share_below(values, threshold) for name, values in groups.items()
            },
        )
        for threshold in (*levels, math.nextafter(levels[-1], math.inf))
    )


def find_operating_point(
    curve: Sequence[CurvePoint], *, most_wrongly_refused: float
) -> CurvePoint | None:
    """Return the strictest point that stays within the allowed share of wrong refusals."""
    allowed = [point for point in curve if point.wrongly_refused <= most_wrongly_refused]
    return allowed[-1] if allowed else None


def _share_below(values: Sequence[float], threshold: float) -> float:
    return sum(value < threshold for value in values) / len(values)

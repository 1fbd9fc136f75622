from itertools import pairwise

import pytest

from knowledge.documents import Hit
from knowledge.retrieval.cut import MOST_TIES, NEAR_TIE_SHARE, cut_hits
from tests.unit.knowledge.retrieval.hit_samples import make_hit


def scored(*scores: float) -> list[Hit]:
    return [make_hit(f"p{number}", score) for number, score in enumerate(scores)]


def scores(hits: list[Hit]) -> list[float]:
    return [hit.score for hit in hits]


def test_what_stands_out_is_cut_at_the_limit() -> None:
    assert scores(cut_hits(scored(9.0, 5.0, 4.0, 1.0), limit=3)) == [9.0, 5.0, 4.0]


def test_a_near_tie_with_the_last_kept_hit_is_kept_as_well() -> None:
    last = 4.0
    tie = last - NEAR_TIE_SHARE * (9.0 - last) * 0.9
    assert scores(cut_hits(scored(9.0, last, tie, 1.0), limit=2)) == [9.0, last, tie]


def test_the_first_hit_that_is_no_tie_ends_the_cut() -> None:
    assert scores(cut_hits(scored(9.0, 4.0, 3.0, 4.0), limit=2)) == [9.0, 4.0]


def test_equal_scores_are_ties_up_to_a_bound() -> None:
    assert len(cut_hits(scored(*[2.0] * 20), limit=2)) == 2 + MOST_TIES


@pytest.mark.parametrize(("limit", "kept"), [(0, 0), (2, 2), (3, 3), (5, 3)])
def test_fewer_hits_than_wanted_are_all_kept(limit: int, kept: int) -> None:
    assert len(cut_hits(scored(3.0, 2.0, 1.0), limit=limit)) == kept


def test_no_hits_are_no_error() -> None:
    assert cut_hits([], limit=5) == []


def test_ties_are_measured_alike_below_zero() -> None:
    kept = cut_hits(scored(1.0, -4.0, -4.1, -6.0), limit=2)
    assert scores(kept) == [1.0, -4.0, -4.1]
    assert all(first >= second for first, second in pairwise(scores(kept)))

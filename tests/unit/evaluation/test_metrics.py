"""Metrics against values worked out by hand, and their bounds over anything."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import (
    Right,
    build_refusal_curve,
    compute_mean,
    compute_percentile,
    compute_share,
    find_operating_point,
    measure_citation_precision,
    measure_ndcg,
    measure_recall,
    measure_reciprocal_rank,
    measure_separation,
    rank_items,
)

ITEMS = st.sampled_from([f"i{number}" for number in range(60)])
RANKINGS = st.lists(ITEMS, unique=True, max_size=60)
RIGHTS = st.builds(Right.of, st.sets(ITEMS, min_size=1, max_size=12), st.sets(ITEMS, max_size=5))
SHARES = st.floats(min_value=0, max_value=1)


def test_recall_at_one_is_whether_a_right_item_comes_first() -> None:
    right = Right.of(["a", "b", "c"])
    assert measure_recall(["b", "x"], right, depth=1) == 1
    assert measure_recall(["x", "a", "b", "c"], right, depth=1) == 0


def test_recall_at_five_is_the_share_of_the_right_items() -> None:
    right = Right.of(["a", "b", "c", "d"])
    assert measure_recall(["a", "x", "b", "y", "c", "d"], right, depth=5) == 0.75


def test_recall_never_asks_for_more_items_than_fit() -> None:
    right = Right.of([f"i{number}" for number in range(9)])
    assert measure_recall(["i0", "i1", "i2", "i3", "i4"], right, depth=5) == 1
    assert measure_recall(["i0", "i1", "x", "y", "z"], right, depth=5) == 0.4


def test_a_near_duplicate_counts_as_the_evidence_but_not_twice() -> None:
    right = Right.of(["a", "b"], ["a2"])
    assert measure_recall(["a2", "x"], right, depth=1) == 1
    assert measure_recall(["a2", "b"], right, depth=5) == 1
    assert measure_recall(["a", "a2", "b"], right, depth=5) == 1
    assert measure_ndcg(["a", "a2", "b"], right) == 1


def test_reciprocal_rank_looks_at_the_first_right_item_within_fifty() -> None:
    right = Right.of(["a", "b"])
    wrong = [f"x{number}" for number in range(49)]
    assert measure_reciprocal_rank(["x", "y", "b", "a"], right) == pytest.approx(1 / 3)
    assert measure_reciprocal_rank([*wrong, "a"], right) == pytest.approx(1 / 50)
    assert measure_reciprocal_rank([*wrong, "x49", "a"], right) == 0


def test_ndcg_by_hand() -> None:
    right = Right.of(["a", "b"])
    expected = (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    assert measure_ndcg(["x", "a", "y", "b"], right) == pytest.approx(expected)
    assert measure_ndcg([*"cdefghijkl", "a"], right) == 0


def test_a_question_without_evidence_cannot_be_ranked() -> None:
    with pytest.raises(ValueError, match="without evidence"):
        Right.of([])


def test_items_are_ranked_by_their_best_passage_each_once() -> None:
    assert rank_items(["b", "a", "b", "c", "a"]) == ("b", "a", "c")
    assert len(rank_items(str(number) for number in range(80))) == 50


@given(RANKINGS, RIGHTS)
def test_ranking_metrics_are_shares(ranking: list[str], right: Right) -> None:
    for depth in (1, 5, 10):
        assert 0 <= measure_recall(ranking, right, depth=depth) <= 1
    assert 0 <= measure_reciprocal_rank(ranking, right) <= 1
    assert 0 <= measure_ndcg(ranking, right) <= 1 + 1e-12


@given(RIGHTS, RANKINGS)
def test_right_items_in_front_give_full_marks(right: Right, rest: list[str]) -> None:
    front = sorted(right.accepted)[:50]
    ranking = [*front, *(item for item in rest if item not in right.accepted)]
    if right.needed <= len(front):
        assert measure_recall(ranking, right, depth=5) == 1
        assert measure_reciprocal_rank(ranking, right) == 1
        assert measure_ndcg(ranking, right) == pytest.approx(1)


@given(RANKINGS, RIGHTS)
def test_moving_the_first_item_to_the_end_never_helps(ranking: list[str], right: Right) -> None:
    if ranking and ranking[0] in right.accepted:
        worse = [*ranking[1:], ranking[0]]
        assert measure_ndcg(worse, right) <= measure_ndcg(ranking, right) + 1e-12
        assert measure_reciprocal_rank(worse, right) <= measure_reciprocal_rank(ranking, right)


def test_citation_precision_counts_each_item_once() -> None:
    right = Right.of(["a"], ["a2"])
    assert measure_citation_precision(["a", "a", "x"], right) == 0.5
    assert measure_citation_precision(["a2"], right) == 1
    assert measure_citation_precision([], right) is None


def test_means_leave_out_what_was_not_measured() -> None:
    assert compute_mean([1.0, None, 0.0]) == 0.5
    assert compute_mean([None]) is None
    assert compute_share([True, True, False, True]) == 0.75
    assert compute_share([]) is None


def test_percentiles_are_measured_values_by_nearest_rank() -> None:
    values = [50.0, 15.0, 40.0, 20.0, 35.0]
    assert compute_percentile(values, 30) == 20
    assert compute_percentile(values, 50) == 35
    assert compute_percentile(values, 100) == 50
    assert compute_percentile(values, 0) == 15
    assert compute_percentile([], 50) is None


@given(st.lists(SHARES, min_size=1), st.floats(min_value=0, max_value=100))
def test_a_percentile_is_one_of_the_values_and_covers_its_share(
    values: list[float], percent: float
) -> None:
    found = compute_percentile(values, percent)
    assert found in values
    assert sum(value <= found for value in values) >= percent / 100 * len(values) - 1e-9


def test_separation_by_hand() -> None:
    assert measure_separation([0.9, 0.5], [0.5, 0.1]) == pytest.approx(3.5 / 4)
    assert measure_separation([0.9], []) is None
    assert measure_separation([0.2], [0.9]) == 0


def test_refusal_curve_by_hand() -> None:
    curve = build_refusal_curve([0.9, 0.6, 0.6, 0.2], {"own": [0.1, 0.5], "none": []})
    assert [(point.threshold, point.wrongly_refused) for point in curve[:3]] == [
        (0.2, 0.0),
        (0.6, 0.25),
        (0.9, 0.75),
    ]
    assert [point.rightly_refused["own"] for point in curve] == [0.5, 1.0, 1.0, 1.0]
    assert curve[-1].wrongly_refused == 1
    assert "none" not in curve[0].rightly_refused
    assert build_refusal_curve([], {"own": [0.1]}) == ()


def test_the_operating_point_is_the_strictest_allowed() -> None:
    curve = build_refusal_curve([0.9, 0.8, 0.3, 0.2], {"own": [0.5]})
    point = find_operating_point(curve, most_wrongly_refused=0.5)
    assert point is not None
    assert (point.threshold, point.wrongly_refused) == (0.8, 0.5)
    assert find_operating_point((), most_wrongly_refused=0.05) is None


@given(st.lists(SHARES, min_size=1), st.lists(SHARES, min_size=1))
def test_a_higher_threshold_never_refuses_less(
    answerable: list[float], unanswerable: list[float]
) -> None:
    curve = build_refusal_curve(answerable, {"own": unanswerable})
    assert curve[0].wrongly_refused == 0
    assert curve[-1].wrongly_refused == 1
    for one, other in itertools.pairwise(curve):
        assert one.wrongly_refused < other.wrongly_refused
        assert one.rightly_refused["own"] <= other.rightly_refused["own"]

"""Routes by likeness: what decides, and how sure."""

import numpy as np
import pytest

from bot.routing import Route
from bot.routing.examples import Part, load_examples
from bot.routing.features import COLUMNS, build_features
from bot.routing.prototypes import Prototypes, fit_prototypes
from bot.routing.router import SURE, SURE_OF_SMALL_TALK, choose

_NO_VECTOR = np.empty(0, np.float32)


@pytest.fixture(scope="module")
def by_words() -> Prototypes:
    return fit_prototypes(load_examples(), None)


def test_words_alone_tell_routes_far_better_than_chance(by_words: Prototypes) -> None:
    held = [one for one in load_examples() if one.part is Part.TEST]
    right = 0
    for one in held:
        chances = by_words.judge(one.text, _NO_VECTOR)
        right += max(chances, key=lambda route: chances[route]) is one.route
    assert right / len(held) > 0.65


def test_chances_add_up_to_one(by_words: Prototypes) -> None:
    for text in ("", "x", "年假几天", "a" * 10_000, "\ud800 broken", "🙂"):
        assert sum(by_words.judge(text, _NO_VECTOR).values()) == pytest.approx(1)


def test_vectors_count_where_there_are_any() -> None:
    examples = load_examples()
    # A perfect embedder: all messages of a route lie at one place.
    places = dict(zip(Route, np.eye(len(Route), 8, dtype=np.float32), strict=True))
    fitted = fit_prototypes(examples, {one.text: places[one.route] for one in examples})
    assert fitted.reads_meaning
    for route, place in places.items():
        chances = fitted.judge("zzz", place)
        assert max(chances, key=lambda one: chances[one]) is route


def test_features_are_of_length_one() -> None:
    rows = build_features(["How do I do this?", "怎么办", ""])
    assert rows.shape == (3, COLUMNS)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)


def _chances(**named: float) -> dict[Route, float]:
    rest = (1 - sum(named.values())) / (len(Route) - len(named))
    return {route: named.get(route.value, rest) for route in Route}


def test_small_talk_takes_more_confidence_than_a_search() -> None:
    between = (SURE + SURE_OF_SMALL_TALK) / 2
    assert choose(_chances(multi_hop=between)).route is Route.MULTI_HOP
    for route in (Route.CHITCHAT, Route.CLARIFY, Route.HELP):
        doubtful = choose(_chances(**{route.value: between}))
        assert doubtful.route is Route.FAQ
        assert not doubtful.is_sure
        assert doubtful.if_nothing is route
        assert choose(_chances(**{route.value: 0.4})).if_nothing is None
        assert choose(_chances(**{route.value: 0.95})).route is route


def test_below_the_threshold_the_likeliest_search_is_not_sure() -> None:
    routing = choose(_chances(action=SURE - 0.1))
    assert routing.route is Route.ACTION
    assert not routing.is_sure

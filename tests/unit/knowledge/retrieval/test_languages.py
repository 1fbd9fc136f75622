import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.languages import Language
from knowledge.retrieval.languages import add_across_languages, find_foreign, standardise
from tests.unit.knowledge.retrieval.hit_samples import make_hit


def test_only_texts_of_the_other_language_are_foreign() -> None:
    texts = ["试用期前两个月不安排居家办公", "Up to two days a week at home"]
    hits = [make_hit(text, text=text) for text in texts]
    assert find_foreign(hits, Language.CHINESE).tolist() == [False, True]
    assert find_foreign(hits, Language.OTHER).tolist() == [True, False]
    assert find_foreign(hits, None).tolist() == [False, False]


def test_one_language_is_standardised_as_a_whole() -> None:
    words, meaning = np.array([3.0, 1.0, 2.0]), np.array([0.9, 0.8, 0.7])
    none = np.zeros(3, bool)
    total = add_across_languages(words, meaning, none)
    assert np.allclose(total.mean(), 0)
    assert np.allclose(total, add_across_languages(words, meaning, ~none))


def test_the_best_page_of_the_other_language_comes_before_weak_pages_of_our_own() -> None:
    # Six of our own with some words and nearer vectors throughout, six foreign ones without words.
    words = np.array([6.0, 2.0, 2.0, 1.0, 1.0, 1.0] + [0.0] * 6)
    meaning = np.array([0.90, 0.85, 0.84, 0.84, 0.83, 0.83, 0.82, 0.75, 0.74, 0.74, 0.73, 0.73])
    foreign = np.array([False] * 6 + [True] * 6)
    order = np.argsort(-add_across_languages(words, meaning, foreign)).tolist()
    assert order[:2] == [0, 6]


def test_a_code_that_stands_in_the_foreign_page_still_counts() -> None:
    words = np.array([5.0, 1.0, 1.0, 1.0, 9.0, 0.0])
    meaning = np.array([0.8, 0.8, 0.8, 0.8, 0.8, 0.8])
    foreign = np.array([False, False, False, False, True, True])
    assert int(np.argmax(add_across_languages(words, meaning, foreign))) == 4


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30),
    st.floats(0.01, 100),
    st.floats(-50, 50),
)
def test_scales_do_not_depend_on_unit_or_origin(
    values: list[float], unit: float, origin: float
) -> None:
    scale = np.array(values)
    if scale.std() < 0.01:
        return
    scaled = scale * unit + origin
    np.testing.assert_allclose(standardise(scale, scale), standardise(scaled, scaled), atol=1e-5)


def test_a_scale_without_differences_adds_nothing() -> None:
    scale, none = np.array([1.0, 2.0, 3.0]), np.zeros(3, bool)
    total = add_across_languages(scale, np.ones(3), none)
    assert total.tolist() == pytest.approx(standardise(scale, scale).tolist())

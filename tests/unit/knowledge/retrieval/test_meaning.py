import numpy as np
import pytest

from knowledge.documents import PassageId, SectionId
from knowledge.retrieval.meaning import (
    FEWEST_VECTORS,
    fit_whitening,
    measure_exactly,
)
from tests.unit.knowledge.retrieval.hit_samples import make_hit


def unit(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    vector = np.array(values, np.float32)
    return vector / np.linalg.norm(vector)


def test_a_passage_counts_with_its_section() -> None:
    hits = [make_hit("a", section="s1"), make_hit("b", section="s2")]
    vectors = {PassageId("a"): unit(1, 0), PassageId("b"): unit(1, 0)}
    sections = {SectionId("s1"): unit(1, 0), SectionId("s2"): unit(0, 1)}
    measured = measure_exactly(hits, unit(1, 0), vectors, sections, None)
    assert measured == pytest.approx({"a": 2.0, "b": 1.0})


def test_a_lone_passage_is_as_near_as_itself_twice() -> None:
    measured = measure_exactly([make_hit("a")], unit(1, 0), {PassageId("a"): unit(1, 1)}, {}, None)
    assert measured == pytest.approx({"a": 2**0.5})


def test_hits_without_a_vector_are_left_out() -> None:
    assert measure_exactly([make_hit("a")], unit(1, 0), {}, {}, None) == {}


def test_whitening_lets_the_particular_count() -> None:
    """All vectors share one large part; the question differs in a small one."""
    rng = np.random.default_rng(3)
    common = np.zeros(16, np.float32)
    common[0] = 10.0
    rows = common + rng.normal(size=(500, 16)).astype(np.float32)
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    whitening = fit_whitening(rows)
    assert whitening is not None
    evened = whitening.apply(rows)
    assert np.abs(evened.mean(axis=0)).max() < 0.05
    assert (rows @ rows[0]).std() < (evened @ evened[0]).std() / 5


def test_too_few_vectors_are_not_whitened() -> None:
    assert fit_whitening(np.eye(8, dtype=np.float32)) is None
    assert FEWEST_VECTORS > 8


def test_equal_vectors_are_no_division_by_zero() -> None:
    whitening = fit_whitening(np.full((FEWEST_VECTORS, 4), 0.5, np.float32))
    assert whitening is not None
    assert np.isfinite(whitening.apply(np.ones((2, 4), np.float32))).all()

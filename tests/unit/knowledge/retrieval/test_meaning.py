import numpy as np
import pytest

from knowledge.documents import PassageId, SectionId
from knowledge.retrieval.meaning import measure_exactly
from tests.unit.knowledge.retrieval.hit_samples import make_hit


def unit(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    vector = np.array(values, np.float32)
    return vector / np.linalg.norm(vector)


def test_a_passage_counts_with_its_section() -> None:
    hits = [make_hit("a", section="s1"), make_hit("b", section="s2")]
    vectors = {PassageId("a"): unit(1, 0), PassageId("b"): unit(1, 0)}
    sections = {SectionId("s1"): unit(1, 0), SectionId("s2"): unit(0, 1)}
    measured = measure_exactly(hits, unit(1, 0), vectors, sections)
    assert measured == pytest.approx({"a": 2.0, "b": 1.0})


def test_a_lone_passage_is_as_near_as_itself_twice() -> None:
    measured = measure_exactly([make_hit("a")], unit(1, 0), {PassageId("a"): unit(1, 1)}, {})
    assert measured == pytest.approx({"a": 2**0.5})


def test_hits_without_a_vector_are_left_out() -> None:
    assert measure_exactly([make_hit("a")], unit(1, 0), {}, {}) == {}

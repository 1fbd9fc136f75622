import pytest

from knowledge.documents import PassageId
from knowledge.retrieval.meaning import COSINE, add_sections, measure_cosines, read_cosines
from tests.unit.knowledge.retrieval.hit_samples import make_hit, unit

ASKED = unit(1, 0)


def test_every_hit_with_a_vector_gets_its_own_cosine() -> None:
    hits = [make_hit("a", vector=unit(1, 0)), make_hit("b"), make_hit("c", vector=unit(1, 1))]
    measured = measure_cosines(hits, ASKED)
    assert measured[0].scores[COSINE] == pytest.approx(1.0)
    assert COSINE not in measured[1].scores
    assert measured[2].scores[COSINE] == pytest.approx(2**-0.5)


def test_a_hit_without_a_cosine_counts_as_the_farthest() -> None:
    hits = measure_cosines(
        [make_hit("a", vector=unit(1, 0)), make_hit("b"), make_hit("c", vector=unit(1, 1))], ASKED
    )
    assert read_cosines(hits).tolist() == pytest.approx([1.0, 2**-0.5, 2**-0.5])
    assert read_cosines([make_hit("a")]).tolist() == [0.0]


def test_a_passage_counts_with_its_section() -> None:
    hits = measure_cosines(
        [make_hit(name, section=f"s-{name}", vector=unit(1, 0)) for name in "ab"], ASKED
    )
    sections = {
        PassageId("a"): make_hit("row a", section="s-a", vector=unit(1, 0)),
        PassageId("b"): make_hit("row b", section="s-b", vector=unit(0, 1)),
    }
    assert add_sections(hits, ASKED, sections).tolist() == pytest.approx([2.0, 1.0])


def test_a_lone_passage_is_as_near_as_itself_twice() -> None:
    hits = measure_cosines([make_hit("a", vector=unit(1, 1))], ASKED)
    assert add_sections(hits, ASKED, {}).tolist() == pytest.approx([2**0.5])


def test_a_section_without_a_vector_counts_as_its_passage() -> None:
    hits = measure_cosines([make_hit("a", vector=unit(1, 1))], ASKED)
    assert add_sections(hits, ASKED, {PassageId("a"): make_hit("row")}).tolist() == pytest.approx(
        [2**0.5]
    )

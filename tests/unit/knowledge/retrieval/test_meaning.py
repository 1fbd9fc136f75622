import pytest

from knowledge.documents import Hit, PassageId
from knowledge.retrieval.meaning import COSINE, add_sections, note_cosines, read_cosines
from tests.unit.knowledge.retrieval.hit_samples import make_hit, unit

ASKED = unit(1, 0)


def measure(hits: list[Hit]) -> list[Hit]:
    note_cosines(hits, [hit.scores for hit in hits], ASKED)
    return hits


def test_every_hit_with_a_vector_gets_its_own_cosine() -> None:
    near, unknown, far = measure(
        [make_hit("a", vector=unit(1, 0)), make_hit("b"), make_hit("c", vector=unit(1, 1))]
    )
    assert near.scores[COSINE] == pytest.approx(1.0)
    assert COSINE not in unknown.scores
    assert far.scores[COSINE] == pytest.approx(2**-0.5)


def test_a_hit_without_a_cosine_counts_as_the_farthest() -> None:
    scores = [{COSINE: 0.9}, {}, {COSINE: 0.7}]
    assert read_cosines(scores).tolist() == pytest.approx([0.9, 0.7, 0.7])
    assert read_cosines([{}]).tolist() == [0.0]


def test_a_passage_counts_with_its_section() -> None:
    hits = measure([make_hit(name, section=f"s-{name}", vector=unit(1, 0)) for name in "ab"])
    sections = {
        PassageId("a"): make_hit("row a", section="s-a", vector=unit(1, 0)),
        PassageId("b"): make_hit("row b", section="s-b", vector=unit(0, 1)),
    }
    assert add_sections(hits, ASKED, sections).tolist() == pytest.approx([2.0, 1.0])


def test_a_lone_passage_is_as_near_as_itself_twice() -> None:
    hits = measure([make_hit("a", vector=unit(1, 1))])
    assert add_sections(hits, ASKED, {}).tolist() == pytest.approx([2**0.5])


def test_a_section_without_a_vector_counts_as_its_passage() -> None:
    hits = measure([make_hit("a", vector=unit(1, 1))])
    assert add_sections(hits, ASKED, {PassageId("a"): make_hit("row")}).tolist() == pytest.approx(
        [2**0.5]
    )

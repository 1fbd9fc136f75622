import numpy as np

from knowledge.documents import PassageId, SectionId
from knowledge.retrieval.candidates import ROWS_RECORDED, Candidates, StageLog
from tests.unit.knowledge.retrieval.hit_samples import make_hit

FIRST = make_hit("a", 2.0, section="s1")
SECOND = make_hit("b", 1.0, section="s2")
SECTION = make_hit("whole", section="s1", terms="disk full", text="the whole section")
ONE = np.array([1.0, 0.0], np.float32)
OTHER = np.array([0.0, 1.0], np.float32)


def test_joining_adds_what_is_not_there_and_keeps_what_is() -> None:
    mine = Candidates(hits=(FIRST,), vectors={PassageId("a"): ONE})
    others = Candidates(
        hits=(make_hit("a", 9.0, section="s1"), SECOND),
        sections={PassageId("b"): SECTION},
        vectors={PassageId("a"): OTHER, PassageId("b"): OTHER},
    )
    joined = mine.joined(others)
    assert joined.hits == (FIRST, SECOND)
    assert joined.sections == {PassageId("b"): SECTION}
    assert joined.vectors[PassageId("a")] is ONE
    assert joined.vectors[PassageId("b")] is OTHER


def test_ordering_keeps_sections_and_vectors() -> None:
    candidates = Candidates(
        hits=(FIRST, SECOND), sections={PassageId("a"): SECTION}, vectors={PassageId("a"): ONE}
    )
    ordered = candidates.ordered([SECOND, FIRST])
    assert ordered.hits == (SECOND, FIRST)
    assert (ordered.sections, ordered.vectors) == (candidates.sections, candidates.vectors)


def test_sections_are_given_by_their_id() -> None:
    candidates = Candidates(
        hits=(FIRST,), sections={PassageId("a"): SECTION}, vectors={PassageId("whole"): OTHER}
    )
    assert candidates.section_terms() == {SectionId("s1"): "disk full"}
    assert list(candidates.section_vectors()) == [SectionId("s1")]
    assert candidates.section_vectors()[SectionId("s1")] is OTHER


def test_a_section_without_a_vector_has_none() -> None:
    candidates = Candidates(hits=(FIRST,), sections={PassageId("a"): SECTION})
    assert candidates.section_vectors() == {}


def test_the_log_has_a_record_a_stage_with_its_best_rows() -> None:
    log = StageLog()
    log.note("recall", [make_hit(f"p{number:02}", -number) for number in range(30)])
    log.note("judge", note="0.70")
    recall, judge = log.records
    assert (recall.stage, len(recall.rows), recall.rows[1]) == (
        "recall",
        ROWS_RECORDED,
        ("p01", -1),
    )
    assert (judge.stage, judge.rows, judge.note) == ("judge", (), "0.70")
    assert 0 <= recall.took_ms + judge.took_ms <= log.took_ms

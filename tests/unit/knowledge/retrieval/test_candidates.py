from knowledge.documents import PassageId
from knowledge.retrieval.candidates import ROWS_RECORDED, Candidates, StageLog
from tests.unit.knowledge.retrieval.hit_samples import make_hit

FIRST = make_hit("a", 2.0, section="s1")
SECOND = make_hit("b", 1.0, section="s2")
SECTION = make_hit("whole", section="s1", terms="disk full", text="the whole section")


def test_joining_adds_what_is_not_there_and_keeps_what_is() -> None:
    mine = Candidates(hits=(FIRST,))
    others = Candidates(
        hits=(make_hit("a", 9.0, section="s1"), SECOND), sections={PassageId("b"): SECTION}
    )
    joined = mine.joined(others)
    assert joined.hits == (FIRST, SECOND)
    assert joined.sections == {PassageId("b"): SECTION}


def test_ordering_keeps_sections() -> None:
    candidates = Candidates(hits=(FIRST, SECOND), sections={PassageId("a"): SECTION})
    ordered = candidates.ordered([SECOND, FIRST])
    assert ordered.hits == (SECOND, FIRST)
    assert ordered.sections == candidates.sections


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

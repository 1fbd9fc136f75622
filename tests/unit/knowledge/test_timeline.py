from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from knowledge.documents import (
    BodyPart,
    Content,
    DocumentId,
    Passage,
    PassageKind,
    SectionId,
    Version,
)
from knowledge.stores import Level
from knowledge.timeline import OpenRow, Timeline, plan_timeline

DOCUMENT = DocumentId("wiki:1")
START = datetime(2026, 1, 1, tzinfo=UTC)


def content(number: int, text: str, *, days: int | None = None) -> Content:
    """A version whose every word is a passage of its own."""
    at = START + timedelta(days=number if days is None else days)
    return Content(
        title="Page",
        parts=(BodyPart(markdown=text),),
        version=Version(number=number, at=at),
    )


def words_as_rows(one: Content) -> list[Passage]:
    return [
        Passage(
            section_id=SectionId("s"),
            key=word,
            document_id=DOCUMENT,
            heading_path=(),
            text=word,
            indexed_text=word,
            kind=PassageKind.PROSE,
            position=position,
        )
        for position, word in enumerate(one.parts[0].markdown.split())
    ]


def plan(
    contents: Sequence[Content],
    open_rows: Sequence[OpenRow] = (),
    *,
    last: int = 0,
    last_at: datetime | None = None,
) -> Timeline:
    return plan_timeline(
        DOCUMENT,
        contents,
        open_rows,
        last_number=last,
        last_at=last_at,
        build_rows=words_as_rows,
    )


def open_rows_of(timeline: Timeline) -> list[OpenRow]:
    return [
        OpenRow(passage_id=row.passage_id, key=row.chunk.key, level=Level.PASSAGE)
        for row in timeline.opened.values()
        if row.valid_to is None
    ]


def test_first_sync_opens_every_row_at_the_source_s_time() -> None:
    timeline = plan([content(1, "a b")])
    assert {row.chunk.key for row in timeline.opened.values()} == {"a", "b"}
    assert {row.valid_from for row in timeline.opened.values()} == {START + timedelta(days=1)}


def test_a_change_touches_only_the_rows_whose_text_changed() -> None:
    before = plan([content(1, "a b c")])
    after = plan(
        [content(2, "a x c")],
        open_rows_of(before),
        last=1,
        last_at=START + timedelta(days=1),
    )
    assert [row.chunk.key for row in after.opened.values()] == ["x"]
    assert len(after.closed) == 1


def test_history_is_filled_back_and_a_text_that_returns_has_two_lives() -> None:
    timeline = plan([content(1, "a"), content(2, "b"), content(3, "a")])
    lives = sorted(
        (row.valid_from, row.valid_to) for row in timeline.opened.values() if row.chunk.key == "a"
    )
    day = timedelta(days=1)
    assert lives == [(START + day, START + 2 * day), (START + 3 * day, None)]


def test_versions_seen_before_are_not_applied_again() -> None:
    first = plan([content(1, "a"), content(2, "b")])
    again = plan(
        [content(1, "a"), content(2, "b")],
        open_rows_of(first),
        last=2,
        last_at=START + timedelta(days=2),
    )
    assert not again.opened
    assert not again.closed
    assert not again.versions


def test_an_uncounted_version_counts_on_only_when_its_text_changed() -> None:
    first = plan([content(0, "a", days=1)])
    assert [one.version.number for one in first.versions] == [1]
    touched = plan([content(0, "a", days=5)], open_rows_of(first), last=1, last_at=START)
    assert touched.versions == []
    edited = plan([content(0, "b", days=5)], open_rows_of(first), last=1, last_at=START)
    assert [one.version.number for one in edited.versions] == [2]


def test_a_restored_older_file_begins_after_its_predecessor() -> None:
    last_at = START + timedelta(days=30)
    timeline = plan([content(0, "a", days=1)], last=4, last_at=last_at)
    (row,) = timeline.opened.values()
    assert row.valid_from == last_at + timedelta(milliseconds=1)


@given(st.lists(st.text("abcd", max_size=4), min_size=1, max_size=6))
def test_stepwise_and_all_at_once_end_in_the_same_rows(texts: list[str]) -> None:
    versions = [content(n, " ".join(sorted(set(text)))) for n, text in enumerate(texts, 1)]
    at_once = plan(versions)
    live: list[OpenRow] = []
    lives: set[str] = set()
    last, last_at = 0, None
    for version in versions:
        step = plan([version], live, last=last, last_at=last_at)
        closed = set(step.closed)
        live = [row for row in live if row.passage_id not in closed] + open_rows_of(step)
        lives |= {str(row.passage_id) for row in step.opened.values()}
        last, last_at = version.version.number, version.version.at
    assert lives == {str(row.passage_id) for row in at_once.opened.values()}
    assert {r.passage_id for r in live} == {r.passage_id for r in open_rows_of(at_once)}

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from knowledge.access import ALL_MEMBERS, AccessNo, AccessRule
from knowledge.document_plan import DocumentPlan, build_patch, build_stored, plan_document
from knowledge.documents import (
    BodyPart,
    Content,
    Document,
    DocumentId,
    Passage,
    PassageKind,
    SectionId,
    Status,
    Version,
)
from knowledge.ledger_records import IndexRow, VersionRecord
from knowledge.stores import Level, MetadataPatch
from knowledge.timeline import Chunk

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
FINANCE = AccessRule.of(["group:company/finance"])
DOCUMENT = DocumentId("wiki:p")


def build_rows(content: Content) -> Sequence[Chunk]:
    """Cut one passage a word; a word with ! is included text for finance."""
    return [
        Passage(
            section_id=SectionId("s"),
            key=word,
            document_id=DOCUMENT,
            heading_path=("Top",),
            text=word,
            indexed_text=word,
            kind=PassageKind.PROSE,
            position=number,
            rule=FINANCE if word.endswith("!") else None,
            included_from=DocumentId("wiki:other") if word.endswith("!") else None,
        )
        for number, word in enumerate(content.parts[0].markdown.split())
    ]


def content_of(text: str, number: int) -> Content:
    version = Version(number=number, at=START + DAY * number, label=f"v{number}")
    return Content(title="Page", parts=(BodyPart(markdown=text),), version=version)


def document_of(text: str, number: int = 1, *, history: tuple[Content, ...] = ()) -> Document:
    return Document(
        document_id=DOCUMENT,
        source="wiki",
        scope="wiki",
        locator="p",
        url="wiki/p",
        content=content_of(text, number),
        access=ALL_MEMBERS,
        token=f"t{number}",
        space="Ops",
        author="Ada",
        labels=("x",),
        history=history,
    )


def plan_of(
    document: Document, before: DocumentPlan | None = None, *, kept: int = 10
) -> DocumentPlan:
    return plan_document(
        document,
        previous=before.record if before else None,
        rows=rows_of(before) if before else [],
        versions=versions_of(before) if before else [],
        access_no=AccessNo(1),
        now=NOW if before is None else NOW + DAY,
        versions_kept=kept,
        build_rows=build_rows,
    )


def rows_of(plan: DocumentPlan) -> list[IndexRow]:
    """Return the rows the ledger holds after a plan."""
    held = [replace(row, valid_to=plan.timeline.closed.get(row.passage_id)) for row in plan.rows]
    return held + [
        IndexRow(
            passage_id=row.passage_id,
            document_id=DOCUMENT,
            key=row.chunk.key,
            level=Level.PASSAGE,
            section_id=row.chunk.section_id,
            access_no=AccessNo(2) if row.chunk.rule else AccessNo(1),
            valid_from=row.valid_from,
            valid_to=row.valid_to,
        )
        for row in plan.timeline.opened.values()
    ]


def versions_of(plan: DocumentPlan) -> list[VersionRecord]:
    return [
        VersionRecord(number=one.version.number, at=one.version.at, title=one.title)
        for one in plan.timeline.versions
    ]


def opened(plan: DocumentPlan) -> list[str]:
    return [row.chunk.text for row in plan.timeline.opened.values()]


def test_a_new_document_opens_all_its_rows() -> None:
    plan = plan_of(document_of("one two", 3))
    assert opened(plan) == ["one", "two"]
    record = plan.record
    assert (record.version_number, record.version_label) == (3, "v3")
    assert (record.first_seen_at, record.checked_at) == (NOW, NOW)
    assert record.updated_at == START + DAY * 3
    assert (plan.dropped, plan.dropped_versions) == ((), ())


def test_the_same_document_again_changes_nothing_but_when_it_was_checked() -> None:
    first = plan_of(document_of("one two"))
    again = plan_of(document_of("one two"), first)
    assert (opened(again), again.timeline.closed, again.timeline.versions) == ([], {}, [])
    assert again.record == replace(first.record, checked_at=NOW + DAY)
    assert build_patch(again, first.record) is None


def test_an_edit_closes_what_went_and_opens_what_came() -> None:
    first = plan_of(document_of("one two"))
    second = plan_of(document_of("one three", 2), first)
    assert opened(second) == ["three"]
    assert list(second.timeline.closed.values()) == [START + DAY * 2]
    assert (second.record.version_number, second.record.first_seen_at) == (2, NOW)


def test_versions_beyond_the_kept_ones_are_dropped_with_the_rows_only_they_had() -> None:
    first = plan_of(document_of("one always", 1))
    second = plan_of(document_of("two always", 2), first)
    third = plan_document(
        document_of("three always", 3),
        previous=second.record,
        rows=rows_of(second),
        versions=[*versions_of(first), *versions_of(second)],
        access_no=AccessNo(1),
        now=NOW,
        versions_kept=2,
        build_rows=build_rows,
    )
    dropped = {row.key for row in rows_of(second) if row.passage_id in third.dropped}
    assert dropped == {"one"}
    assert third.dropped_versions == (1,)


def test_history_beyond_the_kept_versions_is_not_read() -> None:
    history = tuple(content_of(f"word{number}", number) for number in range(1, 6))
    plan = plan_of(document_of("now", 6, history=history), kept=3)
    assert opened(plan) == ["word4", "word5", "now"]
    alone = plan_of(document_of("now", 6, history=history), kept=1)
    assert opened(alone) == ["now"]


def test_rules_are_those_of_opened_and_kept_text_joined_with_the_documents() -> None:
    first = plan_of(document_of("one two!"))
    assert first.rules() == {ALL_MEMBERS, ALL_MEMBERS & FINANCE}
    second = plan_of(document_of("three two!", 2), first)
    assert second.rules() == {ALL_MEMBERS, ALL_MEMBERS & FINANCE}


def test_only_rows_that_stay_under_another_rule_are_reclassed() -> None:
    first = plan_of(document_of("one two!"))
    again = plan_of(document_of("one two!"), first)
    numbers = {ALL_MEMBERS.access_id: AccessNo(1), (ALL_MEMBERS & FINANCE).access_id: AccessNo(2)}
    assert again.find_reclassed(numbers) == {}
    numbers[(ALL_MEMBERS & FINANCE).access_id] = AccessNo(7)
    (row,) = [row for row in rows_of(first) if row.key == "two!"]
    assert again.find_reclassed(numbers) == {row.passage_id: AccessNo(7)}


@pytest.mark.parametrize(
    "change",
    [
        {"url": "wiki/moved"},
        {"space": "HR"},
        {"scope": "other"},
        {"labels": ()},
        {"author": "Bob"},
        {"status": Status.ARCHIVED},
    ],
)
def test_a_patch_holds_just_what_changed(change: dict[str, object]) -> None:
    first = plan_of(document_of("one"))
    changed = plan_of(replace(document_of("one"), **change), first)  # type: ignore[arg-type]
    expected = MetadataPatch(document_id=DOCUMENT, **change)  # type: ignore[arg-type]
    assert build_patch(changed, first.record) == expected


def test_a_new_document_needs_no_patch() -> None:
    assert build_patch(plan_of(document_of("one")), None) is None


def test_a_stored_row_has_the_values_of_its_own_version() -> None:
    plan = plan_of(document_of("new!", 2, history=(content_of("old", 1),)))
    numbers = {ALL_MEMBERS.access_id: AccessNo(1), (ALL_MEMBERS & FINANCE).access_id: AccessNo(2)}
    old, new = (
        build_stored(row, plan, access=numbers, terms=["a", "b"], codes=["k8-023"], vector=None)
        for row in plan.timeline.opened.values()
    )
    assert (old.version_number, old.version_label, old.access_no) == (1, "v1", AccessNo(1))
    assert (old.valid_from, old.valid_to) == (START + DAY, START + DAY * 2)
    assert (new.version_number, new.version_label, new.access_no) == (2, "v2", AccessNo(2))
    assert (new.valid_to, new.updated_at) == (None, START + DAY * 2)
    assert (new.terms, new.codes, new.heading_path) == ("a b", ("k8-023",), ("Top",))
    assert (new.author, new.labels, new.space, new.level) == ("Ada", ("x",), "Ops", Level.PASSAGE)

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.database import Database
from core.errors import SettingsError
from knowledge.access import AccessNo
from knowledge.documents import DocumentId, Link, PassageId, SectionId, Status
from knowledge.failures import Failure, FailureLog
from knowledge.ledger import Ledger
from knowledge.ledger_records import (
    AccessChange,
    DocumentCommit,
    DocumentRecord,
    IndexRow,
    TermDelta,
    VersionRecord,
)
from knowledge.ledger_writer import LedgerWriter
from knowledge.outbox import (
    DeleteDocuments,
    DeletePassages,
    EndValidity,
    PatchRows,
    StoreOperation,
)
from knowledge.stores import Level, MetadataPatch

T0 = datetime(2026, 8, 1, 9, tzinfo=UTC)
T1, T2, T3 = (T0 + timedelta(days=days) for days in (1, 2, 3))
NO_TERMS = TermDelta()


def build_record(name: str = "a", **changes: object) -> DocumentRecord:
    record = DocumentRecord(
        document_id=DocumentId(f"files:{name}"),
        source="files",
        scope="root",
        locator=f"{name}.md",
        url=f"file:///{name}.md",
        title=f"标题 {name}",
        token="t1",
        access_no=AccessNo(1),
        access_id="one",
        version_number=1,
        updated_at=T0,
        first_seen_at=T1,
        checked_at=T1,
        labels=("运维", "disk"),
        breadcrumbs=("Home",),
        notes=("page 3 is a picture",),
    )
    return replace(record, **changes)  # type: ignore[arg-type]


def build_row(passage: str, document: str = "a", **changes: object) -> IndexRow:
    row = IndexRow(
        passage_id=PassageId(passage),
        document_id=DocumentId(f"files:{document}"),
        key=f"key of {passage}",
        level=Level.PASSAGE,
        section_id=SectionId("s"),
        access_no=AccessNo(1),
        valid_from=T0,
    )
    return replace(row, **changes)  # type: ignore[arg-type]


@pytest.fixture
def ledger(database: Database) -> Ledger:
    return Ledger(database)


@pytest.fixture
def writer(database: Database) -> LedgerWriter:
    return LedgerWriter(database)


def passages(*names: str) -> tuple[PassageId, ...]:
    return tuple(PassageId(name) for name in names)


async def test_committed_document_is_given_back_whole(ledger: Ledger, writer: LedgerWriter) -> None:
    record = build_record(status=Status.ARCHIVED, author="Ann", space="Ops", content_hash="h")
    versions = (
        VersionRecord(number=1, at=T0, title="旧", author="Ann", message="first", label="v1"),
        VersionRecord(number=2, at=T1, title="新"),
    )
    links = (Link(target=DocumentId("files:b"), text="b"), Link(target=DocumentId("x"), text="甲"))
    rows = (build_row("1"), build_row("2", level=Level.SECTION, valid_to=T1))
    commit = DocumentCommit(document=record, versions=versions, links=links, opened=rows)
    await writer.commit_batch([commit], terms=NO_TERMS)
    assert await ledger.find_document(record.document_id) == record
    assert await ledger.load_documents([DocumentId("files:none")]) == {}
    assert await ledger.find_document(DocumentId("files:none")) is None
    assert tuple(await ledger.load_versions(record.document_id)) == versions
    assert tuple(await ledger.load_links(record.document_id)) == links
    assert set((await ledger.load_rows([record.document_id]))[record.document_id]) == set(rows)
    open_rows = await ledger.load_rows([record.document_id], only_open=True)
    assert open_rows == {record.document_id: [rows[0]]}
    known = (await ledger.known_documents("files"))[record.document_id]
    assert (known.locator, known.token, known.content_hash) == ("a.md", "t1", "h")
    assert (known.scope, known.access_id) == ("root", "one")
    assert await ledger.known_documents("wiki") == {}


async def test_later_commit_closes_rows_and_keeps_the_first_moment(
    ledger: Ledger, writer: LedgerWriter
) -> None:
    first = DocumentCommit(
        document=build_record(),
        versions=(VersionRecord(number=1, at=T0, title="one"),),
        links=(Link(target=DocumentId("files:b"), text="b"),),
        opened=(build_row("1"), build_row("2"), build_row("3")),
    )
    await writer.commit_batch([first], terms=NO_TERMS)
    second = DocumentCommit(
        document=build_record(title="new", first_seen_at=T3, held_since=None, version_number=2),
        versions=(VersionRecord(number=2, at=T2, title="two"),),
        dropped_versions=(1,),
        opened=(build_row("4", valid_from=T2),),
        closed={PassageId("1"): T2},
        dropped=passages("2"),
        reclassed={PassageId("3"): AccessNo(7)},
    )
    await writer.commit_batch([second], terms=NO_TERMS)
    record = await ledger.find_document(DocumentId("files:a"))
    assert record is not None
    assert (record.title, record.first_seen_at) == ("new", T1)
    assert [one.number for one in await ledger.load_versions(record.document_id)] == [2]
    assert await ledger.load_links(record.document_id) == []
    found = await ledger.load_rows([record.document_id])
    rows = {row.passage_id: row for row in found[record.document_id]}
    assert rows.keys() == {"1", "3", "4"}
    assert (rows[PassageId("1")].valid_to, rows[PassageId("3")].access_no) == (T2, 7)


async def test_closed_row_stays_as_it_ended(ledger: Ledger, writer: LedgerWriter) -> None:
    opened = DocumentCommit(document=build_record(), opened=(build_row("1"),))
    await writer.commit_batch([opened], terms=NO_TERMS)
    for at in (T1, T2):
        closed = DocumentCommit(document=build_record(), closed={PassageId("1"): at})
        await writer.commit_batch([closed], terms=NO_TERMS)
    state = (await ledger.check_rows(passages("1")))[PassageId("1")]
    assert state.valid_to == T1


async def test_crash_before_the_commit_leaves_intents_to_delete(writer: LedgerWriter) -> None:
    await writer.record_intents(passages("1", "2"))
    await writer.record_intents(passages("2", "3"))
    await writer.commit_batch(
        [DocumentCommit(document=build_record(), opened=(build_row("3"),))], terms=NO_TERMS
    )
    unfinished = await writer.load_unfinished()
    assert unfinished.passage_ids == ("1", "2")
    await writer.clear_intents(unfinished.passage_ids)
    assert (await writer.load_unfinished()).passage_ids == ()


async def test_row_that_is_already_held_is_no_left_over(writer: LedgerWriter) -> None:
    commit = DocumentCommit(document=build_record(), opened=(build_row("1"),))
    await writer.commit_batch([commit], terms=NO_TERMS)
    await writer.record_intents(passages("1"))
    assert (await writer.load_unfinished()).passage_ids == ()


async def test_crash_after_the_commit_leaves_what_the_store_owes(writer: LedgerWriter) -> None:
    patch = MetadataPatch(
        document_id=DocumentId("files:a"),
        status=Status.ARCHIVED,
        labels=("运维",),
        updated_at=T2,
        passage_ids=passages("1"),
    )
    operations: list[StoreOperation] = [
        EndValidity(passage_ids=passages("1", "2"), valid_to=T2),
        PatchRows(patches=(patch,)),
        DeletePassages(passage_ids=passages("9")),
    ]
    commit = DocumentCommit(document=build_record(), opened=(build_row("1"),))
    entries = await writer.commit_batch([commit], terms=NO_TERMS, operations=operations)
    assert [entry.operation for entry in entries] == operations
    assert (await writer.load_unfinished()).operations == entries
    await writer.clear_outbox([entries[0].entry_id, entries[2].entry_id])
    assert (await writer.load_unfinished()).operations == (entries[1],)


async def test_batch_that_fails_leaves_nothing_behind(ledger: Ledger, writer: LedgerWriter) -> None:
    good = DocumentCommit(document=build_record(), opened=(build_row("1"),))
    naive = build_row("2", "b", valid_from=datetime(2026, 1, 1))  # noqa: DTZ001
    bad = DocumentCommit(document=build_record("b"), opened=(naive,))
    before = await ledger.load_generation()
    with pytest.raises(Exception, match="naive"):
        await writer.commit_batch([good, bad], terms=TermDelta.of(["a b"]))
    assert await ledger.known_documents("files") == {}
    assert await ledger.load_generation() == before


async def test_deleted_document_takes_everything_along(
    database: Database, ledger: Ledger, writer: LedgerWriter
) -> None:
    for name in ("a", "b"):
        commit = DocumentCommit(
            document=build_record(name),
            versions=(VersionRecord(number=1, at=T0, title=name),),
            links=(Link(target=DocumentId("files:c"), text="c"),),
            opened=(build_row(f"{name}1", name),),
        )
        await writer.commit_batch([commit], terms=NO_TERMS)
    failure = Failure(
        document_id=DocumentId("files:a"),
        source="files",
        scope="root",
        locator="a.md",
        reason="unreadable",
        is_permanent=True,
        at=T1,
    )
    await FailureLog(database).record_failures([failure])
    gone = [DocumentId("files:a"), DocumentId("files:unknown")]
    (entry,) = await writer.delete_documents(gone, terms=NO_TERMS)
    assert entry.operation == DeleteDocuments(document_ids=tuple(gone))
    assert (await ledger.known_documents("files")).keys() == {"files:b"}
    assert await ledger.load_versions(gone[0]) == []
    assert await ledger.load_links(gone[0]) == []
    assert (await ledger.check_rows(passages("a1", "b1"))).keys() == {"b1"}
    assert await FailureLog(database).load_failures() == []
    assert await writer.delete_documents([], terms=NO_TERMS) == ()


async def test_unknown_row_is_absent_from_the_second_lock(
    ledger: Ledger, writer: LedgerWriter
) -> None:
    commit = DocumentCommit(document=build_record(), opened=(build_row("1"),))
    await writer.commit_batch([commit], terms=NO_TERMS)
    await writer.record_intents(passages("2"))
    states = await ledger.check_rows(passages("1", "2", "3"))
    assert states.keys() == {"1"}
    assert states[PassageId("1")].document_id == "files:a"
    assert states[PassageId("1")].held_since is None
    assert await ledger.check_rows([]) == {}


async def test_new_rule_holds_for_own_rows_and_joined_rows_everywhere(
    ledger: Ledger, writer: LedgerWriter
) -> None:
    page, other = DocumentId("files:a"), DocumentId("files:b")
    own = (build_row("own"), build_row("old", valid_to=T1))
    included = build_row("included", included_from=other, access_no=AccessNo(3))
    shown = build_row("shown", "b", included_from=page, access_no=AccessNo(3))
    untouched = build_row("untouched", "b")
    await writer.commit_batch(
        [
            DocumentCommit(document=build_record(), opened=(*own, included)),
            DocumentCommit(document=build_record("b"), opened=(shown, untouched)),
        ],
        terms=NO_TERMS,
    )
    assert {row.passage_id for row in await ledger.load_rows_including(page)} == {"shown"}
    joined = {row.passage_id for row in await ledger.load_joined_rows(page)}
    assert joined == {"included", "shown"}
    before = await ledger.load_generation()
    change = AccessChange(
        document_id=page,
        access_no=AccessNo(5),
        access_id="five",
        rows={PassageId("included"): AccessNo(6), PassageId("shown"): AccessNo(6)},
    )
    (entry,) = await writer.change_access([change])
    states = await ledger.check_rows(passages("own", "old", "included", "shown", "untouched"))
    assert {key: state.access_no for key, state in states.items()} == {
        "own": 5,
        "old": 5,
        "included": 6,
        "shown": 6,
        "untouched": 1,
    }
    record = await ledger.find_document(page)
    assert record is not None
    assert (record.access_no, record.access_id) == (5, "five")
    assert await ledger.load_generation() > before
    assert isinstance(entry.operation, PatchRows)
    told = {
        (patch.document_id, patch.access_no): set(patch.passage_ids)
        for patch in entry.operation.patches
    }
    assert told == {
        (page, 5): {"own", "old"},
        (page, 6): {"included"},
        (other, 6): {"shown"},
    }


@pytest.mark.parametrize("missing", ["included", "shown"])
async def test_rule_change_that_forgets_a_joined_row_is_refused_whole(
    ledger: Ledger, writer: LedgerWriter, missing: str
) -> None:
    page = DocumentId("files:a")
    included = build_row("included", included_from=DocumentId("files:b"))
    shown = build_row("shown", "b", included_from=page)
    await writer.commit_batch(
        [
            DocumentCommit(document=build_record(), opened=(build_row("own"), included)),
            DocumentCommit(document=build_record("b"), opened=(shown,)),
        ],
        terms=NO_TERMS,
    )
    rows = {PassageId(name): AccessNo(6) for name in {"included", "shown"} - {missing}}
    change = AccessChange(document_id=page, access_no=AccessNo(5), access_id="five", rows=rows)
    with pytest.raises(ValueError, match=f"'{missing}' .* needs a new class as well"):
        await writer.change_access([change])
    states = await ledger.check_rows(passages("own", "included", "shown"))
    assert {state.access_no for state in states.values()} == {1}


async def test_two_rules_for_one_row_are_refused(writer: LedgerWriter) -> None:
    shown = build_row("shown", "b", included_from=DocumentId("files:a"))
    await writer.commit_batch(
        [
            DocumentCommit(document=build_record()),
            DocumentCommit(document=build_record("b"), opened=(shown,)),
        ],
        terms=NO_TERMS,
    )
    changes = [
        AccessChange(
            document_id=DocumentId(f"files:{name}"),
            access_no=AccessNo(number),
            access_id=name,
            rows={PassageId("shown"): AccessNo(number)},
        )
        for name, number in (("a", 5), ("b", 6))
    ]
    with pytest.raises(ValueError, match="'shown' gets two classes"):
        await writer.change_access(changes)


async def test_confirmed_documents_are_dated_and_take_new_tokens(
    ledger: Ledger, writer: LedgerWriter
) -> None:
    ids = [DocumentId("files:a"), DocumentId("files:b")]
    await writer.commit_batch(
        [DocumentCommit(document=build_record(name)) for name in ("a", "b")], terms=NO_TERMS
    )
    before = await ledger.load_generation()
    await writer.mark_checked(ids, T3, tokens={ids[1]: "t2"})
    found = await ledger.load_documents(ids)
    assert [found[one].checked_at for one in ids] == [T3, T3]
    assert [found[one].token for one in ids] == ["t1", "t2"]
    assert await ledger.load_generation() == before


async def test_forgotten_version_takes_only_its_own_text_along(
    ledger: Ledger, writer: LedgerWriter
) -> None:
    page = DocumentId("files:a")
    versions = tuple(
        VersionRecord(number=number, at=at, title="") for number, at in ((1, T0), (2, T1), (3, T2))
    )
    rows = (
        build_row("1-2", valid_from=T0, valid_to=T2),
        build_row("2", valid_from=T1, valid_to=T2),
        build_row("2-", valid_from=T1),
        build_row("3-", valid_from=T2),
        build_row("1", valid_from=T0, valid_to=T1),
    )
    commit = DocumentCommit(document=build_record(), versions=versions, opened=rows)
    await writer.commit_batch([commit], terms=NO_TERMS)
    (entry,) = await writer.drop_versions({page: [2]})
    assert entry.operation == DeletePassages(passage_ids=passages("2"))
    left = {row.passage_id for row in (await ledger.load_rows([page]))[page]}
    assert left == {"1-2", "2-", "3-", "1"}
    assert [one.number for one in await ledger.load_versions(page)] == [1, 3]
    with pytest.raises(SettingsError, match="version 3 of 'files:a' is in force"):
        await writer.drop_versions({page: [3]})
    with pytest.raises(SettingsError, match="has no version 2"):
        await writer.drop_versions({page: [2]})


@pytest.mark.parametrize("count", [0, 1, 1_200])
async def test_any_number_of_ids_fits(ledger: Ledger, writer: LedgerWriter, count: int) -> None:
    names = [f"n{number}" for number in range(count)]
    rows = tuple(build_row(name) for name in names)
    commit = DocumentCommit(document=build_record(), opened=rows)
    await writer.record_intents(passages(*names))
    await writer.commit_batch([commit], terms=NO_TERMS)
    assert (await writer.load_unfinished()).passage_ids == ()
    assert len(await ledger.check_rows(passages(*names))) == count

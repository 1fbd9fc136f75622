from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.database import Database
from knowledge.access import AccessNo
from knowledge.documents import DocumentId, PassageId, SectionId
from knowledge.failures import Failure, FailureLog
from knowledge.holds import Hold, HoldLog
from knowledge.ledger import Ledger
from knowledge.ledger_records import DocumentCommit, DocumentRecord, IndexRow, TermDelta
from knowledge.ledger_writer import LedgerWriter
from knowledge.runs import RunKind, RunLog, RunStatus
from knowledge.source import Cursor
from knowledge.stores import Level
from knowledge.sync_status import load_status

T0 = datetime(2026, 8, 1, 9, tzinfo=UTC)
T1, T2, T3 = (T0 + timedelta(days=days) for days in (1, 2, 3))
A, B, C = (DocumentId(f"files:{name}") for name in "abc")
FAILURE = Failure(
    document_id=A,
    source="files",
    scope="root",
    locator="a.pdf",
    reason="encrypted",
    is_permanent=True,
    at=T0,
)
HOLD = Hold(source="files", scope="root", raised_at=T1, missing=(A, B), reason="2 of 3 missing")


async def commit(database: Database, *ids: DocumentId) -> None:
    commits = [
        DocumentCommit(
            document=DocumentRecord(
                document_id=one,
                source="files",
                scope="root",
                locator=one,
                url="",
                title="",
                token="",
                access_no=AccessNo(1),
                access_id="",
                version_number=1,
                updated_at=T0,
                first_seen_at=T0,
                checked_at=T0,
                notes=("no text on page 2",) if one == B else (),
            ),
            opened=tuple(
                IndexRow(
                    passage_id=PassageId(f"{one}/{level}/{end}"),
                    document_id=one,
                    key="",
                    level=level,
                    section_id=SectionId(""),
                    access_no=AccessNo(1),
                    valid_from=T0,
                    valid_to=end,
                )
                for level in Level
                for end in (None, T1)
            ),
        )
        for one in ids
    ]
    await LedgerWriter(database).commit_batch(commits, terms=TermDelta())


async def test_run_is_followed_from_start_to_end(database: Database) -> None:
    log = RunLog(database)
    run_id = await log.start_run("files", T0)
    await log.save_counts(run_id, {"seen": 3})
    # Nobody holds the lease of the source here.
    run = (await log.load_last_runs())["files"][RunKind.SYNC]
    assert (run.run_id, run.status, run.ended_at) == (run_id, RunStatus.INTERRUPTED, None)
    assert run.counts == {"seen": 3}
    await log.end_run(run_id, RunStatus.PARTIAL, {"seen": 4}, T1, error="one failed")
    run = (await log.load_last_runs())["files"][RunKind.SYNC]
    assert (run.status, run.started_at, run.ended_at) == (RunStatus.PARTIAL, T0, T1)
    assert (run.counts, run.error) == ({"seen": 4}, "one failed")


async def test_run_that_never_ended_is_marked_when_the_next_one_starts(database: Database) -> None:
    log = RunLog(database)
    killed = await log.start_run("files", T0)
    other = await log.start_run("wiki", T0)
    after = await log.start_run("files", T1)
    await log.end_run(after, RunStatus.DONE, {}, T2)
    runs = await log.load_last_runs()
    assert killed < other < after
    assert runs["files"][RunKind.SYNC].run_id == after
    assert runs["wiki"][RunKind.SYNC].ended_at is None
    assert [one.error for one in await log.load_history(source="files", limit=9)] == [
        "",
        "broken off",
    ]


async def test_cursor_is_empty_first_and_then_the_last_saved(database: Database) -> None:
    log = RunLog(database)
    assert await log.load_cursor("files") == ""
    await log.save_cursor("files", Cursor("1"))
    await log.save_cursor("files", Cursor("2"))
    await log.save_cursor("wiki", Cursor("9"))
    assert await log.load_cursor("files") == "2"


async def test_repeated_failure_counts_up_and_keeps_its_first_moment(database: Database) -> None:
    log = FailureLog(database)
    again = replace(FAILURE, reason="truncated", at=T1, is_permanent=False, next_try_at=T2)
    await log.record_failures([FAILURE])
    await log.record_failures([again])
    (record,) = await log.load_failures("files")
    assert record.last == again
    assert (record.attempts, record.first_at) == (2, T0)


async def test_failures_are_found_when_due_and_cleared_by_success(database: Database) -> None:
    log = FailureLog(database)
    later = replace(FAILURE, document_id=B, is_permanent=False, next_try_at=T2)
    await log.record_failures([FAILURE, later, replace(FAILURE, document_id=C, source="wiki")])
    assert [one.last.document_id for one in await log.load_failures(due_at=T1)] == []
    assert [one.last.document_id for one in await log.load_failures(due_at=T2)] == [B]
    await commit(database, A)
    assert [one.last.document_id for one in await log.load_failures()] == [B, C]
    await log.clear_failures([B])
    assert await log.load_failures("files") == []


async def test_held_documents_are_marked_until_released(database: Database) -> None:
    log, ledger = HoldLog(database), Ledger(database)
    await commit(database, A, B, C)
    before = await ledger.load_generation()
    await log.raise_hold(HOLD)
    documents = await ledger.load_documents([A, B, C])
    assert [documents[one].held_since for one in (A, B, C)] == [T1, T1, None]
    row = PassageId(f"{A}/passage/None")
    assert (await ledger.check_rows([row]))[row].held_since == T1
    assert await ledger.load_generation() > before
    await log.release_hold("files", "root")
    assert await log.load_holds() == []
    documents = await ledger.load_documents([A, B, C])
    assert {one.held_since for one in documents.values()} == {None}


async def test_document_confirmed_again_loses_its_mark(database: Database) -> None:
    ledger = Ledger(database)
    await commit(database, A, B)
    await HoldLog(database).raise_hold(HOLD)
    before = await ledger.load_generation()
    await LedgerWriter(database).mark_checked([A], T2)
    documents = await ledger.load_documents([A, B])
    assert (documents[A].held_since, documents[B].held_since) == (None, T1)
    assert await ledger.load_generation() > before


async def test_consent_ends_when_other_documents_go_missing_too(database: Database) -> None:
    log = HoldLog(database)
    await log.raise_hold(HOLD)
    assert await log.accept_holds("files", T2) == 1
    assert await log.accept_holds("files", T3) == 0
    await log.raise_hold(replace(HOLD, missing=(A,), raised_at=T3))
    (hold,) = await log.load_holds("files")
    assert (hold.accepted_at, hold.raised_at, hold.missing) == (T2, T1, (A,))
    await log.raise_hold(replace(HOLD, missing=(A, C), raised_at=T3))
    (hold,) = await log.load_holds()
    assert hold.accepted_at is None


@pytest.mark.parametrize(("scope", "accepted"), [("root", 1), ("other", 0)])
async def test_consent_may_name_one_scope(database: Database, scope: str, accepted: int) -> None:
    log = HoldLog(database)
    await log.raise_hold(HOLD)
    assert await log.accept_holds("files", T2, scope=scope) == accepted


async def test_status_tells_where_each_source_stands(database: Database) -> None:
    await commit(database, A, B, C)
    await HoldLog(database).raise_hold(HOLD)
    await FailureLog(database).record_failures(
        [replace(FAILURE, document_id=DocumentId("w:1"), source="wiki")]
    )
    run_id = await RunLog(database).start_run("files", T0)
    files, wiki = await load_status(database)
    assert (files.source, files.documents, files.held_documents) == ("files", 3, 2)
    assert files.passages == 3
    assert files.notes == {B: ("no text on page 2",)}
    assert [one.scope for one in files.holds] == ["root"]
    assert files.last_run is not None
    assert files.last_run.run_id == run_id
    assert (wiki.source, wiki.documents, wiki.passages, wiki.last_run) == ("wiki", 0, 0, None)
    assert [one.last.reason for one in wiki.failures] == ["encrypted"]

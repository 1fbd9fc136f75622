"""What runs owe each other: listings that broke off, failures that are due, proofs, forgetting."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from core.clock import FixedClock
from core.database import Database
from core.errors import ServiceUnavailableError
from knowledge.documents import DocumentId
from knowledge.ingestion import SyncRun
from knowledge.runs import RunKind, RunStatus
from knowledge.source import (
    Change,
    Checkpoint,
    Cursor,
    KnownDocument,
    ScopeListed,
    Unchanged,
    Upserted,
)
from knowledge.sync_report import SyncReport
from tests.fakes.memory_source import MemoryPage, MemorySource
from tests.unit.knowledge.ingesting import NOW, Workbench, open_workbench


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    async with open_workbench(database, tmp_path) as opened:
        yield opened


@dataclass
class PagedSource(MemorySource):
    """Lists two pages at a time with a checkpoint after each, and goes on from its cursor.

    Attributes:
        breaks_after: Documents after which the service stops answering; 0 = never.
        is_incremental: Lists nothing but what `edited` names, and ends no scope.
        edited: Pages an incremental listing names.
    """

    breaks_after: int = 0
    is_incremental: bool = False
    edited: list[str] = field(default_factory=list)

    async def discover(
        self, cursor: Cursor, known: Mapping[DocumentId, KnownDocument]
    ) -> AsyncIterator[Change]:
        self.cursors.append(cursor)
        if cursor == "end" and self.is_incremental:
            for key in self.edited:
                yield Upserted(document_id=self.id_of(key), scope=self.scope, locator=key)
            return
        first = 0 if cursor in {"", "end"} else int(cursor)
        keys = sorted(self.pages)
        for place in range(first, len(keys)):
            if self.breaks_after and place - first >= self.breaks_after:
                raise ServiceUnavailableError("answered 503")
            document_id = self.id_of(keys[place])
            if document_id in known:
                yield Unchanged(document_id=document_id, scope=self.scope)
            else:
                yield Upserted(document_id=document_id, scope=self.scope, locator=keys[place])
            if place % 2:
                yield Checkpoint(cursor=Cursor(str(place + 1)))
        yield ScopeListed(scope=self.scope)
        yield Checkpoint(cursor=Cursor("end"))


def build_pages(count: int) -> dict[str, MemoryPage]:
    return {f"p{n}": MemoryPage(text=f"word{n}") for n in range(count)}


async def run_at(
    bench: Workbench, source: MemorySource, at: datetime, kind: RunKind = RunKind.SYNC
) -> SyncReport:
    parts = replace(bench.parts, clock=FixedClock(at))
    return await SyncRun(source, parts, bench.logs, kind=kind).run()


async def held(bench: Workbench) -> set[str]:
    return set(await bench.parts.ledger.known_documents("memory"))


async def test_what_was_listed_before_a_break_is_not_missing_after_it(bench: Workbench) -> None:
    source = PagedSource(build_pages(8))
    await run_at(bench, source, NOW)
    source.breaks_after = 5
    with pytest.raises(ServiceUnavailableError):
        await run_at(bench, source, NOW + timedelta(days=1), RunKind.RECONCILIATION)
    source.breaks_after = 0
    del source.pages["p7"]
    await run_at(bench, source, NOW + timedelta(days=1, minutes=5), RunKind.RECONCILIATION)
    assert source.cursors == ["", "", "4"]
    assert await held(bench) == {f"memory:p{n}" for n in range(7)}


async def test_a_reconciliation_lists_everything_again(bench: Workbench) -> None:
    source = PagedSource(build_pages(3), is_incremental=True)
    await run_at(bench, source, NOW)
    del source.pages["p0"]
    await run_at(bench, source, NOW, RunKind.INCREMENTAL)
    assert len(await held(bench)) == 3
    await run_at(bench, source, NOW, RunKind.RECONCILIATION)
    assert source.cursors == ["", "end", ""]
    assert await held(bench) == {"memory:p1", "memory:p2"}


async def test_a_broken_incremental_run_does_not_spare_the_reconciliation(
    bench: Workbench,
) -> None:
    source = PagedSource(build_pages(3), is_incremental=True)
    await run_at(bench, source, NOW)
    source.edited, source.broken = ["p0"], {"p0": ServiceUnavailableError("down")}
    source.is_incremental, source.breaks_after = False, 1
    with pytest.raises(ServiceUnavailableError):
        await run_at(bench, source, NOW, RunKind.INCREMENTAL)
    source.breaks_after, source.broken = 0, {}
    await run_at(bench, source, NOW, RunKind.RECONCILIATION)
    assert source.cursors[-1] == ""


async def test_a_failure_that_is_due_is_tried_again_though_nothing_lists_it(
    bench: Workbench,
) -> None:
    source = PagedSource(build_pages(2), is_incremental=True)
    source.broken = {"p1": ServiceUnavailableError("down")}
    await run_at(bench, source, NOW)
    assert await held(bench) == {"memory:p0"}
    soon, due = NOW + timedelta(minutes=9), NOW + timedelta(minutes=11)
    await run_at(bench, source, soon, RunKind.INCREMENTAL)
    assert source.fetched.count("p1") == 1
    await run_at(bench, source, due, RunKind.INCREMENTAL)
    assert source.fetched.count("p1") == 2
    # Failing again, it waits twice as long.
    await run_at(bench, source, due + timedelta(minutes=11), RunKind.INCREMENTAL)
    assert source.fetched.count("p1") == 2
    source.broken = {}
    await run_at(bench, source, due + timedelta(minutes=21), RunKind.INCREMENTAL)
    assert await held(bench) == {"memory:p0", "memory:p1"}
    assert await bench.logs.failures.load_failures() == []


async def test_completeness_names_every_page_that_lacks_or_is_held(bench: Workbench) -> None:
    source = MemorySource(build_pages(8))
    source.broken = {"p1": ServiceUnavailableError("answered 500")}
    await bench.sync(source)
    [count] = await bench.logs.completeness.load_latest()
    assert (count.source_count, count.index_count, count.rows_owed) == (8, 7, 0)
    assert count.missing == {"memory:p1": "answered 500"}
    assert not count.is_complete
    assert count.share == 7 / 8
    source.broken = {}
    for key in ("p2", "p3", "p4", "p5", "p6"):
        del source.pages[key]
    await run_at(bench, source, NOW + timedelta(hours=1))
    [count] = await bench.logs.completeness.load_latest()
    assert count.missing == {}
    assert count.extra == tuple(f"memory:p{n}" for n in range(2, 7))
    [_, first] = await bench.logs.runs.load_history(limit=5)
    [counted] = await bench.logs.completeness.load_of_run(first.run_id)
    assert counted.missing == {"memory:p1": "answered 500"}


async def test_a_row_that_the_index_lost_shows(bench: Workbench) -> None:
    source = MemorySource(build_pages(2))
    await bench.sync(source)
    [row] = (await bench.parts.ledger.load_rows([source.id_of("p0")]))[source.id_of("p0")]
    await bench.parts.store.delete_passages([row.passage_id])
    await bench.sync(source)
    [count] = await bench.logs.completeness.load_latest()
    assert count.rows_owed == 1


async def test_an_unexpected_error_is_recorded_with_its_reason(bench: Workbench) -> None:
    class BrokenSource(MemorySource):
        async def discover(
            self, cursor: Cursor, known: Mapping[DocumentId, KnownDocument]
        ) -> AsyncIterator[Change]:
            raise ServiceUnavailableError(f"no listing after {cursor!r} of {len(known)}")
            yield

    with pytest.raises(ServiceUnavailableError):
        await bench.sync(BrokenSource({}))
    [run] = await bench.logs.runs.load_history(limit=5)
    assert (run.status, run.error) == (RunStatus.FAILED, "no listing after '' of 0")

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.database import Database
from knowledge.documents import Hit, PassageId, Status
from knowledge.ingest_batch import EVERY_ROW, settle
from knowledge.ledger_records import TermDelta
from knowledge.outbox import (
    DeleteDocuments,
    DeletePassages,
    EndValidity,
    OutboxEntry,
    OutboxId,
    PatchRows,
    StoreOperation,
    apply_operations,
)
from knowledge.stores import MetadataPatch
from tests.fakes.memory_source import START, MemoryPage, MemorySource
from tests.unit.knowledge.ingesting import Workbench, open_workbench

LATER = START + timedelta(days=9)


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    async with open_workbench(database, tmp_path) as opened:
        await opened.sync(MemorySource({key: MemoryPage(text=f"page {key}") for key in "abc"}))
        yield opened


async def load_hits(bench: Workbench) -> dict[str, Hit]:
    hits = await bench.parts.store.list_hits(EVERY_ROW, limit=100)
    return {hit.title: hit for hit in hits}


async def apply(bench: Workbench, *operations: StoreOperation) -> dict[str, Hit]:
    """Apply operations twice, as a crash may, and return the rows by title."""
    entries = [
        OutboxEntry(entry_id=OutboxId(number), operation=one)
        for number, one in enumerate(operations)
    ]
    await apply_operations(bench.parts.store, entries)
    once = await load_hits(bench)
    await apply_operations(bench.parts.store, entries)
    assert await load_hits(bench) == once
    return once


async def test_rows_are_ended(bench: Workbench) -> None:
    row = (await load_hits(bench))["a"]
    after = await apply(bench, EndValidity(passage_ids=(row.passage_id,), valid_to=LATER))
    assert {key: hit.valid_to for key, hit in after.items()} == {"a": LATER, "b": None, "c": None}


async def test_rows_are_patched(bench: Workbench) -> None:
    patch = MetadataPatch(document_id=MemorySource({}).id_of("a"), status=Status.ARCHIVED)
    after = await apply(bench, PatchRows(patches=(patch,)))
    assert [hit.title for hit in after.values() if hit.status is Status.ARCHIVED] == ["a"]


async def test_documents_are_deleted(bench: Workbench) -> None:
    source = MemorySource({})
    ids = (source.id_of("a"), source.id_of("never held"))
    assert (await apply(bench, DeleteDocuments(document_ids=ids))).keys() == {"b", "c"}


async def test_passages_are_deleted(bench: Workbench) -> None:
    row = (await load_hits(bench))["b"]
    ids = (row.passage_id, PassageId("never written"))
    assert (await apply(bench, DeletePassages(passage_ids=ids))).keys() == {"a", "c"}


async def test_operations_are_done_in_their_order(bench: Workbench) -> None:
    document_id = MemorySource({}).id_of("a")
    patches = [
        PatchRows(patches=(MetadataPatch(document_id=document_id, space=space),))
        for space in ("first", "second")
    ]
    assert (await apply(bench, *patches))["a"].space == "second"


async def test_nothing_to_do_is_done(bench: Workbench) -> None:
    before = await load_hits(bench)
    assert await apply(bench) == before
    await settle(bench.parts, [])


async def test_what_is_settled_is_crossed_off_and_what_is_not_is_kept(bench: Workbench) -> None:
    source, writer = MemorySource({}), bench.parts.writer
    entries = await writer.delete_documents([source.id_of("a")], terms=TermDelta())
    later = await writer.delete_documents([source.id_of("b")], terms=TermDelta())
    await settle(bench.parts, entries)
    assert (await writer.load_unfinished()).operations == later
    assert (await load_hits(bench)).keys() == {"b", "c"}

"""A writer killed at any point leaves whole commits, and the next one goes on."""

import asyncio
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from knowledge.documents import DocumentId, PassageId
from knowledge.stores import IndexShape, PassageStore
from knowledge.stores.lancedb import open_lancedb_store
from tests.contracts.passages import ALL_TIMES, EVERYTHING, SHAPE, build_passage, list_vectors

ROWS = 40
WRITER = """
import asyncio, sys
from pathlib import Path
from knowledge.documents import DocumentId, PassageId
from knowledge.stores import MetadataPatch
from knowledge.stores.lancedb import open_lancedb_store
from tests.contracts.passages import SHAPE, START, build_passage, build_vector

async def main(folder, rows):
    store = await open_lancedb_store(Path(folder), SHAPE)
    for number in range(1_000_000):
        print("round", flush=True)
        page = DocumentId(f"page-{number % 7}")
        batch = [
            build_passage(
                f"{number % 7}-{row}", f"disk word{row} round{number}",
                document_id=page, title=f"{number}", vector=build_vector(1, row),
            )
            for row in range(rows)
        ]
        await store.upsert(batch)
        await store.patch([MetadataPatch(document_id=page, title=f"patched {number}")])
        await store.end_validity([row.passage_id for row in batch[: rows // 2]], START)
        if number % 3 == 0:
            await store.delete_documents([DocumentId(f"page-{(number + 3) % 7}")])
        await store.optimize()

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


@asynccontextmanager
async def writing(folder: Path, *, rounds: int) -> AsyncIterator[None]:
    """Have another process write, enter the block after so many rounds and kill it at the end."""
    writer = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", WRITER, str(folder), str(ROWS)), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert writer.stdout is not None
        for _ in range(rounds):
            assert await writer.stdout.readline() == b"round\n"
        yield
    finally:
        writer.kill()
        await writer.wait()


async def test_killed_writers_leave_whole_commits(folder: Path) -> None:
    chance = random.Random(11)
    for _ in range(3):
        async with writing(folder, rounds=chance.randint(1, 6)):
            await asyncio.sleep(chance.uniform(0, 0.2))
        await check_rows(folder)


async def check_rows(folder: Path) -> None:
    store = await open_lancedb_store(folder, SHAPE)
    hits = await store.list_hits(ALL_TIMES, limit=10_000)
    by_document: dict[DocumentId, set[str]] = {}
    for hit in hits:
        by_document.setdefault(hit.document_id, set()).add(hit.title)
    assert len({hit.passage_id for hit in hits}) == len(hits) == await store.count()
    assert len(hits) == ROWS * len(by_document)
    assert all(len(titles) == 1 for titles in by_document.values())
    found = await store.search_terms(["disk"], ALL_TIMES, limit=1_000)
    assert {hit.passage_id for hit in found} == {hit.passage_id for hit in hits}
    assert len(list_vectors(hits)) == len(hits)
    await check_writing(store)
    await store.close()


async def check_writing(store: PassageStore) -> None:
    rows = await store.count()
    await store.upsert([build_passage("new", "brandnew")])
    await store.optimize()
    [hit] = await store.search_terms(["brandnew"], EVERYTHING, limit=5)
    assert hit.passage_id == "new"
    await store.delete_passages([PassageId("new")])
    assert await store.count() == rows


async def test_reader_keeps_reading_while_another_process_writes(folder: Path) -> None:
    """Compaction and the removal of old versions go on under the reader's feet."""
    reader = await open_lancedb_store(folder, SHAPE)
    other = await open_lancedb_store(
        folder, IndexShape(embedder="other", dimension=0, analysis="1")
    )
    async with writing(folder, rounds=1):
        seen: set[int] = set()
        while len(seen) < 5:
            hits = await reader.search_terms(["disk"], ALL_TIMES, limit=1_000)
            assert len(hits) % ROWS == 0
            seen.add(len(hits))
        await other.upsert([build_passage("beside")])
    assert await other.count() == 1
    await other.close()
    await reader.close()

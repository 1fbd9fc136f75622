"""What was deleted is gone from the files, and not only from searches."""

import random
import shutil
from pathlib import Path

import pytest

from knowledge.documents import DocumentId, PassageId
from knowledge.stores import IndexShape, MetadataPatch
from knowledge.stores.lancedb import LanceDBStore, open_lancedb_store
from tests.contracts.passages import (
    DIMENSION,
    EVERYTHING,
    SHAPE,
    WORDS_ONLY,
    build_passage,
    build_vector,
    list_ids,
)

SECRET = "quaggacorn"
ROWS = 40
INDEXED_ROWS = 6_000


async def open_store(folder: Path, shape: IndexShape = SHAPE) -> LanceDBStore:
    """Open a store that waits for no reader."""
    return await open_lancedb_store(folder, shape, reader_grace_s=0)


def find_files(folder: Path, word: str = SECRET) -> list[str]:
    """Return the files in which a word stands as it is."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path) for path in files if word.encode() in path.read_bytes()]


def list_files(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


async def fill(store: LanceDBStore, count: int) -> None:
    """Write rows, one of which has a word that no other has."""
    chance = random.Random(3)
    rows = [
        build_passage(
            f"p{number}",
            f"common word{number % 300}",
            text=f"text {chance.random()}",
            vector=build_vector(*(chance.random() for _ in range(DIMENSION))),
        )
        for number in range(count)
    ]
    rows[7] = build_passage(
        "secret", f"common {SECRET}", text=f"The {SECRET} is 7.", vector=build_vector(1)
    )
    await store.upsert(rows)
    await store.optimize()


@pytest.mark.parametrize("count", [ROWS, INDEXED_ROWS])
async def test_deleted_text_leaves_the_files(tmp_path: Path, count: int) -> None:
    store = await open_store(tmp_path)
    await fill(store, count)
    await store.delete_passages([PassageId("secret")])
    await store.optimize()
    assert count > ROWS or find_files(tmp_path)
    before = await store.search_terms(["word7", "word8"], EVERYTHING, limit=10)
    near = await store.search_vector(build_vector(0, 1), EVERYTHING, limit=5)
    await store.purge()
    assert find_files(tmp_path) == []
    assert len(list_files(tmp_path, "*.lance/_versions/*.manifest")) == 1
    assert list_files(tmp_path, "*.lance/_deletions/*") == []
    assert await store.count() == count - 1
    after = await store.search_terms(["word7", "word8"], EVERYTHING, limit=10)
    assert list_ids(after) == list_ids(before)
    assert list_ids(await store.search_vector(build_vector(0, 1), EVERYTHING, limit=5)) == (
        list_ids(near)
    )
    assert await store.search_terms([SECRET], EVERYTHING, limit=5) == []
    await store.close()


async def test_replaced_text_and_former_metadata_leave_the_files(tmp_path: Path) -> None:
    store = await open_store(tmp_path)
    await fill(store, ROWS)
    await store.upsert([build_passage("secret", text="Nothing to see.")])
    await store.patch([MetadataPatch(document_id=DocumentId("doc-p1"), author=f"{SECRET}.li")])
    await store.patch([MetadataPatch(document_id=DocumentId("doc-p1"), author="wang.li")])
    assert find_files(tmp_path)
    await store.purge()
    assert find_files(tmp_path) == []
    assert await store.count() == ROWS
    await store.close()


async def test_an_index_without_any_row_left_is_purged_too(tmp_path: Path) -> None:
    store = await open_store(tmp_path)
    await fill(store, ROWS)
    hits = await store.list_hits(EVERYTHING, limit=ROWS)
    await store.delete_passages([hit.passage_id for hit in hits])
    await store.purge()
    assert find_files(tmp_path) == []
    await fill(store, ROWS)
    assert list_ids(await store.search_terms([SECRET], EVERYTHING, limit=5)) == ["secret"]
    await store.close()


async def test_files_of_a_write_that_was_never_committed_go(tmp_path: Path) -> None:
    store = await open_store(tmp_path)
    await fill(store, ROWS)
    [data] = list_files(tmp_path, "*.lance/data/*.lance")
    shutil.copy(data, data.with_name("0" * 50 + ".lance"))
    await store.delete_passages([PassageId("secret")])
    await store.purge()
    assert find_files(tmp_path) == []
    await store.close()


async def test_nothing_is_rewritten_where_nothing_is_dead(tmp_path: Path) -> None:
    store = await open_store(tmp_path)
    await fill(store, ROWS)
    await store.purge()
    files = list_files(tmp_path, "**/*")
    await store.purge()
    assert list_files(tmp_path, "**/*") == files
    await store.close()


async def test_other_readers_go_on_with_what_is_left(tmp_path: Path) -> None:
    store = await open_store(tmp_path)
    await fill(store, ROWS)
    reader = await open_store(tmp_path)
    assert list_ids(await reader.search_terms([SECRET], EVERYTHING, limit=5)) == ["secret"]
    await store.delete_passages([PassageId("secret")])
    await store.purge()
    assert await reader.search_terms([SECRET], EVERYTHING, limit=5) == []
    assert len(await reader.search_terms(["common"], EVERYTHING, limit=ROWS)) == ROWS - 1
    await reader.close()
    await store.close()


async def test_indexes_of_other_shapes_go_only_when_asked(tmp_path: Path) -> None:
    other = await open_store(tmp_path, WORDS_ONLY)
    await other.upsert([build_passage("x", text=f"the {SECRET} of old")])
    await other.close()
    store = await open_store(tmp_path)
    await fill(store, ROWS)
    await store.delete_passages([PassageId("secret")])
    await store.purge()
    assert len(find_files(tmp_path)) == 1
    await store.purge(with_other_shapes=True)
    assert find_files(tmp_path) == []
    assert await store.count() == ROWS - 1
    await store.close()

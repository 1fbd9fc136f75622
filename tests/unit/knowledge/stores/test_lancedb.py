"""LanceDB keeps the contract, and says what is wrong with its folder."""

import asyncio
import os
import random
import shutil
from pathlib import Path

import pytest

from core.errors import SettingsError
from knowledge.documents import DocumentId
from knowledge.stores import IndexShape, MetadataPatch
from knowledge.stores.lancedb import LanceDBStore, open_lancedb_store
from knowledge.stores.lancedb_folder import build_table_name
from tests.contracts.passage_store import PassageStoreContract
from tests.contracts.passages import (
    EVERYTHING,
    SHAPE,
    WORDS_ONLY,
    build_filter,
    build_passage,
    list_ids,
)


class TestLanceDB(PassageStoreContract):
    """The contract as it stands."""


def test_table_names_tell_shapes_apart() -> None:
    shapes = [
        IndexShape(embedder=embedder, dimension=dimension, analysis=analysis)
        for embedder in ("BAAI/bge-m3", "BAAI_bge m3", "模型", "", "x" * 300, "../up")
        for dimension in (0, 384)
        for analysis in ("1", "2")
    ]
    names = {build_table_name(shape) for shape in shapes}
    assert len(names) == len(shapes)
    for name in names:
        assert name.replace("-", "").isalnum()
        assert name.isascii()
        assert len(name) < 80


async def test_folder_of_another_embedder_is_kept(folder: Path) -> None:
    first = await open_lancedb_store(folder, SHAPE)
    await first.upsert([build_passage("a")])
    await first.close()
    await (await open_lancedb_store(folder, WORDS_ONLY)).close()
    again = await open_lancedb_store(folder, SHAPE)
    assert await again.count() == 1
    await again.close()


def write_file(path: Path) -> None:
    path.write_text("not a folder")


def make_folder(path: Path, mode: int = 0o700) -> None:
    path.mkdir(parents=True)
    path.chmod(mode)


async def test_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "passages"
    write_file(path)
    for place in (path, path / "below"):
        with pytest.raises(SettingsError, match=r"passages.*store\.path"):
            await open_lancedb_store(place, SHAPE)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
async def test_folder_without_write_access_is_named(folder: Path) -> None:
    make_folder(folder, mode=0o500)
    with pytest.raises(SettingsError, match="write access"):
        await open_lancedb_store(folder, SHAPE)


async def test_lock_file_that_cannot_be_written_is_named(folder: Path) -> None:
    make_folder(folder / ".writer.lock")
    with pytest.raises(SettingsError, match=r"\.writer\.lock.*write access"):
        await open_lancedb_store(folder, SHAPE)


def damage_files(folder: Path) -> None:
    for file in folder.iterdir():
        file.write_bytes(b"garbage")


async def write_and_close(folder: Path) -> Path:
    """Return where the table of a closed store with one row lies."""
    store = await open_lancedb_store(folder, SHAPE)
    await store.upsert([build_passage("a", "disk")])
    await store.close()
    return folder / f"{build_table_name(SHAPE)}.lance"


async def test_damaged_manifest_is_named(folder: Path) -> None:
    table = await write_and_close(folder)
    damage_files(table / "_versions")
    with pytest.raises(SettingsError, match=r"passages.*remove it and sync again"):
        await open_lancedb_store(folder, SHAPE)


async def test_rows_without_manifests_are_not_written_over(folder: Path) -> None:
    table = await write_and_close(folder)
    shutil.rmtree(table / "_versions")
    with pytest.raises(SettingsError, match=r"lost the manifests.*sync again"):
        await open_lancedb_store(folder, SHAPE)
    assert os.listdir(table / "data")


async def test_damaged_rows_are_named_when_they_are_read(folder: Path) -> None:
    table = await write_and_close(folder)
    damage_files(table / "data")
    store = await open_lancedb_store(folder, SHAPE)
    with pytest.raises(SettingsError, match=r"passages.*damaged"):
        await store.search_terms(["disk"], EVERYTHING, limit=5)
    await store.close()


async def test_half_made_table_is_finished(folder: Path) -> None:
    """A kill between making the folder and the first manifest leaves nothing but the folder."""
    make_folder(folder / f"{build_table_name(SHAPE)}.lance" / "_versions")
    store = await open_lancedb_store(folder, SHAPE)
    await store.upsert([build_passage("a", "disk")])
    assert list_ids(await store.search_terms(["disk"], EVERYTHING, limit=5)) == ["a"]
    await store.close()


async def test_table_of_another_release_is_named(folder: Path, store: LanceDBStore) -> None:
    async with store._folder.reading() as table:
        await table.drop_columns(["author"])
    with pytest.raises(SettingsError, match=r"another release.*sync again"):
        await open_lancedb_store(folder, SHAPE)


async def test_missing_word_index_is_made_when_opening(folder: Path, store: LanceDBStore) -> None:
    await store.upsert([build_passage("a", "K8-023 the")])
    async with store._folder.reading() as table:
        await table.drop_index("terms_idx")
    again = await open_lancedb_store(folder, SHAPE)
    assert await again.search_terms(["k8-023"], EVERYTHING, limit=5) == []
    assert list_ids(await again.search_terms(["K8-023"], EVERYTHING, limit=5)) == ["a"]
    assert list_ids(await again.search_terms(["the"], EVERYTHING, limit=5)) == ["a"]
    await again.close()


async def test_document_of_more_rows_than_a_commit_is_patched_whole(store: LanceDBStore) -> None:
    page = DocumentId("page")
    await store.upsert([build_passage(f"p{no}", document_id=page) for no in range(4_200)])
    await store.patch([MetadataPatch(document_id=page, space="moved")])
    assert await store.count(build_filter(spaces=frozenset({"moved"}))) == 4_200
    assert await store.count() == 4_200


async def test_cancelled_write_is_finished_before_the_next_begins(store: LanceDBStore) -> None:
    chance = random.Random(3)
    for step in range(15):
        rows = [build_passage(f"{step}-{number}", "disk " * 20) for number in range(100)]
        task = asyncio.create_task(store.upsert(rows))
        await asyncio.sleep(chance.uniform(0, 0.02))
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        await asyncio.gather(task, return_exceptions=True)
        assert await store.count() in {100 * step, 100 * step + 100}
        await store.upsert(rows)
        assert await store.count() == 100 * step + 100


async def test_closed_store_says_so(store: LanceDBStore) -> None:
    await store.close()
    with pytest.raises(RuntimeError, match="closed"):
        await store.count()
    with pytest.raises(RuntimeError, match="closed"):
        await store.upsert([build_passage("a")])


async def test_store_refuses_to_work_after_a_fork(store: LanceDBStore) -> None:
    assert run_in_fork(store) == 0
    assert await store.count() == 0


def run_in_fork(store: LanceDBStore) -> int:
    """Return 0 when the forked process was refused; it must not return into the test runner."""
    child = os.fork()
    if child == 0:
        try:
            store.count().send(None)
        except RuntimeError as error:
            os._exit(0 if "fork" in str(error) else 2)
        finally:
            os._exit(3)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

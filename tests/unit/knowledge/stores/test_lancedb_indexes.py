"""Indexes find what a plain scan finds, and upkeep is done when it pays."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knowledge.access import AccessNo, ReadableClasses
from knowledge.documents import DocumentId, PassageId, Status
from knowledge.stores import (
    IndexShape,
    Level,
    MetadataPatch,
    PassageFilter,
    StoredPassage,
)
from knowledge.stores.lancedb import LanceDBStore, open_lancedb_store
from knowledge.stores.lancedb_indexes import AT_REST, refresh_indexes
from knowledge.stores.lancedb_pieces import join_fresh_pieces
from tests.contracts.passages import (
    ALL_TIMES,
    EVERYTHING,
    SHAPE,
    START,
    build_filter,
    build_passage,
    build_reader,
    build_vector,
    list_ids,
    list_vectors,
)

DIMENSION = 16
ROWS = 6_000
CLASSES = 300
DAY = timedelta(days=1)
NO_TIME = timedelta(milliseconds=1)
WORDS = [f"word{number}" for number in range(400)] + [f"词{number}" for number in range(400)]


def build_vectors(count: int, seed: int) -> np.ndarray:
    """Return vectors of length one in clusters of uneven size."""
    generator = np.random.default_rng(seed)
    centres = generator.standard_normal((40, DIMENSION))
    vectors = centres[generator.zipf(1.5, count) % 40]
    vectors += 0.7 * generator.standard_normal((count, DIMENSION))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors, dtype=np.float32)


def build_big_index() -> dict[PassageId, StoredPassage]:
    chance = random.Random(5)
    vectors = build_vectors(ROWS, seed=6)
    rows = [
        build_passage(
            f"p{number:05}",
            " ".join(chance.choices(WORDS, k=chance.randint(4, 30))),
            document_id=DocumentId(f"d{number // 5}"),
            level=Level.SECTION if number % 5 == 0 else Level.PASSAGE,
            position=number % 5,
            space=f"space-{number % 11}",
            labels=(f"label-{number % 23}", "all"),
            codes=(f"k8-{number % 700:03}",) if number % 2 else (),
            status=Status.ARCHIVED if number % 17 == 0 else Status.CURRENT,
            valid_from=START + DAY * (number % 50),
            valid_to=START + DAY * (60 + number % 9) if number % 8 == 0 else None,
            updated_at=START + DAY * (number % 50),
            access_no=AccessNo(chance.randint(1, CLASSES)),
            vector=None if number % 29 == 0 else vectors[number],
        )
        for number in range(ROWS)
    ]
    return {row.passage_id: row for row in rows}


def admits(where: PassageFilter, row: StoredPassage) -> bool:
    """Tell what the contract says of a row, without any index."""
    if where.any_time:
        is_in_time = True
    elif where.as_of is None:
        is_in_time = row.valid_to is None
    else:
        ends_at: datetime = row.valid_to or datetime.max.replace(tzinfo=START.tzinfo)
        is_in_time = row.valid_from <= where.as_of < ends_at
    return (
        is_in_time
        and where.access.admits(row.access_no)
        and row.level == where.level
        and row.status in where.statuses
        and (not where.spaces or row.space in where.spaces)
        and (not where.labels or bool(where.labels & set(row.labels)))
        and (where.updated_after is None or row.updated_at >= where.updated_after)
    )


def build_filters() -> list[PassageFilter]:
    chance = random.Random(8)
    readers: list[ReadableClasses] = [
        EVERYTHING.access,
        *(
            build_reader(*chance.sample(range(1, CLASSES + 1), count), last_known=CLASSES)
            for count in (3, 40, 140, 280)
        ),
    ]
    changes: list[dict[str, object]] = [
        {},
        {"as_of": START + 30 * DAY},
        {"any_time": True, "level": Level.SECTION},
        {"statuses": frozenset(Status), "updated_after": START + 20 * DAY},
        {"spaces": frozenset({"space-1", "space-7"}), "labels": frozenset({"label-4", "label-9"})},
    ]
    return [build_filter(access=reader, **change) for reader in readers for change in changes]


async def check_against_scan(store: LanceDBStore, rows: dict[PassageId, StoredPassage]) -> None:
    """Compare every kind of search with what its definition says."""
    chance = random.Random(9)
    recalls = []
    for number, where in enumerate(build_filters()):
        expected = {row.passage_id: row for row in rows.values() if admits(where, row)}
        assert await store.count(where) == len(expected)
        terms = chance.sample(WORDS, 3)
        with_terms = [name for name, row in expected.items() if set(terms) & set(row.terms.split())]
        hits = await store.search_terms(terms, where, limit=ROWS)
        assert sorted(list_ids(hits)) == sorted(with_terms)
        codes = {f"k8-{chance.randint(0, 699):03}" for _ in range(3)}
        with_codes = [name for name, row in expected.items() if codes & set(row.codes)]
        found = await store.find_codes(sorted(codes), where, limit=ROWS)
        assert sorted(list_ids(found)) == sorted(with_codes)
        recalls.append(await measure_recall(store, where, expected, seed=number))
    assert np.mean(recalls) >= 0.99
    assert min(recalls) >= 0.97


async def measure_recall(
    store: LanceDBStore,
    where: PassageFilter,
    expected: dict[PassageId, StoredPassage],
    *,
    seed: int,
) -> float:
    """Return the share of the exact 50 best that the store finds, and check its cosines."""
    [query] = build_vectors(1, seed=100 + seed)
    cosines = {
        name: float(row.vector @ query) for name, row in expected.items() if row.vector is not None
    }
    best = sorted(cosines, key=lambda name: -cosines[name])[:50]
    hits = await store.search_vector(query, where, limit=50)
    assert len(hits) == len(best)
    for hit in hits:
        assert hit.score == pytest.approx(cosines[hit.passage_id], abs=1e-4)
    return len(set(best) & set(list_ids(hits))) / max(1, len(best))


async def list_indexed(store: LanceDBStore) -> set[str]:
    async with store._folder.reading() as table:
        return {index.columns[0] for index in await table.list_indices()}


async def count_fresh(store: LanceDBStore) -> int:
    async with store._folder.reading() as table:
        indexes = await table.list_indices()
    return next(index.num_unindexed_rows or 0 for index in indexes if index.columns == ["terms"])


async def count_pieces(store: LanceDBStore) -> int:
    async with store._folder.reading() as table:
        stats: Any = await table.stats()
    return int(stats["fragment_stats"]["num_fragments"])


async def test_indexes_find_what_a_scan_finds(folder: Path) -> None:
    rows = build_big_index()
    shape = IndexShape(embedder="seeded", dimension=DIMENSION, analysis="1")
    store = await open_lancedb_store(folder, shape)
    everything = list(rows.values())
    await store.upsert(everything[:5_000])
    await store.optimize()
    assert {"terms", "vector", "access_no", "labels", "codes"} <= await list_indexed(store)
    await check_against_scan(store, {row.passage_id: row for row in everything[:5_000]})

    await store.upsert(everything[4_900:])
    await change_some(store, rows)
    await check_against_scan(store, rows)
    await store.optimize()
    assert await count_fresh(store) == 0
    await check_against_scan(store, rows)
    await store.close()


async def change_some(store: LanceDBStore, rows: dict[PassageId, StoredPassage]) -> None:
    """Patch, close and delete rows, indexed ones and fresh ones, in the store and in the model."""
    closed = [name for number, name in enumerate(rows) if number % 31 == 0]
    await store.end_validity(closed, START + 70 * DAY)
    change_model(rows, closed, lambda row: replace(row, valid_to=row.valid_to or START + 70 * DAY))
    patched = {DocumentId(f"d{number}") for number in range(100, 1_200, 9)}
    await store.patch(
        [
            MetadataPatch(
                document_id=name, access_no=AccessNo(7), labels=("label-4",), space="space-1"
            )
            for name in sorted(patched)
        ]
    )
    names = [name for name, row in rows.items() if row.document_id in patched]
    change_model(
        rows,
        names,
        lambda row: replace(row, access_no=AccessNo(7), labels=("label-4",), space="space-1"),
    )
    gone = {DocumentId(f"d{number}") for number in range(3, 1_200, 13)}
    await store.delete_documents(sorted(gone))
    for name in [name for name, row in rows.items() if row.document_id in gone]:
        del rows[name]


def change_model(
    rows: dict[PassageId, StoredPassage],
    names: list[PassageId],
    change: Callable[[StoredPassage], StoredPassage],
) -> None:
    for name in names:
        rows[name] = change(rows[name])


async def test_any_order_of_writes_and_upkeep_gives_the_same_rows(store: LanceDBStore) -> None:
    chance = random.Random(21)
    model: dict[PassageId, StoredPassage] = {}
    names = [f"p{number}" for number in range(30)]
    for step in range(60):
        some = chance.sample(names, 6)
        match chance.randrange(6):
            case 0 | 1:
                rows = [
                    build_passage(name, f"disk step{step}", document_id=DocumentId(f"d{name[-1]}"))
                    for name in some
                ]
                await store.upsert(rows)
                model |= {row.passage_id: row for row in rows}
            case 2:
                await store.end_validity([PassageId(name) for name in some], START + DAY)
                for name in set(some) & set(model):
                    row = model[PassageId(name)]
                    model[row.passage_id] = replace(row, valid_to=row.valid_to or START + DAY)
            case 3:
                page = DocumentId(f"d{chance.randrange(10)}")
                await store.patch([MetadataPatch(document_id=page, title=f"step {step}")])
                inside = [name for name, row in model.items() if row.document_id == page]
                for passage_id in inside:
                    model[passage_id] = replace(model[passage_id], title=f"step {step}")
            case 4:
                await store.delete_passages([PassageId(name) for name in some[:2]])
                for name in some[:2]:
                    model.pop(PassageId(name), None)
            case _:
                await store.optimize(more_follows=chance.random() < 0.5)
        hits = await store.search_terms(["disk"], ALL_TIMES, limit=100)
        found = {hit.passage_id: (hit.terms, hit.title, hit.valid_to) for hit in hits}
        assert found == {name: (r.terms, r.title, r.valid_to) for name, r in model.items()}


async def test_upkeep_waits_while_more_follows(store: LanceDBStore) -> None:
    await store.upsert([build_passage("a", "disk")])
    await store.optimize(more_follows=True)
    assert await count_fresh(store) == 1
    assert len(await store.search_terms(["disk"], EVERYTHING, limit=5)) == 1
    await store.optimize()
    assert await count_fresh(store) == 0


async def test_pieces_of_many_small_writes_are_joined(store: LanceDBStore) -> None:
    for number in range(40):
        await store.upsert([build_passage(f"p{number}", "disk")])
        await store.optimize()
        assert await count_pieces(store) <= AT_REST.pieces
    assert len(await store.search_terms(["disk"], EVERYTHING, limit=50)) == 40


async def test_fresh_pieces_are_joined_without_touching_the_others(store: LanceDBStore) -> None:
    rows = [build_passage(f"p{number}", f"disk word{number}") for number in range(30)]
    await store.upsert(rows)
    await store.optimize()
    for row in rows[:8]:
        await store.upsert([replace(row, title="new", vector=build_vector(1))])
    before = await store.list_hits(EVERYTHING, limit=50)
    async with store._folder.reading() as table:
        await join_fresh_pieces(table, fresh=8, limit=9)
        assert await count_pieces(store) == 9
        await join_fresh_pieces(table, fresh=8, limit=4)
    assert await count_pieces(store) == 2
    assert await count_fresh(store) == 8
    after = await store.list_hits(EVERYTHING, limit=50)
    assert after == before
    assert len(list_vectors(after)) == 8


def count_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


async def test_deleted_rows_leave_the_files(folder: Path, store: LanceDBStore) -> None:
    rows = [
        replace(build_passage(f"p{number}"), text="secret-words " * 20) for number in range(2_500)
    ]
    await store.upsert(rows)
    await store.delete_passages([row.passage_id for row in rows[10:]])
    async with store._folder.reading() as table:
        limits = replace(AT_REST, keep_versions_for=NO_TIME)
        await refresh_indexes(table, store._folder.table_path, limits)
    assert count_bytes(folder) < 100_000
    assert await store.count() == 10


async def test_open_readers_survive_the_removal_of_old_versions(folder: Path) -> None:
    writer = await open_lancedb_store(folder, SHAPE)
    reader = await open_lancedb_store(folder, SHAPE)
    await writer.upsert([build_passage("a", "disk")])
    assert await reader.count() == 1
    for number in range(3):
        await writer.upsert([build_passage(f"b{number}", "disk")])
        async with writer._folder.reading() as table:
            limits = replace(AT_REST, pieces=0, keep_versions_for=NO_TIME)
            await refresh_indexes(table, writer._folder.table_path, limits)
        assert len(await reader.search_terms(["disk"], EVERYTHING, limit=9)) == number + 2
    await writer.close()
    await reader.close()


async def test_few_vectors_among_many_rows_are_searched_without_an_index(
    store: LanceDBStore,
) -> None:
    vector = build_vector(1)
    await store.upsert([build_passage(f"p{number}") for number in range(2_100)])
    await store.upsert([build_passage("with", vector=vector)])
    await store.optimize()
    assert "vector" not in await list_indexed(store)
    assert list_ids(await store.search_vector(vector, EVERYTHING, limit=5)) == ["with"]

"""How every passage store takes and changes rows; a part of PassageStoreContract."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from knowledge.access import AccessNo
from knowledge.documents import DocumentId, PassageId, Status
from knowledge.stores import Level, MetadataPatch, PassageStore
from tests.contracts.passages import (
    ALL_TIMES,
    EVERYTHING,
    SHAPE,
    START,
    OpenStore,
    build_filter,
    build_passage,
    build_reader,
    build_vector,
    list_ids,
    list_vectors,
)

LATER = START + timedelta(days=30)


class PassageWriteContract:
    """Writes are harmless twice, exact, and leave everything else alone."""

    async def test_a_row_written_again_is_replaced(self, store: PassageStore) -> None:
        await store.upsert([build_passage("a", "before", vector=build_vector(1))])
        await store.optimize()
        await store.upsert([build_passage("a", "after", title="New", vector=build_vector(0, 1))])
        assert await store.count() == 1
        assert await store.search_terms(["before"], EVERYTHING, limit=5) == []
        [hit] = await store.search_terms(["after"], EVERYTHING, limit=5)
        assert hit.title == "New"
        vectors = list_vectors([hit])
        np.testing.assert_allclose(vectors[PassageId("a")], build_vector(0, 1), atol=1e-6)

    async def test_no_write_makes_two_rows_of_one_id(self, store: PassageStore) -> None:
        twice = [build_passage("a", "first"), build_passage("b"), build_passage("a", "last")]
        await store.upsert(twice)
        await store.upsert(twice)
        await asyncio.gather(*(store.upsert(twice) for _ in range(8)))
        assert await store.count() == 2
        [hit] = await store.get([PassageId("a")], EVERYTHING)
        assert hit.terms == "last"

    async def test_writers_at_the_same_time_lose_nothing(self, store: PassageStore) -> None:
        await asyncio.gather(
            *(
                store.upsert([build_passage(f"{task}-{row}") for row in range(5)])
                for task in range(6)
            ),
            store.optimize(),
        )
        assert await store.count() == 30

    async def test_writing_nothing_is_allowed(self, store: PassageStore) -> None:
        await store.upsert([])
        await store.patch([])
        await store.end_validity([], LATER)
        await store.delete_documents([])
        await store.delete_passages([])
        assert await store.get([], EVERYTHING) == []
        assert await store.count() == 0

    async def test_another_reader_sees_new_rows_at_once(self, open_store: OpenStore) -> None:
        writer, reader = await open_store(SHAPE), await open_store(SHAPE)
        for number in range(3):
            await writer.upsert([build_passage(f"a{number}", "disk")])
            assert len(await reader.search_terms(["disk"], EVERYTHING, limit=9)) == number + 1
        await writer.optimize()
        await writer.delete_passages([PassageId("a0")])
        assert len(await reader.search_terms(["disk"], EVERYTHING, limit=9)) == 2

    async def test_ending_validity_closes_open_rows_only(self, store: PassageStore) -> None:
        closed_at = START + timedelta(days=1)
        await store.upsert(
            [
                build_passage("a", "disk", vector=build_vector(1)),
                build_passage("b", "disk"),
                build_passage("c", "disk", valid_to=closed_at),
            ]
        )
        ids = [PassageId(name) for name in ("a", "c", "unknown")]
        for _ in range(2):
            await store.end_validity(ids, LATER)
            assert list_ids(await store.search_terms(["disk"], EVERYTHING, limit=5)) == ["b"]
            ends = {hit.passage_id: hit.valid_to for hit in await store.get(ids, ALL_TIMES)}
            assert ends == {"a": LATER, "c": closed_at}
        assert PassageId("a") in list_vectors(await store.get(ids, ALL_TIMES))
        before = build_filter(as_of=LATER - timedelta(seconds=1))
        assert list_ids(await store.search_vector(build_vector(1), before, limit=5)) == ["a"]

    async def test_a_patch_changes_every_row_of_a_document_and_no_other(
        self, store: PassageStore
    ) -> None:
        page = DocumentId("a-1")
        rows = [
            build_passage("p", "disk", document_id=page, vector=build_vector(1)),
            build_passage("s", "disk", document_id=page, level=Level.SECTION),
            build_passage("old", "disk", document_id=page, valid_to=LATER),
            build_passage("other", "disk", document_id=DocumentId("a-1-b")),
            build_passage("another", "disk", document_id=DocumentId("a-")),
        ]
        await store.upsert(rows)
        patch = MetadataPatch(
            document_id=page,
            access_no=AccessNo(5),
            status=Status.ARCHIVED,
            title="新标题",
            url="https://wiki.example/new",
            space="hr",
            scope="wiki/hr",
            labels=("x", "y"),
            author="li",
            version_number=3,
            version_label="v3",
            updated_at=LATER,
        )
        for _ in range(2):
            await store.patch([patch, MetadataPatch(document_id=DocumentId("unknown"), title="x")])
        hits = {
            hit.passage_id: hit for hit in await store.get([r.passage_id for r in rows], ALL_TIMES)
        }
        assert len(hits) == await store.count() == 5
        for name in ("p", "s", "old"):
            hit = hits[PassageId(name)]
            assert (hit.access_no, hit.status, hit.title) == (5, Status.ARCHIVED, "新标题")
            assert (hit.url, hit.space, hit.labels) == (patch.url, "hr", ("x", "y"))
            assert (hit.version_number, hit.version_label, hit.updated_at) == (3, "v3", LATER)
            assert (hit.text, hit.terms) == (f"Text of {name}. 正文。", "disk")
        assert hits[PassageId("old")].valid_to == LATER
        for name in ("other", "another"):
            assert hits[PassageId(name)].title == f"Title of {name}"
        moved = build_filter(
            scopes=frozenset({"wiki/hr"}),
            author="li",
            labels=frozenset({"y"}),
            statuses=frozenset({Status.ARCHIVED}),
            updated_after=LATER,
            access=build_reader(5),
        )
        assert list_ids(await store.search_terms(["disk"], moved, limit=5)) == ["p"]
        assert list_ids(await store.search_vector(build_vector(1), moved, limit=5)) == ["p"]

    async def test_a_patch_can_name_its_rows(self, store: PassageStore) -> None:
        page = DocumentId("page")
        await store.upsert([build_passage(name, document_id=page) for name in ("a", "b")])
        await store.patch(
            [
                MetadataPatch(
                    document_id=page,
                    access_no=AccessNo(7),
                    passage_ids=(PassageId("b"), PassageId("unknown")),
                )
            ]
        )
        hits = await store.get([PassageId("a"), PassageId("b")], EVERYTHING)
        assert {hit.passage_id: hit.access_no for hit in hits} == {"a": 1, "b": 7}

    async def test_patches_of_one_document_apply_in_their_order(self, store: PassageStore) -> None:
        await store.upsert([build_passage("a", labels=("old",))])
        page = DocumentId("doc-a")
        await store.patch(
            [
                MetadataPatch(document_id=page, title="first", space="kept"),
                MetadataPatch(document_id=page, title="last", labels=()),
            ]
        )
        [hit] = await store.get([PassageId("a")], EVERYTHING)
        assert (hit.title, hit.space, hit.labels) == ("last", "kept", ())

    async def test_documents_are_deleted_whole_and_alone(self, store: PassageStore) -> None:
        await store.upsert(
            [
                build_passage("a", document_id=DocumentId("a-1")),
                build_passage("b", document_id=DocumentId("a-1"), valid_to=LATER),
                build_passage("c", document_id=DocumentId("a-1"), level=Level.SECTION),
                build_passage("d", document_id=DocumentId("a-1-b")),
                build_passage("e", document_id=DocumentId("A-1")),
                build_passage("f", document_id=DocumentId("a")),
            ]
        )
        for _ in range(2):
            await store.delete_documents([DocumentId("a-1"), DocumentId("unknown")])
            assert await store.count() == 3
        ids = [PassageId(name) for name in "abcdef"]
        assert sorted(list_ids(await store.get(ids, ALL_TIMES))) == ["d", "e", "f"]

    async def test_passages_are_deleted_by_id(self, store: PassageStore) -> None:
        await store.upsert([build_passage(name, "disk") for name in ("a", "a-b", "b")])
        for _ in range(2):
            await store.delete_passages([PassageId("a"), PassageId("unknown")])
            found = await store.search_terms(["disk"], EVERYTHING, limit=5)
            assert sorted(list_ids(found)) == ["a-b", "b"]

    async def test_thousands_of_ids_are_taken_at_once(self, store: PassageStore) -> None:
        rows = [
            build_passage(f"p{no:04}", "disk", document_id=DocumentId(f"d{no // 2:04}"))
            for no in range(3_000)
        ]
        ids = [row.passage_id for row in rows]
        await store.upsert(rows)
        await store.end_validity(ids[:1_500], LATER)
        await store.patch(
            [
                MetadataPatch(document_id=DocumentId(f"d{no:04}"), title=f"New {no}")
                for no in range(1_200)
            ]
        )
        hits = {hit.passage_id: hit for hit in await store.get(ids, ALL_TIMES)}
        assert len(hits) == await store.count() == 3_000
        assert sum(hit.valid_to == LATER for hit in hits.values()) == 1_500
        assert hits[PassageId("p2399")].title == "New 1199"
        assert hits[PassageId("p2400")].title == "Title of p2400"
        await store.optimize()
        await store.delete_documents([DocumentId(f"d{no:04}") for no in range(1_400)])
        await store.delete_passages(ids[2_990:])
        assert await store.count() == 190
        assert len(await store.search_terms(["disk"], EVERYTHING, limit=500)) == 190

    async def test_a_purge_changes_nothing_that_is_found(self, store: PassageStore) -> None:
        await store.upsert([build_passage("a"), build_passage("b"), build_passage("c")])
        await store.delete_passages([PassageId("b")])
        for _ in range(2):
            await store.purge()
            assert list_ids(await store.search_terms(["common"], EVERYTHING, limit=5)) == ["a", "c"]
        await store.upsert([build_passage("b")])
        assert await store.count() == 3

    async def test_vectors_come_back_as_they_were(self, store: PassageStore) -> None:
        rows = [build_passage(f"p{no}", vector=build_vector(1, no)) for no in range(5)]
        await store.upsert([*rows, build_passage("none")])
        await store.patch([MetadataPatch(document_id=DocumentId("doc-p1"), title="New")])
        await store.optimize()
        ids = [*(row.passage_id for row in rows), PassageId("none")]
        vectors = list_vectors(await store.get(ids, EVERYTHING))
        assert len(vectors) == 5
        for hits in (
            await store.list_hits(EVERYTHING, limit=9),
            await store.search_terms(["common"], EVERYTHING, limit=9),
            await store.search_vector(build_vector(1), EVERYTHING, limit=9),
        ):
            assert list_vectors(hits).keys() == vectors.keys()
        for row in rows:
            assert row.vector is not None
            vector = vectors[row.passage_id]
            assert vector.dtype == np.float32
            np.testing.assert_allclose(vector, row.vector, atol=1e-6)

    async def test_vectors_of_another_length_are_refused(self, store: PassageStore) -> None:
        odd = np.ones(3, np.float32)
        with pytest.raises(ValueError, match="embed"):
            await store.upsert([build_passage("a"), build_passage("b", vector=odd)])
        with pytest.raises(ValueError, match="embed"):
            await store.search_vector(odd, EVERYTHING, limit=5)
        bad = np.full_like(build_vector(1), np.nan)
        with pytest.raises(ValueError, match="finite"):
            await store.upsert([build_passage("a", vector=bad)])
        assert await store.count() == 0

    async def test_times_without_a_zone_are_refused(self, store: PassageStore) -> None:
        naive = datetime(2026, 1, 1)  # noqa: DTZ001
        with pytest.raises(ValueError, match="zone"):
            await store.upsert([build_passage("a", updated_at=naive)])
        with pytest.raises(ValueError, match="zone"):
            await store.list_hits(build_filter(as_of=naive), limit=5)

    async def test_text_survives_a_close(self, open_store: OpenStore) -> None:
        store = await open_store(SHAPE)
        await store.upsert([replace(build_passage("a", "磁盘"), text="全文 😀 \u0000 'x'\n")])
        await store.close()
        await store.close()
        again = await open_store(SHAPE)
        [hit] = await again.search_terms(["磁盘"], EVERYTHING, limit=5)
        assert hit.text == "全文 😀 \u0000 'x'\n"

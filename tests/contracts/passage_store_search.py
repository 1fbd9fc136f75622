"""How every passage store finds and ranks; a part of PassageStoreContract."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from knowledge.access import AccessNo
from knowledge.documents import DocumentId, PassageId, PassageKind, Status
from knowledge.stores import Level, PassageStore
from tests.contracts.passages import (
    ALL_TIMES,
    EVERYTHING,
    SHAPE,
    START,
    WORDS_ONLY,
    OpenStore,
    build_filter,
    build_passage,
    build_reader,
    build_vector,
    list_ids,
)


class PassageSearchContract:
    """Ranking and filters."""

    async def test_empty_index_finds_nothing(self, store: PassageStore) -> None:
        assert await store.search_terms(["disk"], EVERYTHING, limit=5) == []
        assert await store.search_vector(build_vector(1), EVERYTHING, limit=5) == []
        assert await store.find_codes(["K8-023"], EVERYTHING, limit=5) == []
        assert await store.list_hits(EVERYTHING, limit=5) == []
        assert await store.get([PassageId("a")], EVERYTHING) == []
        assert await store.count() == 0
        await store.optimize()

    async def test_a_hit_carries_what_was_stored(self, store: PassageStore) -> None:
        row = build_passage(
            "a",
            "磁盘 清理 disk clean disk",
            codes=("k8-023",),
            kind=PassageKind.STEPS,
            page=7,
            position=3,
            labels=("运维", "o'brien"),
            status=Status.ARCHIVED,
            version_number=4,
            version_label="v4",
            updated_at=datetime(2026, 2, 3, 4, 5, 6, 789_012, tzinfo=UTC),
            valid_from=datetime(2026, 2, 3, 12, 5, 6, 1, tzinfo=timezone(timedelta(hours=8))),
            valid_to=datetime(2026, 3, 1, tzinfo=UTC),
            access_no=AccessNo(9),
        )
        await store.upsert([row])
        [hit] = await store.get([PassageId("a")], ALL_TIMES)
        for name in (
            *("passage_id", "section_id", "document_id", "title", "heading_path", "text", "kind"),
            *("url", "page", "position", "space", "source", "labels", "status", "version_number"),
            *("version_label", "updated_at", "valid_from", "valid_to", "access_no", "terms"),
        ):
            assert getattr(hit, name) == getattr(row, name), name
        assert hit.score == 0
        assert hit.updated_at.tzinfo == UTC

    async def test_rows_with_any_of_the_terms_are_ranked_by_bm25(self, store: PassageStore) -> None:
        await store.upsert(
            [
                build_passage("both", "磁盘 full common common"),
                build_passage("twice", "磁盘 磁盘 common common"),
                build_passage("once", "磁盘 other common common"),
                build_passage("long", "磁盘 " + "other " * 30),
                build_passage("none", "printer paper common common"),
            ]
        )
        for _ in range(2):  # not yet indexed, then indexed
            hits = await store.search_terms(["磁盘", "full"], EVERYTHING, limit=10)
            assert list_ids(hits) == ["both", "twice", "once", "long"]
            assert [hit.score for hit in hits] == sorted((h.score for h in hits), reverse=True)
            assert hits[0].scores == {"bm25": hits[0].score}
            await store.optimize()

    async def test_fresh_and_indexed_rows_rank_alike(self, store: PassageStore) -> None:
        """The same text must not win or lose because it was written a minute later."""
        texts = [f"disk {'full ' * (n % 3)}word{n} word{n % 7} other" for n in range(60)]
        old = [build_passage(f"old-{n:02}", text) for n, text in enumerate(texts)]
        new = [build_passage(f"new-{n:02}", text) for n, text in enumerate(texts)]
        await store.upsert(old)
        await store.optimize()
        await store.upsert(new)
        await store.optimize()
        hits = await store.search_terms(["disk", "full", "word3"], EVERYTHING, limit=120)
        scores = {hit.passage_id: hit.score for hit in hits}
        assert len(scores) == 120
        for number in range(60):
            ours, theirs = PassageId(f"old-{number:02}"), PassageId(f"new-{number:02}")
            assert scores[ours] == pytest.approx(scores[theirs], rel=1e-4)

    @pytest.mark.parametrize(
        "term",
        [
            *("k8-023", "gb/t", "10.0.3.7", "/etc/hosts", "snake_case", "c++", "a:b", "#1"),
            *('"quoted"', "it's", "AND", "OR", "NOT", "*", "?", "~2", "^3", "(", "\\", "{}", "-"),
            *("磁盘", "é", "x" * 80, "长" * 50, "<b>", "%", "NULL", "';--", "a\u00a0b", "😀"),
        ],
    )
    async def test_a_term_is_any_string_without_blanks(
        self, store: PassageStore, term: str
    ) -> None:
        await store.upsert(
            [build_passage("with", f"alpha {term} beta"), build_passage("without", "alpha beta")]
        )
        for _ in range(2):
            assert list_ids(await store.search_terms([term], EVERYTHING, limit=5)) == ["with"]
            await store.optimize()

    async def test_terms_are_matched_whole_and_as_they_are(self, store: PassageStore) -> None:
        await store.upsert([build_passage("a", "running 磁盘清理 Disk and the")])
        for term in ("run", "磁盘", "disk", "runn*"):
            assert await store.search_terms([term], EVERYTHING, limit=5) == [], term
        for term in ("running", "Disk", "and", "the"):
            assert len(await store.search_terms([term], EVERYTHING, limit=5)) == 1, term

    async def test_a_term_given_twice_counts_once(self, store: PassageStore) -> None:
        await store.upsert([build_passage("a", "disk full"), build_passage("b", "other")])
        [once] = await store.search_terms(["disk"], EVERYTHING, limit=5)
        [twice] = await store.search_terms(["disk", "disk"], EVERYTHING, limit=5)
        assert once.score == pytest.approx(twice.score)

    async def test_no_terms_or_no_room_find_nothing(self, store: PassageStore) -> None:
        await store.upsert([build_passage("a", "disk", vector=build_vector(1))])
        assert await store.search_terms([], EVERYTHING, limit=5) == []
        assert await store.search_terms(["", " "], EVERYTHING, limit=5) == []
        assert await store.search_terms(["disk"], EVERYTHING, limit=0) == []
        assert await store.search_vector(build_vector(1), EVERYTHING, limit=0) == []
        assert await store.find_codes([], EVERYTHING, limit=5) == []
        assert await store.list_hits(EVERYTHING, limit=0) == []

    async def test_vectors_are_ranked_by_cosine(self, store: PassageStore) -> None:
        await store.upsert(
            [
                build_passage("same", vector=build_vector(1, 1)),
                build_passage("near", vector=build_vector(1, 0.5)),
                build_passage("right-angle", vector=build_vector(0, 0, 1)),
                build_passage("opposite", vector=build_vector(-1, -1)),
                build_passage("none"),
            ]
        )
        hits = await store.search_vector(build_vector(1, 1), EVERYTHING, limit=10)
        assert list_ids(hits) == ["same", "near", "right-angle", "opposite"]
        assert [hit.score for hit in hits] == pytest.approx([1, 0.9486833, 0, -1], abs=1e-5)
        assert hits[1].scores == {"vector": hits[1].score}

    async def test_a_query_without_direction_finds_nothing(self, store: PassageStore) -> None:
        await store.upsert([build_passage("a", vector=build_vector(1))])
        nothing = np.zeros_like(build_vector(1))
        assert await store.search_vector(nothing, EVERYTHING, limit=5) == []

    async def test_equal_scores_are_ordered_by_id_whatever_the_limit(
        self, store: PassageStore
    ) -> None:
        names = [f"p{number:02}" for number in range(40)]
        rows = [build_passage(name, "disk", vector=build_vector(1)) for name in names]
        await store.upsert(rows[20:])
        await store.optimize()
        await store.upsert(rows[:20])
        await store.optimize()
        for limit in (1, 7, 40):
            by_terms = await store.search_terms(["disk"], EVERYTHING, limit=limit)
            by_vector = await store.search_vector(build_vector(1), EVERYTHING, limit=limit)
            assert list_ids(by_terms) == list_ids(by_vector) == names[:limit]

    async def test_codes_are_matched_whole_most_codes_first(self, store: PassageStore) -> None:
        await store.upsert(
            [
                build_passage("two", codes=("k8-023", "10.0.3.7", "x'y")),
                build_passage("one-b", codes=("k8-023",)),
                build_passage("one-a", codes=("10.0.3.7", "k8-0230")),
                build_passage("none", codes=("k8-0231", "8-023")),
                build_passage("closed", codes=("k8-023",), valid_to=START + timedelta(days=1)),
            ]
        )
        for _ in range(2):
            hits = await store.find_codes(["k8-023", "10.0.3.7"], EVERYTHING, limit=5)
            assert list_ids(hits) == ["two", "one-a", "one-b"]
            assert [hit.score for hit in hits] == [2, 1, 1]
            assert list_ids(await store.find_codes(["x'y"], EVERYTHING, limit=5)) == ["two"]
            assert list_ids(await store.find_codes(["k8-023"], EVERYTHING, limit=1)) == ["one-b"]
            await store.optimize()

    async def test_get_ignores_the_level_only(self, store: PassageStore) -> None:
        await store.upsert(
            [
                build_passage("a", level=Level.SECTION),
                build_passage("b", access_no=AccessNo(2)),
                build_passage("c", valid_to=START + timedelta(days=1)),
            ]
        )
        ids = [PassageId(name) for name in ("a", "a", "b", "c", "unknown")]
        hits = await store.get(ids, build_filter(access=build_reader(1)))
        assert list_ids(hits) == ["a"]
        assert len(await store.get(ids, ALL_TIMES)) == 3

    async def test_hits_are_listed_by_document_and_position(self, store: PassageStore) -> None:
        rows = [
            build_passage(f"{doc}{position}", document_id=DocumentId(doc), position=position)
            for doc in ("b", "a", "a-b")
            for position in (10, 2, 1)
        ]
        await store.upsert(rows)
        listed = list_ids(await store.list_hits(EVERYTHING, limit=20))
        assert listed == ["a1", "a2", "a10", "a-b1", "a-b2", "a-b10", "b1", "b2", "b10"]
        assert list_ids(await store.list_hits(EVERYTHING, limit=2)) == ["a1", "a2"]

    async def test_index_without_vectors_ranks_words_only(self, open_store: OpenStore) -> None:
        store = await open_store(WORDS_ONLY)
        await store.upsert([build_passage("a", "disk")])
        assert await store.search_vector(build_vector(1), EVERYTHING, limit=5) == []
        assert await store.search_vector(np.zeros(0, np.float32), EVERYTHING, limit=5) == []
        [hit] = await store.search_terms(["disk"], EVERYTHING, limit=5)
        assert hit.vector is None

    async def test_indexes_of_two_shapes_do_not_mix(self, open_store: OpenStore) -> None:
        first, second = await open_store(SHAPE), await open_store(WORDS_ONLY)
        await first.upsert([build_passage("a", "disk")])
        assert await second.count() == 0
        await second.upsert([build_passage("b", "disk")])
        assert list_ids(await first.search_terms(["disk"], EVERYTHING, limit=5)) == ["a"]

"""What a passage store may return under a filter; a part of PassageStoreContract."""

from datetime import timedelta

import pytest

from knowledge.access import NOTHING, OPERATOR, AccessNo, ReadableClasses
from knowledge.documents import DocumentId, PassageId, SectionId, Status
from knowledge.languages import Language
from knowledge.stores import Level, PassageFilter, PassageStore, StoredPassage
from tests.contracts.passages import (
    EVERYTHING,
    START,
    build_filter,
    build_passage,
    build_reader,
    build_vector,
    list_ids,
)

DAY = timedelta(days=1)
# Each of them would close a quoted string, or a statement, or match more than itself.
AWKWARD = (
    *("o'brien", "''", "' OR '1'='1", "x' OR true --", "\\'", '"', "`", "%", "_", "\n", "运维 组"),
    *("\x00", "{}", "$1", "?", "/* */", ";", "\u2019", "😀", "NULL", ""),
)


def build_row(name: str, **changes: object) -> StoredPassage:
    """Return a row that every kind of search finds."""
    return build_passage(name, "common", codes=("code",), vector=build_vector(1), **changes)


class PassageFilterContract:
    """Every clause of a filter holds for every kind of search, indexed or not."""

    @pytest.mark.parametrize("is_indexed", [False, True])
    async def test_a_reader_sees_only_readable_classes(
        self, store: PassageStore, *, is_indexed: bool
    ) -> None:
        await store.upsert([build_row(f"c{no:02}", access_no=AccessNo(no)) for no in range(1, 13)])
        if is_indexed:
            await store.optimize()
        few, many = build_reader(2, 5), build_reader(*(no for no in range(1, 11) if no != 4))
        assert await find(store, build_filter(access=few)) == ["c02", "c05"]
        # 11 and 12 came after the reader's classes were worked out: denied.
        assert await find(store, build_filter(access=many)) == [
            f"c{no:02}" for no in range(1, 11) if no != 4
        ]
        assert len(await find(store, build_filter(access=build_reader(*range(1, 11))))) == 10
        assert len(await find(store, build_filter(access=OPERATOR))) == 12
        assert await find(store, build_filter(access=NOTHING)) == []
        assert await find(store, build_filter(access=build_reader())) == []
        assert await store.get([PassageId("c02")], build_filter(access=NOTHING)) == []

    async def test_a_class_that_is_not_listed_at_all_is_denied(self, store: PassageStore) -> None:
        """Unknown is denied, also where naming the denied ones would be shorter."""
        await store.upsert([build_row(f"c{no}", access_no=AccessNo(no)) for no in range(6)])
        forgetful = ReadableClasses(
            numbers=frozenset(AccessNo(no) for no in (1, 2, 3)),
            denied=frozenset({AccessNo(5)}),
            last_known=AccessNo(5),
        )
        assert await find(store, build_filter(access=forgetful)) == ["c1", "c2", "c3"]

    async def test_filters_apply_before_the_best_are_chosen(self, store: PassageStore) -> None:
        """Many better rows that may not be seen must not push out the one that may."""
        await store.upsert(
            [
                *(build_row(f"hidden{no:03}", access_no=AccessNo(2)) for no in range(300)),
                *(build_row(f"section{no:03}", level=Level.SECTION) for no in range(300)),
                build_passage("seen", "common " + "word " * 200, vector=build_vector(1, 5)),
            ]
        )
        await store.optimize()
        where = build_filter(access=build_reader(1))
        assert list_ids(await store.search_terms(["common"], where, limit=3)) == ["seen"]
        assert list_ids(await store.search_vector(build_vector(1), where, limit=3)) == ["seen"]

    async def test_levels_are_searched_apart(self, store: PassageStore) -> None:
        await store.upsert([build_row("small"), build_row("whole", level=Level.SECTION)])
        assert await find(store, EVERYTHING) == ["small"]
        assert await find(store, build_filter(level=Level.SECTION)) == ["whole"]
        assert await store.count() == 2

    async def test_time_is_a_filter(self, store: PassageStore) -> None:
        await store.upsert(
            [
                build_row("v1", valid_from=START, valid_to=START + DAY),
                build_row("v2", valid_from=START + DAY, valid_to=START + 2 * DAY),
                build_row("v3", valid_from=START + 2 * DAY),
            ]
        )
        assert await find(store, EVERYTHING) == ["v3"]
        moment = timedelta(microseconds=1)
        for as_of, expected in (
            (START - moment, []),
            (START, ["v1"]),
            (START + DAY - moment, ["v1"]),
            (START + DAY, ["v2"]),
            (START + 2 * DAY, ["v3"]),
            (START + 900 * DAY, ["v3"]),
        ):
            assert await find(store, build_filter(as_of=as_of)) == expected, as_of
        assert len(await find(store, build_filter(any_time=True, as_of=START))) == 3

    async def test_statuses_are_allowed_by_name(self, store: PassageStore) -> None:
        await store.upsert([build_row("now"), build_row("old", status=Status.ARCHIVED)])
        assert await find(store, EVERYTHING) == ["now"]
        only = build_filter(statuses=frozenset({Status.ARCHIVED}))
        assert await find(store, only) == ["old"]
        assert await find(store, build_filter(statuses=frozenset(Status))) == ["now", "old"]
        assert await find(store, build_filter(statuses=frozenset())) == []

    async def test_each_choice_admits_one_of_its_values(self, store: PassageStore) -> None:
        for name in ("a", "b", "c"):
            await store.upsert(
                [
                    build_row(
                        name,
                        source=f"source-{name}",
                        scope=f"scope-{name}",
                        space=f"space-{name}",
                        labels=(f"label-{name}", "shared"),
                        author=f"author-{name}",
                    )
                ]
            )
        for field, prefix in (
            ("sources", "source-"),
            ("scopes", "scope-"),
            ("spaces", "space-"),
            ("labels", "label-"),
            ("documents", "doc-"),
            ("sections", "section-"),
        ):
            one = build_filter(**{field: frozenset({prefix + "b"})})
            two = build_filter(**{field: frozenset({prefix + "b", prefix + "c", "unknown"})})
            part = build_filter(**{field: frozenset({prefix, prefix + "B"})})
            assert await find(store, one) == ["b"], field
            assert await find(store, two) == ["b", "c"], field
            assert await find(store, part) == [], field
        assert await find(store, build_filter(author="author-a")) == ["a"]
        assert len(await find(store, build_filter(labels=frozenset({"shared"})))) == 3

    async def test_a_text_is_admitted_by_its_own_language(self, store: PassageStore) -> None:
        await store.upsert(
            [
                build_row("zh", text="磁盘满了怎么办", title="Disk full"),
                build_row("en", text="What to do when a disk is full", title="磁盘"),
            ]
        )
        for language, expected in ((Language.CHINESE, ["zh"]), (Language.OTHER, ["en"])):
            only = build_filter(languages=frozenset({language}))
            assert await find(store, only) == expected
        assert await find(store, build_filter(languages=frozenset(Language))) == ["en", "zh"]

    async def test_choices_hold_together(self, store: PassageStore) -> None:
        await store.upsert(
            [
                build_row("a", space="x", labels=("l",)),
                build_row("b", space="x"),
                build_row("c", space="y", labels=("l",)),
                build_row("d", space="x", labels=("l",), access_no=AccessNo(2)),
            ]
        )
        await store.optimize()
        where = build_filter(
            spaces=frozenset({"x"}),
            labels=frozenset({"l"}),
            documents=frozenset(DocumentId(f"doc-{name}") for name in "abcd"),
            sections=frozenset(SectionId(f"section-{name}") for name in "abcd"),
            access=build_reader(1),
        )
        assert await find(store, where) == ["a"]

    async def test_update_bounds_include_the_first_moment_only(self, store: PassageStore) -> None:
        await store.upsert([build_row(f"d{day}", updated_at=START + day * DAY) for day in range(4)])
        after, before = START + DAY, START + 3 * DAY
        assert await find(store, build_filter(updated_after=after)) == ["d1", "d2", "d3"]
        assert await find(store, build_filter(updated_before=before)) == ["d0", "d1", "d2"]
        both = build_filter(updated_after=after, updated_before=before)
        assert await find(store, both) == ["d1", "d2"]

    @pytest.mark.parametrize("value", AWKWARD)
    async def test_values_are_values_whatever_they_contain(
        self, store: PassageStore, value: str
    ) -> None:
        await store.upsert(
            [
                build_passage(
                    value or "empty",
                    "common",
                    document_id=DocumentId(value),
                    space=value,
                    labels=(value, "x"),
                    codes=(value,),
                    author="somebody",
                ),
                build_passage("other", "common", labels=("x",), space="other", codes=("other",)),
            ]
        )
        expected = [value or "empty"]
        for where in (
            build_filter(documents=frozenset({DocumentId(value)})),
            build_filter(spaces=frozenset({value})),
            build_filter(labels=frozenset({value})),
        ):
            assert list_ids(await store.list_hits(where, limit=5)) == expected
            assert list_ids(await store.search_terms(["common"], where, limit=5)) == expected
            assert await store.count(where) == 1
        assert list_ids(await store.find_codes([value], EVERYTHING, limit=5)) == expected
        assert list_ids(await store.get([PassageId(expected[0])], EVERYTHING)) == expected
        await store.delete_documents([DocumentId(value)])
        assert list_ids(await store.list_hits(EVERYTHING, limit=5)) == ["other"]


async def find(store: PassageStore, where: PassageFilter) -> list[str]:
    """Return the ids that all kinds of search agree on."""
    found = [
        sorted(list_ids(hits))
        for hits in (
            await store.search_terms(["common"], where, limit=50),
            await store.search_vector(build_vector(1), where, limit=50),
            await store.find_codes(["code"], where, limit=50),
            await store.list_hits(where, limit=50),
        )
    ]
    assert all(one == found[0] for one in found), found
    assert await store.count(where) == len(found[0])
    return found[0]

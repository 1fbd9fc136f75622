from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lancedb.expr import Expr

from knowledge.access import NOTHING, AccessNo, ReadableClasses
from knowledge.documents import DocumentId, SectionId
from knowledge.stores.lancedb import open_lancedb_store
from knowledge.stores.lancedb_filter import build_predicate
from tests.contracts.passages import (
    EVERYTHING,
    SHAPE,
    build_filter,
    build_passage,
    build_reader,
    list_ids,
)

# Characters that mean something to SQL, to query languages or to files, and some that don't.
_VALUES = st.text(alphabet="'\"\\`;-%_*?()[]{}$\n\t\x00 /xX磁😀", min_size=0, max_size=8)


@settings(max_examples=25, deadline=None)
@given(values=st.lists(_VALUES, min_size=1, max_size=5, unique=True))
async def test_no_value_reaches_another_row(
    tmp_path_factory: pytest.TempPathFactory, values: list[str]
) -> None:
    folder: Path = tmp_path_factory.mktemp("store")
    store = await open_lancedb_store(folder, SHAPE)
    rows = [
        build_passage(
            f"row-{number}",
            document_id=DocumentId(value),
            section_id=SectionId(value),
            source=value,
            scope=value,
            space=value,
            labels=("shared", value),
            codes=(value,),
            author=value,
        )
        for number, value in enumerate(values)
    ]
    await store.upsert([*rows, build_passage("other", labels=("shared",))])
    for number, value in enumerate(values):
        only = frozenset({value})
        where = build_filter(
            documents=only,
            sections=only,
            sources=only,
            scopes=only,
            spaces=only,
            labels=only,
            author=value,
        )
        expected = [f"row-{number}"]
        assert list_ids(await store.list_hits(where, limit=9)) == expected
        assert list_ids(await store.search_terms(["common"], where, limit=9)) == expected
        assert list_ids(await store.find_codes([value], EVERYTHING, limit=9)) == expected
        assert await store.count(where) == 1
    await store.delete_documents([DocumentId(value) for value in values])
    assert list_ids(await store.list_hits(EVERYTHING, limit=9)) == ["other"]
    await store.close()


def describe_access(access: ReadableClasses) -> str:
    """Return the conditions on access as LanceDB writes them out; "" = none."""
    predicate = build_predicate(build_filter(access=access))
    assert predicate is not None
    conditions: list[Expr] = list(predicate.typed)
    texts = [condition.to_sql() for condition in conditions]
    return " AND ".join(text for text in texts if "access_no" in text)


def test_the_shorter_way_to_name_the_classes_is_taken() -> None:
    few = describe_access(build_reader(3, 7, last_known=1_000))
    many = describe_access(build_reader(*range(3, 1_001), last_known=1_000))
    assert few.endswith("IN (3, 7)")
    assert "NOT" in many
    assert "IN (1, 2)" in many
    assert "> 1000" in many
    assert len(many) < 200


def test_a_reader_of_every_class_still_has_an_upper_bound() -> None:
    assert "> 10" in describe_access(build_reader(*range(1, 11)))


def test_classes_beyond_the_last_known_are_never_left_open() -> None:
    odd = ReadableClasses(
        numbers=frozenset(AccessNo(number) for number in (1, 2, 3, 99)),
        denied=frozenset(),
        last_known=AccessNo(3),
    )
    assert describe_access(odd).endswith("IN (1, 2, 3, 99)")


def test_filter_that_admits_nothing_needs_no_index() -> None:
    assert build_predicate(build_filter(access=NOTHING)) is None
    assert build_predicate(build_filter(statuses=frozenset())) is None
    assert describe_access(EVERYTHING.access) == ""

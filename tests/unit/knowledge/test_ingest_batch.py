from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.database import Database
from knowledge.access import ALL_MEMBERS, NOBODY, OPERATOR, AccessNo, AccessRule, ReadableClasses
from knowledge.documents import BodyPart, Content, Document, DocumentId, Hit, Status, Version
from knowledge.ingest_batch import (
    EVERY_ROW,
    change_rules,
    remove_documents,
    store_documents,
)
from knowledge.ledger_records import TermStatistics
from tests.fakes.memory_source import START
from tests.fakes.tiny_embedder import TinyEmbedder
from tests.unit.knowledge.ingesting import Workbench, open_workbench

FINANCE = AccessRule.of(["group:company/finance"])
DAY = timedelta(days=1)


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    async with open_workbench(database, tmp_path) as opened:
        yield opened


def build_document(
    key: str,
    text: str,
    *,
    number: int = 1,
    access: AccessRule = ALL_MEMBERS,
    included: tuple[BodyPart, ...] = (),
) -> Document:
    return Document(
        document_id=DocumentId(f"wiki:{key}"),
        source="wiki",
        scope="wiki",
        locator=key,
        url=f"wiki/{key}",
        content=Content(
            title=key,
            parts=(BodyPart(markdown=text), *included),
            version=Version(number=number, at=START + DAY * number),
        ),
        access=access,
        token=str(number),
    )


def include(key: str, text: str, rule: AccessRule) -> BodyPart:
    return BodyPart(markdown=text, included_from=DocumentId(f"wiki:{key}"), included_rule=rule)


async def load_rows(bench: Workbench) -> list[Hit]:
    return await bench.parts.store.list_hits(EVERY_ROW, limit=1000)


async def count_terms(bench: Workbench, *terms: str) -> TermStatistics:
    return await bench.term_index.load(terms)


async def only(bench: Workbench, *rules: AccessRule) -> ReadableClasses:
    numbers = frozenset([await bench.parts.registry.number_of(rule) for rule in rules])
    return ReadableClasses(numbers=numbers, denied=frozenset(), last_known=AccessNo(99))


async def test_no_documents_are_no_work(bench: Workbench) -> None:
    counts = await store_documents(bench.parts, [])
    assert (counts.added, counts.rows_added) == (0, 0)
    await remove_documents(bench.parts, [])
    assert await change_rules(bench.parts, {}) == set()


async def test_counts_tell_new_changed_and_unchanged_apart(bench: Workbench) -> None:
    first = [build_document("a", "alpha"), build_document("b", "beta")]
    counts = await store_documents(bench.parts, first)
    assert (counts.added, counts.changed, counts.unchanged) == (2, 0, 0)
    assert (counts.rows_added, counts.rows_closed, counts.rows_embedded) == (2, 0, 0)
    again = [build_document("a", "gamma", number=2), first[1], build_document("c", "delta")]
    counts = await store_documents(bench.parts, again)
    assert (counts.added, counts.changed, counts.unchanged) == (1, 1, 1)
    assert (counts.rows_added, counts.rows_closed) == (2, 1)


async def test_statistics_count_what_is_in_force(bench: Workbench) -> None:
    await store_documents(bench.parts, [build_document("a", "alpha beta")])
    await store_documents(bench.parts, [build_document("a", "beta gamma", number=2)])
    statistics = await count_terms(bench, "alpha", "beta", "gamma")
    assert statistics.rows == 1
    assert statistics.document_frequency == {"alpha": 0, "beta": 1, "gamma": 1}
    await remove_documents(bench.parts, [DocumentId("wiki:a")])
    assert await count_terms(bench, "beta") == TermStatistics(
        rows=0, average_length=0.0, document_frequency={"beta": 0}
    )


async def test_only_new_text_is_embedded(database: Database, tmp_path: Path) -> None:
    tiny = TinyEmbedder()
    async with open_workbench(database, tmp_path, embedder=tiny) as bench:
        text = "# One\n\nalpha stays here\n\n# Two\n\n{} goes on and on until it is long enough"
        filler = " and more words" * 12
        first = build_document("a", text.format("beta") + filler)
        counts = await store_documents(bench.parts, [first])
        assert counts.rows_embedded == len(tiny.embedded) == counts.rows_added
        tiny.embedded.clear()
        second = build_document("a", text.format("gamma") + filler, number=2)
        counts = await store_documents(bench.parts, [second])
        assert counts.rows_embedded == len(tiny.embedded) == counts.rows_added
        assert tiny.embedded
        assert not [one for one in tiny.embedded if "alpha" in one and "gamma" not in one]


async def test_changed_metadata_reaches_all_rows_without_new_text(bench: Workbench) -> None:
    document = build_document("a", "alpha")
    await store_documents(bench.parts, [document])
    await store_documents(bench.parts, [build_document("a", "beta", number=2)])
    moved = replace(
        build_document("a", "beta", number=2), space="Ops", labels=("x",), status=Status.ARCHIVED
    )
    counts = await store_documents(bench.parts, [moved])
    assert (counts.changed, counts.rows_added) == (1, 0)
    assert {(hit.space, hit.labels, hit.status) for hit in await load_rows(bench)} == {
        ("Ops", ("x",), Status.ARCHIVED)
    }


async def test_a_new_rule_of_a_stored_page_holds_for_its_past_too(bench: Workbench) -> None:
    await store_documents(bench.parts, [build_document("a", "secret alpha")])
    changed = build_document("a", "secret beta", number=2, access=FINANCE)
    await store_documents(bench.parts, [changed])
    finance = await bench.parts.registry.number_of(FINANCE)
    assert {hit.access_no for hit in await load_rows(bench)} == {finance}
    members = await only(bench, ALL_MEMBERS)
    assert not await bench.texts("secret", members, as_of=START + DAY * 1.5)


@pytest.mark.parametrize("rule", [FINANCE, NOBODY])
async def test_changing_rules_names_the_pages_that_include_the_text(
    bench: Workbench, rule: AccessRule
) -> None:
    part = include("price", "the price is nine", ALL_MEMBERS)
    await store_documents(
        bench.parts,
        [
            build_document("price", "the price is nine"),
            build_document("open", "see below", included=(part,)),
            build_document("apart", "nothing of it"),
        ],
    )
    price = DocumentId("wiki:price")
    assert await change_rules(bench.parts, {price: rule}) == {DocumentId("wiki:open")}
    assert not await bench.texts("price nine", await only(bench, ALL_MEMBERS))
    stored = {hit.text: hit.access_no for hit in await load_rows(bench) if "nine" in hit.text}
    joined = await bench.parts.registry.number_of(ALL_MEMBERS & rule)
    alone = await bench.parts.registry.number_of(rule)
    assert set(stored.values()) <= {joined, alone}
    assert (await bench.parts.writer.load_unfinished()).operations == ()


async def test_a_page_and_the_page_it_includes_may_get_new_rules_at_once(bench: Workbench) -> None:
    part = include("price", "it is nine", ALL_MEMBERS)
    await store_documents(
        bench.parts,
        [build_document("price", "it is nine"), build_document("open", "below", included=(part,))],
    )
    sales = AccessRule.of(["group:company/sales"])
    await change_rules(
        bench.parts, {DocumentId("wiki:price"): FINANCE, DocumentId("wiki:open"): sales}
    )
    assert await bench.texts("nine", await only(bench, sales)) == []
    both = await only(bench, ALL_MEMBERS & FINANCE & sales)
    assert await bench.texts("nine", both) == ["it is nine"]


async def test_a_document_without_history_forgets_what_it_said(bench: Workbench) -> None:
    first = replace(build_document("open", "it is nine"), keeps_history=False)
    second = replace(build_document("open", "it is ten", number=2), keeps_history=False)
    await store_documents(bench.parts, [first])
    await store_documents(bench.parts, [second])
    assert {hit.text for hit in await load_rows(bench)} == {"it is ten"}
    versions = await bench.parts.ledger.load_versions(DocumentId("wiki:open"))
    assert [one.number for one in versions] == [2]


async def test_included_text_is_reclassed_when_only_the_rule_between_changes(
    bench: Workbench,
) -> None:
    def page(rule: AccessRule) -> Document:
        return build_document("open", "see below", included=(include("price", "it is nine", rule),))

    await store_documents(bench.parts, [page(FINANCE)])
    assert not await bench.texts("nine", await only(bench, ALL_MEMBERS))
    counts = await store_documents(bench.parts, [page(ALL_MEMBERS)])
    assert counts.rows_added == 0
    assert await bench.texts("nine", await only(bench, ALL_MEMBERS))


async def test_removed_documents_leave_with_their_past(bench: Workbench) -> None:
    documents: Sequence[Document] = [build_document("a", "alpha"), build_document("b", "beta")]
    await store_documents(bench.parts, documents)
    await store_documents(bench.parts, [build_document("a", "gamma", number=2)])
    await remove_documents(bench.parts, [DocumentId("wiki:a"), DocumentId("wiki:unknown")])
    assert [hit.text for hit in await load_rows(bench)] == ["beta"]
    assert await bench.texts("beta", OPERATOR) == ["beta"]

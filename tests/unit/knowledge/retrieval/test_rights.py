"""Whatever way text reaches a reader, the reader's classes of today decide."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from core.database import Database
from core.settings import RetrievalSettings
from knowledge.access import (
    ALL_MEMBERS,
    NOTHING,
    OPERATOR,
    AccessNo,
    AccessRule,
    ReadableClasses,
)
from knowledge.documents import Status
from knowledge.index_rebuild import rebuild_index
from knowledge.ingest_batch import EVERY_ROW
from knowledge.ledger_records import AccessChange, TermDelta
from knowledge.progress import NoProgress
from knowledge.retrieval import Retrieval
from knowledge.stores import Level, PassageFilter
from tests.fakes.memory_source import START, MemoryPage, MemorySource
from tests.fakes.tiny_embedder import TinyEmbedder
from tests.unit.knowledge.ingesting import Workbench, open_workbench

FINANCE = AccessRule.of(["group:company/finance"])
DAY = timedelta(days=1)
CANARY = "CANARY"
# Long enough for several passages and a section row; every passage carries the mark.
SECRET = "# Budget 预算\n\n" + "\n\n".join(
    f"The Falcon budget number {n} is {n}000 {CANARY} K8-023. 猎鹰项目预算第{n}项是保密的。"
    for n in range(6)
)
PAGES = {
    "open": MemoryPage(text="See the Falcon budget plan for details. 详见猎鹰项目预算计划。"),
    "other": MemoryPage(text="Holidays and leave. 年假制度的说明。", title="Leave policy"),
    "secret": MemoryPage(text=SECRET, rule=FINANCE, title="Falcon budget plan"),
}
QUESTIONS = [
    "Falcon budget plan",
    "what is the Falcon budget number 3",
    "猎鹰项目预算第3项是多少",
    "K8-023",
    "details of the plan that the page names",
]
EVERY_STAGE = RetrievalSettings()
RECIPROCAL = RetrievalSettings(fusion="rrf", rescore=False)
ONE_LEVEL = RetrievalSettings(two_levels=False)
with_and_without_stages = pytest.mark.parametrize(
    "bench",
    [EVERY_STAGE, RECIPROCAL, ONE_LEVEL],
    indirect=True,
    ids=["all stages", "reciprocal ranks", "one level"],
)


@dataclass(frozen=True, slots=True)
class Classes:
    members: AccessNo
    finance: AccessNo


def only(*numbers: AccessNo) -> ReadableClasses:
    return ReadableClasses(numbers=frozenset(numbers), denied=frozenset(), last_known=AccessNo(99))


@pytest.fixture
async def bench(
    request: pytest.FixtureRequest, database: Database, tmp_path: Path
) -> AsyncIterator[Workbench]:
    opening = open_workbench(
        database,
        tmp_path,
        embedder=TinyEmbedder(),
        retrieval=getattr(request, "param", EVERY_STAGE),
    )
    async with opening as opened:
        yield opened


async def number_classes(bench: Workbench) -> Classes:
    registry = bench.parts.registry
    return Classes(await registry.number_of(ALL_MEMBERS), await registry.number_of(FINANCE))


def everything_of(found: Retrieval) -> str:
    """Return all text that a search hands on."""
    parts = [hit.text + hit.title for hit in found.hits]
    for one in found.evidence:
        parts += [one.section_text, *(hit.text for hit in one.passages)]
    return "\n".join(parts)


async def search_all(bench: Workbench, access: ReadableClasses) -> str:
    """Ask every question now, back then and at any time; return all that is shown."""
    times = [
        PassageFilter(access=access),
        PassageFilter(access=access, as_of=START + DAY / 2),
        PassageFilter(access=access, any_time=True, statuses=frozenset(Status)),
    ]
    found = [
        await bench.retriever.search(question, where, limit=50)
        for question in QUESTIONS
        for where in times
    ]
    return "\n".join(map(everything_of, found))


async def search_rows(bench: Workbench, access: ReadableClasses) -> set[str]:
    where = PassageFilter(access=access, any_time=True)
    found = [await bench.retriever.search(one, where, limit=50) for one in QUESTIONS]
    return {row for one in found for stage in one.stages for row, _ in stage.rows}


@with_and_without_stages
async def test_no_search_shows_a_class_that_may_not_be_read(bench: Workbench) -> None:
    await bench.sync(MemorySource(dict(PAGES)))
    classes = await number_classes(bench)
    assert CANARY not in await search_all(bench, only(classes.members))
    assert await search_all(bench, NOTHING) == "\n" * (len(QUESTIONS) * 3 - 1)
    assert CANARY in await search_all(bench, only(classes.finance))
    assert CANARY in await search_all(bench, OPERATOR)


async def test_not_even_a_stage_record_names_a_passage_that_may_not_be_read(
    bench: Workbench,
) -> None:
    source = MemorySource(dict(PAGES))
    await bench.sync(source)
    classes = await number_classes(bench)
    rows = await bench.parts.ledger.load_rows([source.id_of("secret")])
    secret = {row.passage_id for row in rows[source.id_of("secret")]}
    assert not secret & await search_rows(bench, only(classes.members))
    assert secret & await search_rows(bench, only(classes.finance))


async def tighten_in_the_ledger_alone(bench: Workbench, source: MemorySource) -> Classes:
    """Sync while everybody may read the page, then let only the ledger know the new rule."""
    page = MemoryPage(text=SECRET, title="Falcon budget plan")
    source.pages = {**PAGES, "secret": page}
    await bench.sync(source)
    classes = await number_classes(bench)
    assert CANARY in await search_all(bench, only(classes.members))
    change = AccessChange(
        document_id=source.id_of("secret"),
        access_no=classes.finance,
        access_id=FINANCE.access_id,
    )
    assert await bench.parts.writer.change_access([change])
    stored = await bench.parts.store.list_hits(EVERY_ROW, limit=100)
    assert classes.finance not in {hit.access_no for hit in stored}
    return classes


@with_and_without_stages
async def test_the_ledgers_rule_holds_while_the_store_carries_an_old_class(
    bench: Workbench,
) -> None:
    classes = await tighten_in_the_ledger_alone(bench, MemorySource({}))
    assert CANARY not in await search_all(bench, only(classes.members))
    assert CANARY in await search_all(bench, only(classes.members, classes.finance))


async def test_a_page_that_left_the_ledger_is_shown_to_nobody(bench: Workbench) -> None:
    source = MemorySource(dict(PAGES))
    await bench.sync(source)
    document_id = source.id_of("secret")
    await bench.parts.writer.delete_documents([document_id], terms=TermDelta())
    assert await bench.parts.ledger.find_document(document_id) is None
    assert CANARY not in await search_all(bench, OPERATOR)


async def test_a_former_version_needs_the_rule_of_today(bench: Workbench) -> None:
    source = MemorySource({"p": MemoryPage(text=f"Falcon budget was {CANARY}", at=START)})
    await bench.sync(source)
    source.edit("p", "Falcon budget is now public")
    source.pages["p"].rule = FINANCE
    await bench.sync(source)
    classes = await number_classes(bench)
    assert CANARY not in await search_all(bench, only(classes.members))
    assert CANARY in await search_all(bench, only(classes.finance))


async def test_a_rebuilt_index_has_the_classes_of_the_ledger(
    bench: Workbench, database: Database, tmp_path: Path
) -> None:
    classes = await tighten_in_the_ledger_alone(bench, MemorySource({}))
    other = TinyEmbedder(seed=8)
    async with open_workbench(database, tmp_path, embedder=other) as rebuilt:
        await rebuild_index(rebuilt.parts, bench.parts.store, ["memory"], NoProgress())
        stored = await rebuilt.parts.store.list_hits(EVERY_ROW, limit=100)
        assert {hit.access_no for hit in stored if CANARY in hit.text} == {classes.finance}
        assert CANARY not in await search_all(rebuilt, only(classes.members))
        assert CANARY in await search_all(rebuilt, only(classes.finance))


async def test_a_section_that_left_the_ledger_is_not_read_with_its_passage(
    database: Database, tmp_path: Path
) -> None:
    """A forgotten version is gone at once, though the store may still have to delete it."""
    long = "# Plan\n\n" + "\n\n".join(f"Step {n} of the Falcon plan stays." for n in range(12))
    source = MemorySource({"p": MemoryPage(text=f"{long}\n\nThe first ending.")})
    async with open_workbench(database, tmp_path) as bench:
        await bench.sync(source)
        source.edit("p", f"{long}\n\nThe ending with {CANARY}.")
        await bench.sync(source)
        source.edit("p", "Nothing of it is left.")
        await bench.sync(source)
        where = PassageFilter(access=OPERATOR, as_of=START + DAY / 2)
        before = await bench.retriever.search("steps of the Falcon plan", where)
        assert any(one.section_text != one.hit.text for one in before.evidence)
        assert await bench.parts.writer.drop_versions({source.id_of("p"): [2]})
        stored = await bench.parts.store.list_hits(
            PassageFilter(access=OPERATOR, level=Level.SECTION, any_time=True), limit=10
        )
        assert any(CANARY in hit.text for hit in stored)
        found = await bench.retriever.search("steps of the Falcon plan", where)
        assert found.hits
        assert CANARY not in everything_of(found)


@pytest.mark.parametrize("question", ["leave {} notes", "holidays policy {} of the year", "{}"])
async def test_a_question_cannot_try_out_words_of_pages_one_may_not_read(
    bench: Workbench, question: str
) -> None:
    """How rare a word is, is told by what the reader may read; hidden pages do not count."""
    hidden = MemoryPage(text="The merger quorvex is near.", rule=FINANCE, title="Quorvex")
    await bench.sync(MemorySource({**PAGES, "hidden": hidden}))
    classes = await number_classes(bench)
    where = PassageFilter(access=only(classes.members))
    guessed = await bench.retriever.search(question.format("quorvex"), where)
    wrong = await bench.retriever.search(question.format("quorvez"), where)
    assert list(guessed.terms.values()) == list(wrong.terms.values())
    assert guessed.sufficiency.features.get("coverage") == wrong.sufficiency.features.get(
        "coverage"
    )
    insider = PassageFilter(access=only(classes.members, classes.finance))
    known = await bench.retriever.search("quorvex", insider)
    assert known.terms["quorvex"] < guessed.terms["quorvex"]

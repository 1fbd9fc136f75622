from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.database import Database
from knowledge.access import ALL_MEMBERS, NOTHING, OPERATOR, AccessNo, ReadableClasses
from knowledge.documents import Hit
from knowledge.languages import detect_language
from knowledge.retrieval.recall import Recalled, recall, recall_foreign
from knowledge.stores import Level, PassageFilter, Vector
from tests.fakes.memory_source import MemoryPage, MemorySource
from tests.fakes.tiny_embedder import TinyEmbedder
from tests.unit.knowledge.ingesting import Workbench, open_workbench

LONG = "# Disk\n\n" + "\n\n".join(f"The disk rule {n}. 磁盘规则第{n}条。" for n in range(8))
WHERE = PassageFilter(access=OPERATOR)


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    pages = {
        "disk": MemoryPage(text=LONG),
        "code": MemoryPage(text="Error K8-023 means no space."),
        "leave": MemoryPage(text="年假每年十五天。Annual leave."),
    }
    async with open_workbench(database, tmp_path, embedder=TinyEmbedder()) as opened:
        await opened.sync(MemorySource(pages))
        yield opened


async def search(
    bench: Workbench,
    question: str,
    where: PassageFilter = WHERE,
    *,
    vector: Vector | None = None,
    limits: tuple[int, int] = (50, 50),
) -> Recalled:
    analyser = bench.parts.analyser
    return await recall(
        bench.parts.store,
        terms=list(analyser.query_terms(question)),
        codes=analyser.codes(question),
        question=give(vector),
        where=where,
        terms_limit=limits[0],
        vector_limit=limits[1],
    )


async def search_foreign(
    bench: Workbench, question: str, where: PassageFilter = WHERE, *, limit: int = 50
) -> tuple[Hit, ...]:
    found = await recall_foreign(
        bench.parts.store,
        Recalled(question=await embed(bench, question)),
        where=where,
        asked_in=detect_language(question),
        limit=limit,
    )
    return found.foreign


async def give(vector: Vector | None) -> Vector | None:
    return vector


async def embed(bench: Workbench, question: str) -> Vector:
    return await bench.parts.embedder.embed_query(question)


def titles(hits: Sequence[Hit]) -> set[str]:
    return {hit.title for hit in hits}


@pytest.mark.parametrize("question", ["disk rule K8-023", "磁盘规则 K8-023"])
async def test_every_route_finds_its_own(bench: Workbench, question: str) -> None:
    found = await search(bench, question, vector=await embed(bench, question))
    assert titles(found.terms) == {"disk", "code"}
    assert found.vector[0].title in {"disk", "code"}
    assert titles(found.vector) == {"disk", "code", "leave"}
    assert titles(found.codes) == {"code"}


async def test_only_passages_are_found_whatever_the_filter_says(bench: Workbench) -> None:
    vector = await embed(bench, "disk")
    passages = await search(bench, "disk", vector=vector)
    sections = await search(bench, "disk", replace(WHERE, level=Level.SECTION), vector=vector)
    assert passages == sections


@pytest.mark.parametrize(("question", "missing"), [("磁盘", "leave"), ("disk", "code")])
async def test_the_other_language_is_searched_on_its_own(
    bench: Workbench, question: str, missing: str
) -> None:
    found = await search_foreign(bench, question)
    assert found
    assert {hit.language for hit in found} == {detect_language(question).foreign}
    assert missing not in titles(found)
    assert await search_foreign(bench, question, limit=0) == ()


@pytest.mark.parametrize(
    ("limits", "routes"),
    [
        ((0, 50), {"vector", "codes"}),
        ((50, 0), {"terms", "codes"}),
        ((0, 0), {"codes"}),
    ],
)
async def test_a_limit_of_zero_leaves_a_route_out(
    bench: Workbench, limits: tuple[int, int], routes: set[str]
) -> None:
    question = "disk K8-023"
    vector = await embed(bench, question)
    found = await search(bench, question, vector=vector, limits=limits)
    assert {name for name in ("terms", "vector", "codes") if getattr(found, name)} == routes


async def test_without_words_codes_or_vector_nothing_is_searched(bench: Workbench) -> None:
    assert await search(bench, "?!") == Recalled()


async def test_words_alone_search_no_vectors(bench: Workbench) -> None:
    found = await search(bench, "disk rule")
    assert found.terms
    assert (found.vector, found.codes, found.question) == ((), (), None)


async def test_every_route_keeps_to_the_reader(bench: Workbench) -> None:
    question = "disk rule K8-023"
    vector = await embed(bench, question)
    nothing = await search(bench, question, PassageFilter(access=NOTHING), vector=vector)
    assert nothing == Recalled()
    assert await search_foreign(bench, question, PassageFilter(access=NOTHING)) == ()
    number = await bench.parts.registry.number_of(ALL_MEMBERS)
    stranger = ReadableClasses(
        numbers=frozenset({AccessNo(number + 1)}), denied=frozenset({number}), last_known=number
    )
    denied = await search(bench, question, PassageFilter(access=stranger), vector=vector)
    assert denied == Recalled()
    assert await search_foreign(bench, question, PassageFilter(access=stranger)) == ()

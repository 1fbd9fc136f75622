from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.database import Database
from knowledge.access import ALL_MEMBERS, NOTHING, OPERATOR, AccessNo, ReadableClasses
from knowledge.documents import Hit
from knowledge.retrieval.recall import Recalled, recall
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
    limits: tuple[int, int, int] = (50, 50, 50),
) -> Recalled:
    analyser = bench.parts.analyser
    return await recall(
        bench.parts.store,
        terms=list(analyser.query_terms(question)),
        codes=analyser.codes(question),
        vector=vector,
        where=where,
        terms_limit=limits[0],
        vector_limit=limits[1],
        sections_limit=limits[2],
    )


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
    assert titles(found.sections) == {"disk"}
    assert titles(found.codes) == {"code"}


async def test_passages_and_sections_are_searched_apart_whatever_the_filter_says(
    bench: Workbench,
) -> None:
    vector = await embed(bench, "disk")
    passages = await search(bench, "disk", vector=vector)
    sections = await search(bench, "disk", replace(WHERE, level=Level.SECTION), vector=vector)
    assert passages == sections
    assert not {hit.passage_id for hit in passages.sections} & {
        hit.passage_id for hit in (*passages.terms, *passages.vector)
    }


@pytest.mark.parametrize(
    ("limits", "routes"),
    [
        ((0, 50, 50), {"vector", "sections", "codes"}),
        ((50, 0, 50), {"terms", "sections", "codes"}),
        ((50, 50, 0), {"terms", "vector", "codes"}),
        ((0, 0, 0), {"codes"}),
    ],
)
async def test_a_limit_of_zero_leaves_a_route_out(
    bench: Workbench, limits: tuple[int, int, int], routes: set[str]
) -> None:
    question = "disk K8-023"
    vector = await embed(bench, question)
    found = await search(bench, question, vector=vector, limits=limits)
    names = ("terms", "vector", "sections", "codes")
    assert {name for name in names if getattr(found, name)} == routes


async def test_without_words_codes_or_vector_nothing_is_searched(bench: Workbench) -> None:
    assert await search(bench, "?!") == Recalled()


async def test_words_alone_find_no_sections(bench: Workbench) -> None:
    found = await search(bench, "disk rule")
    assert found.terms
    assert (found.vector, found.sections, found.codes) == ((), (), ())


async def test_every_route_keeps_to_the_reader(bench: Workbench) -> None:
    question = "disk rule K8-023"
    vector = await embed(bench, question)
    nothing = await search(bench, question, PassageFilter(access=NOTHING), vector=vector)
    assert nothing == Recalled()
    number = await bench.parts.registry.number_of(ALL_MEMBERS)
    stranger = ReadableClasses(
        numbers=frozenset({AccessNo(number + 1)}), denied=frozenset({number}), last_known=number
    )
    denied = await search(bench, question, PassageFilter(access=stranger), vector=vector)
    assert denied == Recalled()

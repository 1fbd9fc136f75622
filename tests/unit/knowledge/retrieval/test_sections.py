from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.database import Database
from knowledge.access import NOTHING, OPERATOR
from knowledge.documents import Hit, PassageId
from knowledge.retrieval.candidates import Candidates
from knowledge.retrieval.sections import gather_evidence, gather_further, load_candidates
from knowledge.stores import Level, PassageFilter
from tests.fakes.memory_source import START, MemoryPage, MemorySource
from tests.unit.knowledge.ingesting import Workbench, open_workbench
from tests.unit.knowledge.retrieval.hit_samples import make_hit

DAY = timedelta(days=1)
CURRENT = PassageFilter(access=OPERATOR)
ALWAYS = PassageFilter(access=OPERATOR, any_time=True)
STEPS = "\n\n".join(f"Item {n} of the plan stays. 计划第{n}项不变。" for n in range(8))


def page(ending: str) -> str:
    return f"# Plan\n\n{STEPS}\n\nThe ending is {ending}.\n\n# Short\n\nA lone passage about cats."


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    """A page of three versions that differ in the last words of a long section."""
    async with open_workbench(database, tmp_path) as opened:
        source = MemorySource({"p": MemoryPage(text=page("red"))})
        await opened.sync(source)
        for ending in ("green", "blue"):
            source.edit("p", page(ending))
            await opened.sync(source)
        yield opened


async def find_hit(bench: Workbench, text: str, where: PassageFilter) -> Hit:
    hits = await bench.parts.store.list_hits(replace(where, level=Level.PASSAGE), limit=100)
    return next(hit for hit in hits if text in hit.text)


async def find_section(bench: Workbench, hit: Hit, where: PassageFilter) -> Hit | None:
    found = await load_candidates(bench.parts.store, bench.parts.ledger, [hit], where)
    return found.sections.get(hit.passage_id)


async def test_a_passage_leads_to_its_whole_section(bench: Workbench) -> None:
    hit = await find_hit(bench, "Item 0", CURRENT)
    section = await find_section(bench, hit, CURRENT)
    assert section is not None
    assert "Item 7" in section.text
    assert "ending is blue" in section.text


@pytest.mark.parametrize(("days", "ending"), [(0, "red"), (1, "green"), (2, "blue")])
async def test_as_of_a_moment_the_section_is_the_one_of_then(
    bench: Workbench, days: float, ending: str
) -> None:
    where = PassageFilter(access=OPERATOR, as_of=START + DAY * (days + 0.5))
    hit = await find_hit(bench, "Item 0", where)
    assert hit.valid_to is None
    section = await find_section(bench, hit, where)
    assert section is not None
    assert f"ending is {ending}" in section.text


async def test_a_former_passage_leads_to_the_section_of_its_time(bench: Workbench) -> None:
    hit = await find_hit(bench, "ending is green", ALWAYS)
    section = await find_section(bench, hit, ALWAYS)
    assert section is not None
    assert "ending is green" in section.text


async def test_a_lone_passage_has_no_section_of_its_own(bench: Workbench) -> None:
    hit = await find_hit(bench, "lone passage", CURRENT)
    assert await find_section(bench, hit, CURRENT) is None
    (evidence,) = gather_evidence([hit], {}, limit=5)
    assert evidence.section_text == hit.text


async def test_a_section_of_another_class_is_not_read_with_a_passage(bench: Workbench) -> None:
    hit = await find_hit(bench, "Item 0", CURRENT)
    assert await find_section(bench, hit, PassageFilter(access=NOTHING)) is None


async def test_no_hits_have_no_sections(bench: Workbench) -> None:
    found = await load_candidates(bench.parts.store, bench.parts.ledger, [], CURRENT)
    assert found == Candidates(hits=())


def test_hits_are_gathered_by_section_in_the_order_of_the_best() -> None:
    hits = [
        make_hit("a", 3.0, section="s1"),
        make_hit("b", 2.0, section="s2"),
        make_hit("c", 1.0, section="s1"),
    ]
    whole = make_hit("whole", section="s1", text="all of section one")
    first, second = gather_evidence(hits, {PassageId("a"): whole}, limit=5)
    assert (first.hit, first.passages) == (hits[0], (hits[0], hits[2]))
    assert first.section_text == "all of section one"
    assert (second.section_text, second.passages) == ("b", (hits[1],))


def test_no_more_sections_are_gathered_than_wanted() -> None:
    hits = [make_hit(f"p{n}", -float(n), section=f"s{n}") for n in range(9)]
    assert [one.hit for one in gather_evidence(hits, {}, limit=4)] == hits[:4]


def test_further_documents_come_once_each_and_none_that_is_evidence_already() -> None:
    hits = [
        make_hit(name, document=document)
        for name, document in (("a", "1"), ("b", "1"), ("c", "2"), ("d", "2"), ("e", "3"))
    ]
    evidence = gather_evidence(hits, {}, limit=1)
    whole = make_hit("whole", text="all of the section")
    further = gather_further(hits, {PassageId("c"): whole}, evidence, limit=8)
    assert [one.hit for one in further] == [hits[2], hits[4]]
    assert further[0].section_text == "all of the section"
    few = gather_further(hits, {}, evidence, limit=1)
    assert [one.hit for one in few] == [hits[2]]

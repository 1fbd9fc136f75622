from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.database import Database
from knowledge.access import ALL_MEMBERS, OPERATOR, AccessNo, ReadableClasses
from knowledge.stores import PassageFilter
from tests.fakes.memory_source import START, MemoryPage, MemorySource
from tests.unit.knowledge.ingesting import Workbench, open_workbench

DAY = timedelta(days=1)
OLD = "# Rules\n\n## Bikes\n\nBicycles stay outside.\n\n## Dogs\n\nDogs stay at home.\n"


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    """Fill an index: one page changes in one section a day later, one stays as it is."""
    source = MemorySource(
        {"rules": MemoryPage(text=OLD), "calm": MemoryPage(text="Bicycles are calm.")}
    )
    async with open_workbench(database, tmp_path) as opened:
        await opened.sync(source)
        source.edit("rules", OLD.replace("at home", "in the yard"))
        await opened.sync(source)
        yield opened


async def find(bench: Workbench, where: PassageFilter) -> set[str]:
    found = await bench.retriever.search("bicycles", where, limit=20)
    return {hit.document_id.partition(":")[2] for hit in found.hits}


async def test_unchanged_text_counts_with_the_last_change_of_its_page(bench: Workbench) -> None:
    after = PassageFilter(access=OPERATOR, updated_after=START + DAY)
    assert await find(bench, after) == {"rules"}
    before = PassageFilter(access=OPERATOR, updated_before=START + DAY)
    assert await find(bench, before) == {"calm"}


async def test_dates_of_no_page_find_nothing(bench: Workbench) -> None:
    where = PassageFilter(access=OPERATOR, updated_after=START + 9 * DAY)
    assert await find(bench, where) == set()


async def test_dates_join_other_filters_and_rights(bench: Workbench) -> None:
    calm = frozenset(one for one in await bench.parts.ledger.find_updated(after=START, before=None))
    assert len(calm) == 2
    number = await bench.parts.registry.number_of(ALL_MEMBERS)
    stranger = ReadableClasses(
        numbers=frozenset({AccessNo(number + 1)}), denied=frozenset({number}), last_known=number
    )
    assert await find(bench, PassageFilter(access=stranger, updated_after=START)) == set()
    named = frozenset(one for one in calm if one.endswith("calm"))
    where = PassageFilter(access=OPERATOR, updated_after=START + DAY, documents=named)
    assert await find(bench, where) == set()


async def test_text_as_of_a_moment_counts_with_its_version(bench: Workbench) -> None:
    where = PassageFilter(access=OPERATOR, as_of=START, updated_before=START + DAY)
    assert await find(bench, where) == {"rules", "calm"}

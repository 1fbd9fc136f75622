import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.database import Database
from knowledge.documents import DocumentId
from knowledge.ledger import Ledger
from knowledge.retrieval.titles import TitleCatalogue
from tests.fakes.memory_source import MemoryPage, MemorySource
from tests.unit.knowledge.ingesting import Workbench, open_workbench


class CountingLedger(Ledger):
    """A ledger that counts how often its titles are read, and fails when told to."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.reads = 0
        self.has_begun = asyncio.Event()
        self.is_failing = False

    async def load_titles(self) -> list[tuple[DocumentId, str]]:
        self.reads += 1
        self.has_begun.set()
        titles = await super().load_titles()
        if self.is_failing:
            raise ConnectionError("the database went away")
        return titles


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    async with open_workbench(database, tmp_path) as opened:
        yield opened


@pytest.fixture
def ledger(database: Database) -> CountingLedger:
    return CountingLedger(database)


@pytest.fixture
def catalogue(ledger: CountingLedger) -> TitleCatalogue:
    return TitleCatalogue(ledger)


async def add_page(bench: Workbench, key: str, title: str) -> None:
    await bench.sync(MemorySource({key: MemoryPage(text="words", title=title)}, name=key))


async def names(catalogue: TitleCatalogue, text: str) -> set[str]:
    index = await catalogue.load()
    return {one for name in index.find(text) for one in index.documents[name]}


async def until_read(catalogue: TitleCatalogue, text: str) -> set[str]:
    """Ask until the titles that are being read have arrived."""
    found = await names(catalogue, text)
    while not found:
        await asyncio.sleep(0.01)
        found = await names(catalogue, text)
    return found


async def test_the_first_question_waits_for_the_titles(
    bench: Workbench, catalogue: TitleCatalogue
) -> None:
    await add_page(bench, "a", "Falcon Router")
    assert await names(catalogue, "the falcon router") == {"a:a"}


async def test_an_empty_ledger_names_nothing(catalogue: TitleCatalogue) -> None:
    assert await names(catalogue, "the falcon router") == set()


async def test_titles_are_read_once_while_nothing_changes(
    bench: Workbench, ledger: CountingLedger, catalogue: TitleCatalogue
) -> None:
    await add_page(bench, "a", "Falcon Router")
    first = await catalogue.load()
    assert await catalogue.load() is first
    assert ledger.reads == 1


async def test_new_titles_are_found_soon_after_a_sync_without_a_wait(
    bench: Workbench, catalogue: TitleCatalogue
) -> None:
    await add_page(bench, "a", "Falcon Router")
    former = await catalogue.load()
    await add_page(bench, "b", "年假制度")
    assert await catalogue.load() is former
    assert await until_read(catalogue, "请看年假制度") == {"b:b"}
    assert await names(catalogue, "falcon router") == {"a:a"}


async def test_first_questions_at_the_same_time_all_get_the_titles(
    bench: Workbench, catalogue: TitleCatalogue
) -> None:
    await add_page(bench, "a", "Falcon Router")
    found = await asyncio.gather(*(names(catalogue, "Falcon Router") for _ in range(5)))
    assert found == [{"a:a"}] * 5


async def test_a_first_question_that_is_given_up_costs_the_next_ones_nothing(
    bench: Workbench, ledger: CountingLedger, catalogue: TitleCatalogue
) -> None:
    await add_page(bench, "a", "Falcon Router")
    first = asyncio.create_task(catalogue.load())
    await ledger.has_begun.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await names(catalogue, "Falcon Router") == {"a:a"}
    reads = ledger.reads
    await catalogue.load()
    assert ledger.reads == reads


async def test_titles_that_could_not_be_read_are_read_again(
    bench: Workbench, ledger: CountingLedger, catalogue: TitleCatalogue
) -> None:
    await add_page(bench, "a", "Falcon Router")
    ledger.is_failing = True
    with pytest.raises(ConnectionError):
        await catalogue.load()
    ledger.is_failing = False
    assert await names(catalogue, "Falcon Router") == {"a:a"}
    reads = ledger.reads
    await catalogue.load()
    assert ledger.reads == reads

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot.rag.page_history import StoredPageHistory
from core.database import Database
from knowledge.access import ALL_MEMBERS, NOTHING, OPERATOR, AccessNo, AccessRule, ReadableClasses
from knowledge.documents import DocumentId
from knowledge.ledger_records import AccessChange
from tests.fakes.memory_source import START, MemoryPage, MemorySource
from tests.unit.knowledge.ingesting import Workbench, open_workbench

FINANCE = AccessRule.of(["group:company/finance"])
PAGE = DocumentId("memory:p")


@dataclass(frozen=True, slots=True)
class Shelf:
    """A page of two versions, and who may read it."""

    bench: Workbench
    members: ReadableClasses
    finance: ReadableClasses

    def history(self, access: ReadableClasses) -> StoredPageHistory:
        parts = self.bench.parts
        return StoredPageHistory(store=parts.store, ledger=parts.ledger, access=access)


def only(number: AccessNo) -> ReadableClasses:
    return ReadableClasses(numbers=frozenset({number}), denied=frozenset(), last_known=AccessNo(99))


@pytest.fixture
async def shelf(database: Database, tmp_path: Path) -> AsyncIterator[Shelf]:
    async with open_workbench(database, tmp_path) as bench:
        source = MemorySource({"p": MemoryPage(text="the limit is fifty")})
        await bench.sync(source)
        source.edit("p", "the limit is eighty")
        await bench.sync(source)
        registry = bench.parts.registry
        yield Shelf(
            bench=bench,
            members=only(await registry.number_of(ALL_MEMBERS)),
            finance=only(await registry.number_of(FINANCE)),
        )


async def test_all_a_page_ever_said_is_given_with_the_time_it_held(shelf: Shelf) -> None:
    history = shelf.history(shelf.members)
    rows = {hit.text: (hit.valid_from, hit.valid_to) for hit in await history.load_rows(PAGE)}
    changed_at = START + timedelta(days=1)
    assert rows == {
        "the limit is fifty": (START, changed_at),
        "the limit is eighty": (changed_at, None),
    }
    assert [one.number for one in await history.load_versions(PAGE)] == [1, 2]


@pytest.mark.parametrize("page", [PAGE, DocumentId("memory:unknown")])
async def test_who_may_not_read_a_page_learns_nothing_of_its_past(
    shelf: Shelf, page: DocumentId
) -> None:
    for access in (NOTHING, shelf.finance):
        history = shelf.history(access)
        assert not await history.load_rows(page)
        assert not await history.load_versions(page)
        assert await history.find_owner(page) == ""


async def test_a_rule_that_only_the_ledger_knows_holds_for_the_past(shelf: Shelf) -> None:
    (number,) = shelf.finance.numbers
    change = AccessChange(document_id=PAGE, access_no=number, access_id=FINANCE.access_id)
    await shelf.bench.parts.writer.change_access([change])
    assert len(await shelf.history(OPERATOR).load_rows(PAGE)) == 2
    assert not await shelf.history(shelf.members).load_rows(PAGE)
    assert not await shelf.history(shelf.members).load_versions(PAGE)
    assert await shelf.history(shelf.finance).load_versions(PAGE)

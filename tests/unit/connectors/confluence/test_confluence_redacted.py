"""Versions that were removed at the wiki go here too."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from connectors.confluence.history import LEAST_DAYS_BETWEEN, choose_pages
from core.database import Database
from knowledge.documents import DocumentId
from knowledge.forgetting import Forgetting
from knowledge.ingestion import SyncRun
from knowledge.runs import RunKind
from knowledge.sync_report import SyncReport
from tests.unit.connectors.confluence.conftest import NOW, Bench
from tests.unit.knowledge.ingesting import Workbench, open_workbench

PAGE = DocumentId("wiki:2")
KEPT = "<h2>Rooms</h2><p>the rooms are on the fourth floor, all of them, as they always were</p>"


class Desk:
    """A wiki whose page 2 has five versions, read into an index."""

    def __init__(self, wiki: Bench, index: Workbench) -> None:
        self.wiki, self.index = wiki, index
        self.source = wiki.open()

    def write(self, word: str) -> datetime:
        """Write the next version of the page an hour later."""
        self.wiki.clock.forward(hours=1)
        self.wiki.edit.edit("2", f"<h2>Days</h2><p>the limit is {word} days</p>{KEPT}")
        return self.wiki.clock.now()

    async def follow(self) -> SyncReport:
        self.wiki.server.calls.reset()
        return await self.index.sync(self.source)

    async def list_all(self) -> SyncReport:
        """List everything again, a day later."""
        self.wiki.clock.forward(days=1, hours=1)
        self.wiki.server.calls.reset()
        run = SyncRun(self.source, self.index.parts, self.index.logs, kind=RunKind.RECONCILIATION)
        return await run.run()

    async def numbers(self) -> list[int]:
        return [one.number for one in await self.index.parts.ledger.load_versions(PAGE)]

    async def has(self, word: str) -> bool:
        """Tell whether any version in the index says a word."""
        rows = (await self.index.parts.ledger.load_rows([PAGE]))[PAGE]
        for moment in {row.valid_from for row in rows}:
            if any(word in text for text in await self.index.texts("limit days", as_of=moment)):
                return True
        return False

    async def wait(self) -> int:
        """List everything daily until every page has had its turn; returns the calls for it."""
        calls = 0
        for _ in range(LEAST_DAYS_BETWEEN):
            await self.list_all()
            calls += self.count_version_calls()
        return calls

    def count_version_calls(self) -> int:
        kinds = self.wiki.server.calls.by_kind
        return sum(count for kind, count in kinds.items() if "version" in kind)


@pytest.fixture
async def desk(bench: Bench, database: Database, tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_workbench(database, tmp_path) as index:
        opened = Desk(bench, index)
        for word in ("one", "two", "three", "four"):
            opened.write(word)
        await opened.follow()
        yield opened


async def test_a_removed_version_goes_with_the_next_full_listing(desk: Desk) -> None:
    assert await desk.numbers() == [1, 2, 3, 4, 5]
    before = {row.key: row for row in (await desk.index.parts.ledger.load_rows([PAGE]))[PAGE]}
    desk.wiki.edit.purge_version("2", 3)
    report = await desk.list_all()
    assert (report.changed, report.added, report.removed) == (1, 0, 0)
    assert await desk.numbers() == [1, 2, 3, 4]
    assert not await desk.has("two")
    for word in ("one", "three", "four", "25"):
        assert await desk.has(word)
    after = {row.key: row for row in (await desk.index.parts.ledger.load_rows([PAGE]))[PAGE]}
    assert after.keys() < before.keys()
    # Text in between held until the version after the removed one, and is the same row.
    assert {row.passage_id for row in after.values()} < {row.passage_id for row in before.values()}
    again = await desk.list_all()
    assert (again.changed, again.added) == (0, 0)


async def test_the_next_edit_counts_on_from_the_new_numbers(desk: Desk) -> None:
    desk.wiki.edit.purge_version("2", 3)
    await desk.list_all()
    desk.write("six")
    await desk.follow()
    assert await desk.numbers() == [1, 2, 3, 4, 5]
    assert [text for text in await desk.index.texts("limit days") if "six" in text]


@pytest.mark.parametrize("edits", [1, 2, 3])
async def test_a_version_removed_between_edits_is_missed(desk: Desk, edits: int) -> None:
    desk.wiki.edit.purge_version("2", 2)
    for number in range(edits):
        desk.write(f"later{number}")
    await desk.follow()
    await desk.wait()
    assert not await desk.has("one")
    assert await desk.has("two")
    assert await desk.has(f"later{edits - 1}")
    assert await desk.numbers() == list(range(1, 5 + edits))


async def test_a_gap_is_found_when_it_is_the_pages_turn(desk: Desk) -> None:
    desk.wiki.edit.purge_version("2", 3, leaves_gap=True)
    await desk.wait()
    assert await desk.numbers() == [1, 2, 4, 5]
    assert not await desk.has("two")
    assert await desk.has("four")


async def test_a_quiet_page_costs_a_call_a_week(desk: Desk) -> None:
    assert await desk.wait() == 1
    desk.source = desk.wiki.open(versions_checked=0)
    assert await desk.wait() == 0


def test_only_so_many_pages_have_their_turn_on_a_day_and_all_do() -> None:
    pages = [str(number) for number in range(1000)]
    days = [choose_pages(pages, 50, NOW + timedelta(days=day)) for day in range(20)]
    assert set().union(*days) == set(pages)
    assert max(map(len, days)) < 80


async def test_a_list_of_versions_that_fails_changes_nothing(desk: Desk) -> None:
    desk.wiki.server.faults.refuse = {"version"}
    for _ in range(LEAST_DAYS_BETWEEN):
        report = await desk.list_all()
        assert (report.changed, report.removed, report.alarms) == (0, 0, [])
    assert await desk.numbers() == [1, 2, 3, 4, 5]


async def test_a_forgotten_version_stays_away_when_the_wiki_counts_anew(desk: Desk) -> None:
    parts = desk.index.parts
    page = await parts.ledger.find_document(PAGE)
    assert page is not None
    third = (await parts.ledger.load_versions(PAGE))[2]
    await Forgetting(parts, desk.index.logs, memories={}).forget_version(page, third)
    assert not await desk.has("two")
    desk.wiki.edit.purge_version("2", 1)
    await desk.list_all()
    assert not await desk.has("two")
    assert not await desk.has("25")
    assert await desk.has("four")


async def test_as_of_a_moment_the_removed_version_is_not_told(desk: Desk) -> None:
    moment = NOW + timedelta(hours=2, minutes=30)
    assert any("two" in text for text in await desk.index.texts("limit days", as_of=moment))
    desk.wiki.edit.purge_version("2", 3)
    await desk.list_all()
    assert not any("two" in text for text in await desk.index.texts("limit days", as_of=moment))

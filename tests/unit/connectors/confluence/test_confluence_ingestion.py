"""The source under real runs, into a real ledger and index."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from connectors.confluence.source import ConfluenceSource
from core.database import Database
from knowledge.access import NOTHING, ReadableClasses
from knowledge.directory import Directory
from knowledge.documents import DocumentId, Status
from knowledge.ingestion import SyncRun
from knowledge.people import PersonId
from knowledge.runs import RunKind
from knowledge.sync_report import SyncReport
from tests.unit.connectors.confluence.conftest import Bench, snapshot
from tests.unit.connectors.confluence.test_confluence_includes import include
from tests.unit.knowledge.ingesting import Workbench, open_workbench


class Desk:
    """A wiki, its source, and an index with a directory of the wiki's people."""

    def __init__(self, wiki: Bench, index: Workbench, directory: Directory) -> None:
        self.wiki, self.index, self.directory = wiki, index, directory
        self.source: ConfluenceSource = wiki.open()

    async def follow(self) -> SyncReport:
        """Run once, as `zhixing sync` does."""
        return await self.index.sync(self.source)

    async def list_all(self, *, accept_deletions: bool = False) -> SyncReport:
        """List everything again."""
        run = SyncRun(
            self.source,
            self.index.parts,
            self.index.logs,
            kind=RunKind.RECONCILIATION,
            accept_deletions=accept_deletions,
        )
        return await run.run()

    async def see(self, person: str, question: str) -> list[str]:
        """Return what somebody finds, with the groups as the wiki has them."""
        await self.directory.replace_groups(
            await self.source.fetch_groups(list(self.wiki.wiki.groups)),
            checked_at=self.wiki.clock.now(),
        )
        readership = await self.index.parts.registry.readership()
        found = readership.directory.people.get(PersonId(person))
        access: ReadableClasses = readership.readable_by(found) if found else NOTHING
        return await self.index.texts(question, access)


@pytest.fixture
async def desk(bench: Bench, database: Database, tmp_path: Path) -> AsyncIterator[Desk]:
    directory = Directory(database)
    await directory.replace(snapshot(bench.wiki).content, group_source="company")
    async with open_workbench(database, tmp_path) as index:
        yield Desk(bench, index, directory)


async def test_a_wiki_is_found_by_those_who_may_read_it(desk: Desk) -> None:
    report = await desk.follow()
    assert (report.added, report.failures) == (5, {})
    assert any("secret" in text for text in await desk.see("ann", "bands secret"))
    assert not any("secret" in text for text in await desk.see("bo", "bands secret"))
    assert not await desk.see("dan", "days")
    assert any("million" in text for text in await desk.see("dan", "million"))


async def test_a_member_who_leaves_a_group_loses_access_with_nothing_indexed_anew(
    desk: Desk,
) -> None:
    await desk.follow()
    assert await desk.see("bo", "days")
    desk.wiki.edit.remove_member("staff", "bo")
    desk.wiki.server.calls.reset()
    assert not await desk.see("bo", "days")
    assert set(desk.wiki.server.calls.by_kind) <= {
        "GET rest/api/group/staff/membersByGroupId",
        "GET rest/api/group/finance/membersByGroupId",
        "GET rest/api/group/staff/member",
        "GET rest/api/group/finance/member",
    }


async def test_included_text_is_found_only_by_those_who_may_read_both_pages(desk: Desk) -> None:
    desk.wiki.edit.edit("2", f"<p>own words of leave</p>{include('Budget', 'FIN')}")
    await desk.follow()
    found = await desk.see("ann", "million")
    assert len(found) == 2
    assert not await desk.see("bo", "million")
    assert len(await desk.see("dan", "million")) == 1


async def test_an_edit_opens_and_closes_only_what_changed(desk: Desk) -> None:
    await desk.follow()
    desk.wiki.clock.forward(hours=1)
    desk.wiki.edit.edit("2", "<h2>Days</h2><p>30 days</p>")
    report = await desk.follow()
    assert (report.changed, report.seen) == (1, 1)
    assert any("30 days" in text for text in await desk.see("cy", "days"))
    assert not any("25 days" in text for text in await desk.see("cy", "days"))


async def test_a_killed_run_is_taken_up_and_everything_comes_in_once(desk: Desk) -> None:
    for number in range(180):
        desk.wiki.edit.add_page(
            "HR", f"P{number}", f"<p>word{number}</p>", page_id=str(7000 + number)
        )
    for stop_at in (3, 40, 90):
        task = asyncio.create_task(desk.follow())
        while desk.wiki.server.calls.total < stop_at and not task.done():  # noqa: ASYNC110 - a count
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await desk.source.close()
        desk.source = desk.wiki.open()
    await desk.follow()
    known = await desk.index.parts.ledger.known_documents("wiki")
    assert len(known) == 185
    report = await desk.list_all()
    assert (report.added, report.changed, report.rows_added) == (0, 0, 0)


async def test_what_is_trashed_leaves_and_comes_back(desk: Desk) -> None:
    await desk.follow()
    desk.wiki.edit.set_status("2", "trashed")
    assert (await desk.follow()).removed == 1
    assert not await desk.see("cy", "days")
    desk.wiki.edit.set_status("2", "current")
    desk.wiki.clock.forward(minutes=1)
    desk.wiki.edit.edit("2", "<p>28 days</p>")
    await desk.follow()
    assert any("28 days" in text for text in await desk.see("cy", "days"))


async def test_a_mass_disappearance_is_held_and_pages_keep_answering(desk: Desk) -> None:
    for number in range(20):
        desk.wiki.edit.add_page(
            "HR", f"P{number}", f"<p>word{number}</p>", page_id=str(7000 + number)
        )
    await desk.follow()
    desk.wiki.wiki.hidden |= {str(7000 + number) for number in range(12)}
    report = await desk.list_all()
    assert (report.removed, report.held) == (0, 12)
    assert report.alarms
    assert any("word3" in text for text in await desk.see("cy", "word3"))
    report = await desk.list_all(accept_deletions=True)
    assert report.removed == 12
    assert not any("word3" in text for text in await desk.see("cy", "word3"))


async def test_archived_pages_are_found_only_when_asked_for(desk: Desk) -> None:
    await desk.follow()
    desk.wiki.edit.set_status("2", "archived")
    await desk.list_all()
    assert not await desk.see("cy", "days")
    texts = await desk.index.texts("days", statuses=frozenset({Status.ARCHIVED}))
    assert any("25 days" in text for text in texts)


async def test_earlier_versions_answer_for_their_time(desk: Desk) -> None:
    start = desk.wiki.clock.moment
    desk.wiki.clock.forward(days=10)
    desk.wiki.edit.edit("2", "<p>30 days</p>")
    await desk.follow()
    then = start.replace(day=start.day) + (desk.wiki.clock.moment - start) / 2
    assert any("25 days" in text for text in await desk.index.texts("days", as_of=then))
    versions = await desk.index.parts.ledger.load_versions(DocumentId("wiki:2"))
    assert [one.number for one in versions] == [1, 2]

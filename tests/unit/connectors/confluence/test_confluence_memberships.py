"""Who was taken out of a group at the wiki is answered as an outsider within a minute."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.database import Database
from core.errors import SettingsError
from core.settings import DirectorySettings
from knowledge.directory import Directory
from knowledge.memberships import Memberships
from knowledge.people import Channel, ChannelId, DirectoryContent, Visibility
from knowledge.readers import Reader, resolve_reader
from knowledge.rights_run import RightsRun
from knowledge.source import Source
from tests.unit.connectors.confluence.conftest import Bench, snapshot
from tests.unit.knowledge.ingesting import Workbench, open_workbench

DAYS, BANDS = "days", "bands secret"
SETTINGS = DirectorySettings(groups_timeout_s=20)
TEAM = "team"


class Desk:
    """An index of the wiki, and memberships that are confirmed with it."""

    def __init__(self, bench: Bench, index: Workbench, directory: Directory) -> None:
        self.wiki, self.index, self.directory = bench, index, directory
        self.openings = 0
        self.memberships = self.connect()

    def connect(self, settings: DirectorySettings = SETTINGS) -> Memberships:
        """Return memberships as another process would have them."""
        return Memberships(
            self.directory, clock=self.wiki.clock, settings=settings, sources={"wiki": self.open}
        )

    def open(self) -> Source:
        self.openings += 1
        return self.wiki.open()

    async def start(self) -> None:
        """Bring in texts and rights, and forget the calls that took."""
        source = self.wiki.open()
        await self.index.sync(source)
        # Read by the clock of the wiki, as the product's parts are.
        parts = replace(self.index.parts, clock=self.wiki.clock)
        await RightsRun(source, parts, self.index.logs, directory=self.directory).run()
        self.wiki.server.calls.reset()

    async def resolve(
        self, person: str | None, *, where: str | None = None, by: Memberships | None = None
    ) -> Reader:
        return await resolve_reader(
            self.index.parts.registry, as_=person, in_=where, memberships=by or self.memberships
        )

    async def see(self, person: str, question: str) -> list[str]:
        reader = await self.resolve(person)
        return await self.index.texts(question, reader.asker_readable)


def count_calls(desk: Desk, part: str) -> int:
    """Return how many calls went to paths with this part."""
    calls = desk.wiki.server.calls.by_kind
    return sum(count for kind, count in calls.items() if part in kind)


@pytest.fixture
async def desk(bench: Bench, database: Database, tmp_path: Path) -> AsyncIterator[Desk]:
    directory = Directory(database)
    content = snapshot(bench.wiki).content
    team = Channel(
        channel_id=ChannelId(TEAM),
        platform="slack",
        native_id="C1",
        name=TEAM,
        visibility=Visibility.PRIVATE,
        members=frozenset(one.person_id for one in content.people if one.person_id != "dan"),
    )
    await directory.replace(
        DirectoryContent(people=content.people, identities=content.identities, channels=(team,)),
        group_source="company",
    )
    async with open_workbench(database, tmp_path) as index:
        opened = Desk(bench, index, directory)
        await opened.start()
        yield opened
        await opened.memberships.close()


async def test_fresh_members_are_believed_without_a_call(desk: Desk) -> None:
    desk.wiki.clock.forward(seconds=59)
    assert await desk.see("bo", DAYS)
    assert desk.wiki.server.calls.total == 0
    assert desk.openings == 0


async def test_who_left_a_group_loses_access_after_a_minute(desk: Desk) -> None:
    desk.wiki.edit.remove_member("staff", "bo")
    desk.wiki.clock.forward(seconds=61)
    assert not await desk.see("bo", DAYS)
    # The asker's group alone was asked for, and which others they are in.
    assert 1 <= count_calls(desk, "memberof") <= 2
    assert 1 <= count_calls(desk, "/group/") <= 2
    desk.wiki.server.calls.reset()
    assert await desk.see("cy", DAYS)
    assert count_calls(desk, "/group/") == 0


async def test_who_joined_a_group_gains_access_after_a_minute(desk: Desk) -> None:
    assert not await desk.see("bo", BANDS)
    desk.wiki.edit.add_member("finance", "bo")
    assert not await desk.see("bo", "million")
    desk.wiki.clock.forward(seconds=61)
    assert await desk.see("bo", "million")
    desk.wiki.server.calls.reset()
    assert await desk.see("bo", BANDS) == await desk.see("ann", BANDS)
    assert count_calls(desk, "memberof") <= 1


async def test_who_joined_a_group_that_no_rule_names_costs_no_more(desk: Desk) -> None:
    desk.wiki.edit.add_member("choir", "bo")
    desk.wiki.clock.forward(seconds=61)
    await desk.see("bo", DAYS)
    assert count_calls(desk, "choir") == 0
    assert "choir" not in {one.group_id for one in (await desk.directory.load()).content.groups}


async def test_a_wiki_that_hides_whose_groups_are_whose_takes_nothing_away(desk: Desk) -> None:
    desk.wiki.server.faults.refuse = {"memberof"}
    desk.wiki.clock.forward(seconds=61)
    assert await desk.see("bo", DAYS)
    desk.wiki.edit.remove_member("staff", "bo")
    desk.wiki.clock.forward(seconds=61)
    assert not await desk.see("bo", DAYS)


async def test_everybody_who_asks_at_once_shares_one_refresh(desk: Desk) -> None:
    desk.wiki.clock.forward(minutes=2)
    people = ["bo", "cy"] * 10
    await asyncio.gather(*(desk.see(one, DAYS) for one in people))
    assert count_calls(desk, "/group/") <= 2
    # Once for each of the two.
    assert count_calls(desk, "memberof") <= 4
    assert desk.openings == 1


async def test_another_process_profits_from_a_refresh(desk: Desk) -> None:
    desk.wiki.clock.forward(minutes=2)
    await desk.see("bo", DAYS)
    desk.wiki.server.calls.reset()
    other = desk.connect()
    reader = await desk.resolve("bo", by=other)
    assert reader.asker_readable.numbers
    assert count_calls(desk, "/group/") == 0
    await other.close()


async def test_a_silent_wiki_is_believed_for_a_quarter_of_an_hour(desk: Desk) -> None:
    desk.wiki.server.faults.fail_every = 1
    desk.wiki.clock.forward(minutes=14)
    assert await desk.see("bo", DAYS)
    desk.wiki.clock.forward(minutes=2)
    assert not await desk.see("bo", DAYS)
    assert not await desk.see("ann", BANDS)
    # What rests on no group is not touched.
    assert await desk.see("dan", "million")
    desk.wiki.server.faults.fail_every = 0
    desk.wiki.clock.forward(seconds=30)
    assert await desk.see("bo", DAYS)
    assert await desk.see("ann", BANDS)


async def test_a_wiki_that_failed_is_not_asked_by_every_question(desk: Desk) -> None:
    desk.wiki.server.faults.fail_every = 1
    desk.wiki.clock.forward(minutes=5)
    await desk.see("bo", DAYS)
    calls = desk.wiki.server.calls.total
    assert calls
    await desk.see("bo", DAYS)
    await desk.see("cy", DAYS)
    assert desk.wiki.server.calls.total == calls


async def test_a_question_does_not_wait_for_a_wiki_that_hangs(desk: Desk) -> None:
    desk.wiki.server.faults.hang_every = 1
    desk.wiki.clock.forward(minutes=5)
    hasty = desk.connect(DirectorySettings(groups_timeout_s=0.05))
    reader = await desk.resolve("bo", by=hasty)
    assert await desk.index.texts(DAYS, reader.asker_readable)
    desk.wiki.clock.forward(minutes=11)
    reader = await desk.resolve("bo", by=hasty)
    assert not await desk.index.texts(DAYS, reader.asker_readable)
    await hasty.close()


async def test_in_a_channel_everybody_who_listens_is_asked_for(desk: Desk) -> None:
    assert await desk.index.texts(DAYS, (await desk.resolve("ann", where=TEAM)).audience_readable)
    desk.wiki.edit.remove_member("staff", "cy")
    desk.wiki.clock.forward(minutes=2)
    reader = await desk.resolve("ann", where=TEAM)
    assert not await desk.index.texts(DAYS, reader.audience_readable)
    assert await desk.index.texts(DAYS, reader.asker_readable)


async def test_the_operator_pays_nothing(desk: Desk) -> None:
    desk.wiki.clock.forward(days=3)
    reader = await desk.resolve(None)
    assert await desk.index.texts(BANDS, reader.asker_readable)
    assert desk.wiki.server.calls.total == 0


async def test_a_moment_in_the_future_confirms_nothing(desk: Desk) -> None:
    desk.wiki.clock.forward(hours=-2)
    assert await desk.see("bo", DAYS)
    assert desk.wiki.server.calls.total


async def test_a_source_that_cannot_be_opened_is_one_that_does_not_answer(desk: Desk) -> None:
    def refuse() -> Source:
        raise SettingsError("no token")

    broken = Memberships(
        desk.directory, clock=desk.wiki.clock, settings=SETTINGS, sources={"wiki": refuse}
    )
    desk.wiki.clock.forward(minutes=10)
    assert (await desk.resolve("bo", by=broken)).asker_readable.numbers
    desk.wiki.clock.forward(minutes=10)
    assert not (await desk.resolve("bo", by=broken)).asker_readable.numbers
    await broken.close()

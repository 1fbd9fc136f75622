from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from core.database import Database
from core.errors import ServiceUnavailableError
from knowledge.access import ALL_MEMBERS, EVERYBODY, NOBODY, AccessRule
from knowledge.directory import Directory
from knowledge.documents import BodyPart, DocumentId
from knowledge.people import DirectoryContent, Group, Person, PersonId
from knowledge.rights_guard import is_loosened
from knowledge.rights_run import RIGHTS_SCOPE, RightsReport, RightsRun
from knowledge.runs import RunKind, RunStatus
from knowledge.source import (
    AccessChanged,
    Failed,
    KnownDocument,
    ScopeListed,
    Upserted,
)
from tests.fakes.memory_source import MemoryPage, MemorySource
from tests.unit.knowledge.ingesting import Workbench, open_workbench

HR = AccessRule.of(["group:memory/hr"])


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    async with open_workbench(database, tmp_path) as opened:
        yield opened


@dataclass
class FailingSource(MemorySource):
    """Does not tell the rules of some pages."""

    silent: set[str] = field(default_factory=set)

    async def fetch_access(self, known: KnownDocument) -> AccessRule:
        if known.locator in self.silent:
            raise ServiceUnavailableError("the service is down")
        return await super().fetch_access(known)


@dataclass
class BulkSource(MemorySource):
    """Lists rules, which may differ from what a single page says."""

    listed: dict[str, AccessRule] = field(default_factory=dict)
    rights_error: str = ""
    asked: list[str] = field(default_factory=list)
    stale: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    async def discover_access(
        self, known: Mapping[DocumentId, KnownDocument]
    ) -> AsyncIterator[AccessChanged | Upserted | Failed | ScopeListed]:
        assert known
        for key, rule in self.listed.items():
            yield AccessChanged(document_id=self.id_of(key), scope=self.scope, rule=rule)
        for key in self.stale:
            yield Upserted(document_id=self.id_of(key), scope=self.scope, locator=key)
        for key in self.unknown:
            yield Failed(document_id=self.id_of(key), scope=self.scope, reason="unreadable")
        yield ScopeListed(scope=self.scope, error=self.rights_error)

    async def fetch_access(self, known: KnownDocument) -> AccessRule:
        self.asked.append(known.locator)
        return await super().fetch_access(known)


@dataclass
class GroupedSource(MemorySource):
    """Names the members of its groups."""

    members: frozenset[PersonId] = frozenset()
    group_source: str = "memory"

    async def fetch_groups(self, group_ids: Collection[str]) -> tuple[Group, ...]:
        return tuple(
            Group(source=self.group_source, group_id=one, name=one, members=self.members)
            for one in group_ids
        )

    async def fetch_groups_of(self, person: PersonId) -> frozenset[str] | None:
        del person
        return None


def build_pages(count: int, rule: AccessRule = ALL_MEMBERS) -> dict[str, MemoryPage]:
    return {f"p{n}": MemoryPage(text=f"word{n}", rule=rule) for n in range(count)}


def close_pages(source: MemorySource, *keys: str, rule: AccessRule = NOBODY) -> None:
    for key in keys:
        source.pages[key].rule = rule


async def follow(bench: Workbench, source: MemorySource, *, accept: bool = False) -> RightsReport:
    return await RightsRun(source, bench.parts, bench.logs, accept_closing=accept).run()


async def rule_of(bench: Workbench, source: MemorySource, key: str) -> AccessRule:
    record = await bench.parts.ledger.find_document(source.id_of(key))
    assert record is not None
    return await bench.parts.registry.get_rule(record.access_no)


async def test_groups_that_were_imported_are_not_replaced_by_a_source(
    bench: Workbench, database: Database
) -> None:
    directory = Directory(database)
    ann = PersonId("ann")
    group = Group(source="company", group_id="hr", name="HR", members=frozenset({ann}))
    content = DirectoryContent(people=(Person(person_id=ann, name="Ann"),), groups=(group,))
    await directory.replace(content, group_source="company")
    rule = AccessRule.of(["group:company/hr"])
    source = GroupedSource(build_pages(1, rule), group_source="company")
    await bench.sync(source)
    await RightsRun(source, bench.parts, bench.logs, directory=directory).run()
    assert (await directory.load()).content.groups == (group,)


async def test_a_changed_rule_holds_without_reading_the_page(bench: Workbench) -> None:
    source = MemorySource(build_pages(3))
    await bench.sync(source)
    fetched = list(source.fetched)
    source.pages["p1"].rule = HR
    report = await follow(bench, source)
    assert (report.checked, report.changed, report.held) == (3, 1, 0)
    assert source.fetched == fetched
    assert await rule_of(bench, source, "p1") == HR
    again = await follow(bench, source)
    assert again.changed == 0
    run = (await bench.logs.runs.load_last_runs())["memory"][RunKind.RIGHTS]
    assert (run.status, run.counts["checked"]) == (RunStatus.DONE, 3)


async def test_a_source_that_is_silent_takes_no_right_away(bench: Workbench) -> None:
    source = FailingSource(build_pages(3))
    await bench.sync(source)
    close_pages(source, "p0", "p2")
    source.silent = {"p0", "p1"}
    report = await follow(bench, source)
    assert set(report.failures) == {"memory:p0", "memory:p1"}
    assert await rule_of(bench, source, "p0") == ALL_MEMBERS
    assert await rule_of(bench, source, "p2") == NOBODY
    run = (await bench.logs.runs.load_last_runs())["memory"][RunKind.RIGHTS]
    assert run.status is RunStatus.PARTIAL


async def test_many_pages_that_nobody_may_read_any_more_wait_for_a_person(
    bench: Workbench,
) -> None:
    source = MemorySource(build_pages(10))
    await bench.sync(source)
    close_pages(source, *(f"p{n}" for n in range(6)))
    close_pages(source, "p9", rule=HR)
    report = await follow(bench, source)
    assert (report.changed, report.held) == (1, 6)
    assert await rule_of(bench, source, "p9") == HR
    assert await rule_of(bench, source, "p0") == ALL_MEMBERS
    [hold] = await bench.logs.holds.load_holds("memory")
    assert hold.scope == RIGHTS_SCOPE + "memory"
    assert len(hold.missing) == 6
    assert "--accept-deletions" in hold.reason
    await follow(bench, source, accept=True)
    assert await rule_of(bench, source, "p0") == NOBODY
    assert await bench.logs.holds.load_holds("memory") == []
    record = await bench.parts.ledger.find_document(source.id_of("p0"))
    assert record is not None
    assert record.held_since is None


async def test_a_hold_ends_when_the_rules_are_back(bench: Workbench) -> None:
    source = MemorySource(build_pages(6))
    await bench.sync(source)
    close_pages(source, *source.pages)
    assert (await follow(bench, source)).held == 6
    close_pages(source, *source.pages, rule=ALL_MEMBERS)
    assert (await follow(bench, source)).held == 0
    assert await bench.logs.holds.load_holds("memory") == []


async def test_a_rule_that_is_stated_for_many_pages_is_believed(bench: Workbench) -> None:
    source = MemorySource(build_pages(10))
    await bench.sync(source)
    close_pages(source, *source.pages, rule=HR)
    assert (await follow(bench, source)).changed == 10


async def test_a_listing_that_broke_off_tightens_only_what_is_confirmed(bench: Workbench) -> None:
    source = BulkSource(build_pages(3), rights_error="answered 500 on the second page")
    await bench.sync(source)
    # The page itself confirms p0, denies p1, and p2 would be opened.
    source.pages["p0"].rule = HR
    source.listed = {"p0": HR, "p1": HR, "p2": EVERYBODY}
    report = await follow(bench, source)
    assert sorted(source.asked) == ["p0", "p1", "p2"]
    assert await rule_of(bench, source, "p0") == HR
    assert await rule_of(bench, source, "p1") == ALL_MEMBERS
    assert await rule_of(bench, source, "p2") == ALL_MEMBERS
    assert "answered 500" in report.alarms[0]


async def test_a_bulk_listing_costs_no_call_a_page(bench: Workbench) -> None:
    source = BulkSource(build_pages(3), listed={"p1": HR}, stale=("p2",), unknown=("p0",))
    await bench.sync(source)
    fetched = len(source.fetched)
    report = await follow(bench, source)
    assert (report.changed, report.owed, source.asked) == (1, 1, [])
    assert set(report.failures) == {"memory:p0"}
    assert await rule_of(bench, source, "p1") == HR
    await bench.sync(source)
    assert "p2" in source.fetched[fetched:]


@dataclass
class PartedSource(BulkSource):
    """Tells some rules first, then goes silent."""

    async def discover_access(
        self, known: Mapping[DocumentId, KnownDocument]
    ) -> AsyncIterator[AccessChanged | Upserted | Failed | ScopeListed]:
        assert known
        for key, rule in self.listed.items():
            yield AccessChanged(document_id=self.id_of(key), scope=self.scope, rule=rule)
        yield ScopeListed(scope=self.scope, is_whole=False)
        raise ServiceUnavailableError("the service is down")


async def test_what_is_told_of_a_part_holds_although_the_rest_is_not_told(
    bench: Workbench,
) -> None:
    source = PartedSource(build_pages(3), listed={"p1": HR})
    await bench.sync(source)
    with pytest.raises(ServiceUnavailableError):
        await follow(bench, source)
    assert await rule_of(bench, source, "p1") == HR
    assert await rule_of(bench, source, "p0") == ALL_MEMBERS


async def test_a_part_neither_closes_many_pages_nor_ends_their_hold(bench: Workbench) -> None:
    source = PartedSource(build_pages(10), listed={f"p{n}": NOBODY for n in range(6)})
    await bench.sync(source)
    for listed in (source.listed, {"p9": HR}):
        source.listed = listed
        with pytest.raises(ServiceUnavailableError):
            await follow(bench, source)
        assert await rule_of(bench, source, "p0") == ALL_MEMBERS
    held = MemorySource(source.pages)
    close_pages(held, *(f"p{n}" for n in range(6)))
    await follow(bench, held)
    with pytest.raises(ServiceUnavailableError):
        await follow(bench, source)
    [hold] = await bench.logs.holds.load_holds("memory")
    assert len(hold.missing) == 6


async def test_a_page_that_shows_a_changed_one_is_read_again(bench: Workbench) -> None:
    included = BodyPart(
        markdown="borrowed words", included_from=DocumentId("memory:inner"), included_rule=HR
    )
    source = MemorySource(
        {
            "inner": MemoryPage(text="borrowed words", rule=HR),
            "outer": MemoryPage(text="own words", included=included),
        }
    )
    await bench.sync(source)
    source.pages["inner"].rule = ALL_MEMBERS
    source.pages["outer"].included = BodyPart(
        markdown="borrowed words",
        included_from=DocumentId("memory:inner"),
        included_rule=ALL_MEMBERS,
    )
    report = await follow(bench, source)
    assert (report.changed, report.owed) == (1, 1)
    fetched = len(source.fetched)
    await bench.sync(source)
    assert source.fetched[fetched:] == ["outer"]


async def test_members_of_groups_that_rules_name_follow_the_source(
    bench: Workbench, database: Database
) -> None:
    directory = Directory(database)
    ann = Person(person_id=PersonId("ann"), name="Ann")
    await directory.replace(DirectoryContent(people=(ann,)), group_source="company")
    source = GroupedSource(build_pages(1, HR), members=frozenset({PersonId("ann")}))
    await bench.sync(source)
    parts, logs = bench.parts, bench.logs
    report = await RightsRun(source, parts, logs, directory=directory).run()
    assert report.groups_changed == 1
    number = await parts.registry.number_of(HR)
    assert (await parts.registry.readable_by(ann)).admits(number)
    source.members = frozenset()
    await RightsRun(source, parts, logs, directory=directory).run()
    assert not (await parts.registry.readable_by(ann)).admits(number)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (HR, ALL_MEMBERS & HR, False),
        (ALL_MEMBERS & HR, HR, True),
        (HR, AccessRule.of(["group:memory/hr", "members"]), True),
        (AccessRule.of(["group:memory/hr", "members"]), HR, False),
        (HR, NOBODY, False),
        (NOBODY, HR, True),
        (HR, HR, True),
    ],
)
def test_loosening_is_told_from_tightening(
    old: AccessRule, new: AccessRule, *, expected: bool
) -> None:
    assert is_loosened(old, new) is expected

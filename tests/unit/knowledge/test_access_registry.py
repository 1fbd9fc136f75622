import asyncio
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from core.database import Database, open_database
from knowledge.access import ALL_MEMBERS, EVERYBODY, NOBODY, AccessNo, AccessRule
from knowledge.access_registry import AccessRegistry
from knowledge.directory import Directory
from knowledge.people import DirectoryContent, Employment, Group, Person, PersonId
from knowledge.readership import Audience

ROOT = Path(__file__).parents[3]
IDS = [PersonId(f"p{number}") for number in range(4)]
PRINCIPALS = ["public", "members", "group:a/g", "group:a/h", "user:p0", "user:p1"]
RULES = st.lists(st.sets(st.sampled_from(PRINCIPALS), max_size=3), min_size=1, max_size=3)


async def test_equal_rules_share_a_number_and_later_ones_are_larger(database: Database) -> None:
    registry = AccessRegistry(database, Directory(database))
    first = await registry.number_of(AccessRule.of(["members"], ["group:a/g", "user:x"]))
    second = await registry.number_of(NOBODY)
    again = AccessRule((frozenset({"group:a/g", "user:x"}), frozenset({"members"})))  # type: ignore[arg-type]
    assert await registry.number_of(again) == first < second
    elsewhere = AccessRegistry(database, Directory(database))
    assert await elsewhere.number_of(NOBODY) == second
    assert await elsewhere.get_rule(second) == NOBODY
    with pytest.raises(KeyError):
        await elsewhere.get_rule(AccessNo(99))


async def test_many_tasks_that_number_the_same_rules_agree(database: Database) -> None:
    registries = [AccessRegistry(database, Directory(database)) for _ in range(3)]
    wanted = [AccessRule.of([f"user:{number % 7}"]) for number in range(60)]
    numbers = await asyncio.gather(
        *(registries[index % 3].number_of(one) for index, one in enumerate(wanted))
    )
    assert len(set(numbers)) == 7
    assert all(numbers[index] == numbers[index % 7] for index in range(60))


async def test_class_made_after_the_rights_were_read_is_denied(database: Database) -> None:
    directory = Directory(database)
    await directory.replace(_content({IDS[0]: True}, set()), group_source="a")
    registry = AccessRegistry(database, directory)
    before = await registry.readable_by((await directory.load()).people[IDS[0]])
    late = await registry.number_of(EVERYBODY)
    assert not before.admits(late)
    assert (await registry.readable_by((await directory.load()).people[IDS[0]])).admits(late)


async def test_unchanged_directory_and_classes_are_not_read_again(database: Database) -> None:
    registry = AccessRegistry(database, Directory(database))
    await registry.number_of(ALL_MEMBERS)
    assert await registry.readership() is await registry.readership()


_NUMBER = """
import asyncio, sys
from core.database import open_database
from knowledge.access import AccessRule
from knowledge.access_registry import AccessRegistry
from knowledge.directory import Directory

async def main():
    database = await open_database(sys.argv[1])
    registry = AccessRegistry(database, Directory(database))
    rules = [AccessRule.of([f"user:{n}"]) for n in range(20)]
    print(*[await registry.number_of(rule) for rule in rules])
    await database.close()

asyncio.run(main())
"""


async def test_two_processes_give_a_rule_the_same_number(database_url: str) -> None:
    started = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", _NUMBER, database_url, cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )
        for _ in range(2)
    ]
    said = [(await one.communicate())[0].split() for one in started]
    assert said[0] == said[1]
    assert len(set(said[0])) == 20


def _content(active: dict[PersonId, bool], members: set[PersonId]) -> DirectoryContent:
    return DirectoryContent(
        people=tuple(
            Person(person_id=one, name="", is_active=is_active) for one, is_active in active.items()
        ),
        groups=(Group(source="a", group_id="g", name="", members=frozenset(members)),),
    )


class RightsOverTime(RuleBasedStateMachine):
    """Changes of rules, membership and activity, seen by two processes that share a database."""

    template: Path

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "state.sqlite3"
        shutil.copy(self.template, path)
        self.databases = [self._run_open(path) for _ in range(2)]
        self.directories = [Directory(one) for one in self.databases]
        self.registries = [
            AccessRegistry(database, directory)
            for database, directory in zip(self.databases, self.directories, strict=True)
        ]
        self.content = DirectoryContent()
        self.numbered: dict[AccessNo, AccessRule] = {}

    def _run_open(self, path: Path) -> Database:
        return self.loop.run_until_complete(open_database(f"sqlite:///{path}"))

    @initialize()
    def hire(self) -> None:
        self._replace(_content(dict.fromkeys(IDS, True), set(IDS[:2])))

    @rule(process=st.integers(0, 1), clauses=RULES)
    def number_a_rule(self, process: int, clauses: list[set[str]]) -> None:
        new = AccessRule.of(*clauses)
        number = self.loop.run_until_complete(self.registries[process].number_of(new))
        assert self.numbered.setdefault(number, new) == new

    @rule(members=st.frozensets(st.sampled_from(IDS)), name=st.sampled_from("gh"))
    def change_a_group(self, members: frozenset[PersonId], name: str) -> None:
        others = tuple(one for one in self.content.groups if one.group_id != name)
        group = Group(source="a", group_id=name, name="", members=members & self._ids())
        self._replace(replace(self.content, groups=(*others, group)))

    @rule(
        who=st.sampled_from(IDS),
        employment=st.sampled_from(Employment),
        is_active=st.booleans(),
    )
    def change_a_person(self, who: PersonId, *, employment: Employment, is_active: bool) -> None:
        others = tuple(one for one in self.content.people if one.person_id != who)
        person = Person(person_id=who, name="", employment=employment, is_active=is_active)
        self._replace(replace(self.content, people=(*others, person)))

    @rule(who=st.sampled_from(IDS))
    def remove_a_person(self, who: PersonId) -> None:
        people = tuple(one for one in self.content.people if one.person_id != who)
        groups = tuple(replace(one, members=one.members - {who}) for one in self.content.groups)
        self._replace(replace(self.content, people=people, groups=groups))

    @invariant()
    def nobody_reads_what_a_rule_denies(self) -> None:
        for registry in self.registries:
            readership = self.loop.run_until_complete(registry.readership())
            for who in IDS:
                readable = readership.readable_by_audience(Audience(listeners=frozenset({who})))
                assert readable.numbers == self._admitted(who)
            everybody = readership.readable_by_audience(Audience(listeners=frozenset(IDS)))
            assert everybody.numbers == set.intersection(*(self._admitted(who) for who in IDS))

    def teardown(self) -> None:
        for database in self.databases:
            self.loop.run_until_complete(database.close())
        self.loop.close()
        self.folder.cleanup()

    def _ids(self) -> set[PersonId]:
        return {one.person_id for one in self.content.people}

    def _replace(self, content: DirectoryContent) -> None:
        self.content = content
        replaced = self.directories[0].replace(content, group_source="a")
        self.loop.run_until_complete(replaced)

    def _admitted(self, who: PersonId) -> set[AccessNo]:
        person = next((one for one in self.content.people if one.person_id == who), None)
        if person is None or not person.is_active or person.employment is Employment.FORMER:
            return set()
        held = {"public", f"user:{who}"}
        held |= {f"group:a/{one.group_id}" for one in self.content.groups if who in one.members}
        if person.employment is not Employment.GUEST:
            held.add("members")
        return {
            number
            for number, one in self.numbered.items()
            if all(clause & held for clause in one.clauses)
        }


def test_no_order_of_changes_lends_rights(migrated_file: Path) -> None:
    machine = type("Machine", (RightsOverTime,), {"template": migrated_file})
    run_state_machine_as_test(machine, settings=settings(max_examples=10, stateful_step_count=10))

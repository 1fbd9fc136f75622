from datetime import UTC, datetime, timedelta

from core.database import Database
from knowledge.directory import Directory
from knowledge.people import DirectoryContent, Group, Person, PersonId

NOW = datetime(2026, 6, 1, tzinfo=UTC)
ADA, BO = PersonId("ada"), PersonId("bo")


def group(*members: str, name: str = "Finance 财务") -> Group:
    return Group(
        source="wiki", group_id="fin", name=name, members=frozenset(map(PersonId, members))
    )


async def open_directory(database: Database) -> Directory:
    directory = Directory(database)
    people = tuple(Person(person_id=one, name=one) for one in (ADA, BO))
    await directory.replace(DirectoryContent(people=people), group_source="company")
    return directory


async def principals(directory: Directory, person: PersonId) -> frozenset[str]:
    snapshot = await directory.load()
    return frozenset(snapshot.principals_of(snapshot.people[person]))


async def test_members_are_exactly_those_of_the_source(database: Database) -> None:
    directory = await open_directory(database)
    assert await directory.replace_groups([group("ada", "bo")], checked_at=NOW)
    assert "group:wiki/fin" in await principals(directory, BO)
    assert await directory.replace_groups([group("ada")], checked_at=NOW)
    assert "group:wiki/fin" not in await principals(directory, BO)
    assert "group:wiki/fin" in await principals(directory, ADA)


async def test_the_same_members_change_nothing(database: Database) -> None:
    directory = await open_directory(database)
    await directory.replace_groups([group("ada")], checked_at=NOW)
    version = (await directory.load()).version
    assert not await directory.replace_groups([group("ada")], checked_at=NOW)
    assert (await directory.load()).version == version


async def test_other_groups_stay_and_strangers_are_left_out(database: Database) -> None:
    directory = await open_directory(database)
    other = Group(source="other", group_id="fin", name="", members=frozenset({BO}))
    await directory.replace_groups([other], checked_at=NOW)
    await directory.replace_groups([group("ada", "nobody we know")], checked_at=NOW)
    assert "group:other/fin" in await principals(directory, BO)
    assert not await directory.replace_groups([group("ada")], checked_at=NOW)


async def test_a_group_that_is_gone_has_no_members(database: Database) -> None:
    directory = await open_directory(database)
    await directory.replace_groups([group("ada")], checked_at=NOW)
    await directory.replace_groups([group()], checked_at=NOW)
    assert "group:wiki/fin" not in await principals(directory, ADA)


async def test_a_check_is_remembered_though_nothing_has_changed(database: Database) -> None:
    directory = await open_directory(database)
    await directory.replace_groups([group("ada")], checked_at=NOW)
    later = NOW + timedelta(minutes=1)
    assert not await directory.replace_groups([group("ada")], checked_at=later)
    assert await directory.load_group_checks() == {("wiki", "fin"): later}
    await directory.replace_groups([group("ada", "bo")], checked_at=NOW + timedelta(minutes=2))
    assert len(await directory.load_group_checks()) == 1

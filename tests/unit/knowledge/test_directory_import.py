import json
from pathlib import Path
from typing import Any

import pytest

from core.database import Database
from core.errors import SettingsError
from knowledge.directory import Directory
from knowledge.directory_import import GROUP_SOURCE, import_directory
from knowledge.people import (
    DirectoryContent,
    Employment,
    Group,
    Person,
    PersonId,
    Visibility,
)

COMPANY = Path(__file__).parents[3].parent / "shared" / "data" / "company"

PEOPLE: list[dict[str, Any]] = [
    {
        "id": "li.na",
        "name": "李娜",
        "name_en": "Li Na",
        "email": "Li.Na@corp.example",
        "slack_id": "U1",
        "dingtalk_id": "d1",
        "department": "Ops",
        "title": "SRE",
        "manager": None,
        "employment_type": "employee",
        "active": True,
        "confluence_account_id": "c1",
        "notion_user_id": None,
        "groups": ["ignored-here"],
    },
    {"id": "ann", "name": "Ann", "manager": "li.na", "employment_type": "contractor"},
    {"id": "gus", "name": "Gus", "email": "gus@other.example", "employment_type": "guest"},
]
GROUPS: list[dict[str, Any]] = [{"id": "g-ops", "name": "运维", "members": ["li.na", "ann"]}]
CHANNELS: list[dict[str, Any]] = [
    {
        "id": "ch-ops",
        "name": "ops",
        "platform": "slack",
        "native_id": "C1",
        "visibility": "private",
        "has_external_member": False,
        "members": ["li.na", "gus"],
    },
    {
        "id": "ch-open",
        "name": "大群",
        "platform": "dingtalk",
        "native_id": "cid1",
        "visibility": "public",
        "has_external_member": False,
        "members": None,
    },
]


def write_folder(
    folder: Path, people: object = PEOPLE, groups: object = GROUPS, channels: object = CHANNELS
) -> Path:
    for name, entries in (("people", people), ("groups", groups), ("channels", channels)):
        (folder / f"{name}.json").write_text(json.dumps(entries), encoding="utf-8")
    return folder


async def test_import_brings_people_accounts_groups_and_channels(
    database: Database, tmp_path: Path
) -> None:
    directory = Directory(database)
    done = await import_directory(directory, write_folder(tmp_path))
    assert (done.people, done.identities, done.groups, done.channels) == (3, 3, 1, 2)
    snapshot = await directory.load()
    li_na = snapshot.find_person("li.na")
    assert li_na == Person(
        person_id=PersonId("li.na"),
        name="李娜",
        name_en="Li Na",
        email="Li.Na@corp.example",
        department="Ops",
        title="SRE",
    )
    ann = snapshot.find_person("ann")
    assert ann is not None
    assert (ann.manager, ann.employment) == ("li.na", Employment.CONTRACTOR)
    ops = snapshot.find_channel("ch-ops")
    assert ops is not None
    assert ops.visibility is Visibility.PRIVATE
    assert sorted(ops.members) == ["gus", "li.na"]
    hall = snapshot.find_channel("cid1")
    assert hall is not None
    assert not hall.is_membership_known
    assert snapshot.principals_of(ann) == {"public", "members", "group:company/g-ops", "user:ann"}


async def test_second_import_of_the_same_changes_nothing(
    database: Database, tmp_path: Path
) -> None:
    directory = Directory(database)
    assert (await import_directory(directory, write_folder(tmp_path))).has_changed
    before = await directory.load()
    assert not (await import_directory(directory, tmp_path)).has_changed
    assert await directory.load() is before


async def test_what_vanished_from_the_folder_is_gone(database: Database, tmp_path: Path) -> None:
    directory = Directory(database)
    await import_directory(directory, write_folder(tmp_path))
    other = [{**CHANNELS[0], "members": ["li.na"]}]
    await import_directory(directory, write_folder(tmp_path, PEOPLE[:1], [], other))
    snapshot = await directory.load()
    assert snapshot.people.keys() == {"li.na"}
    assert snapshot.content.groups == ()
    assert snapshot.find_channel("ch-open") is None


async def test_groups_of_other_systems_outlive_an_import(
    database: Database, tmp_path: Path
) -> None:
    directory = Directory(database)
    await import_directory(directory, write_folder(tmp_path))
    snapshot = await directory.load()
    wiki = Group(
        source="wiki",
        group_id="g-ops",
        name="ops",
        members=frozenset({PersonId("li.na"), PersonId("ann")}),
    )
    content = DirectoryContent(
        people=snapshot.content.people,
        identities=snapshot.content.identities,
        groups=(wiki,),
        channels=snapshot.content.channels,
    )
    await directory.replace(content, group_source="wiki")
    renamed = [{**PEOPLE[0], "title": "Lead"}, PEOPLE[2]]
    await import_directory(directory, write_folder(tmp_path, renamed, [], []))
    snapshot = await directory.load()
    groups = {str(one.principal): sorted(one.members) for one in snapshot.content.groups}
    assert groups == {"group:wiki/g-ops": ["li.na"]}


async def test_another_process_sees_the_change(database: Database, tmp_path: Path) -> None:
    ours, theirs = Directory(database), Directory(database)
    await import_directory(ours, write_folder(tmp_path))
    assert (await theirs.load()).find_person("ann") is not None
    await import_directory(ours, write_folder(tmp_path, PEOPLE[:1], [], []))
    assert (await theirs.load()).find_person("ann") is None


@pytest.mark.parametrize(
    ("people", "groups", "channels", "said"),
    [
        ({}, GROUPS, CHANNELS, r"people\.json' must be a list"),
        ([*PEOPLE, PEOPLE[0]], GROUPS, CHANNELS, r"people\.json', entry 4: id 'li.na' occurs twi"),
        ([{"id": "x"}], [], [], r"people\.json', entry 1 \('x'\): name: Field required"),
        (["x"], [], [], r"people\.json', entry 1 \(None\): entry: Input should be"),
        ([{**PEOPLE[1], "employment_type": "boss"}], [], [], r"entry 1 \('ann'\): employment_type"),
        ([{**PEOPLE[0], "active": "yes"}], [], [], r"entry 1 \('li.na'\): active"),
        (PEOPLE[1:], [], [], r"people\.json', entry 1 \('ann'\): manager 'li.na' is not in peop"),
        ([PEOPLE[0], {**PEOPLE[2], "slack_id": "U1"}], [], [], "slack account 'U1' belongs to bo"),
        (PEOPLE, [{"id": "g", "members": ["bob"]}], [], r"groups\.json', entry 1 .*member 'bob'"),
        (PEOPLE, [], [{**CHANNELS[0], "members": ["bob"]}], r"channels\.json', entry 1 .*'bob'"),
        (PEOPLE, [], [{**CHANNELS[0], "id": "dm"}], r"a channel can't be called 'dm'"),
        (PEOPLE, [], [CHANNELS[0], {**CHANNELS[0], "id": "b"}], "native id 'slack:C1' occurs twi"),
        (PEOPLE, [], [{**CHANNELS[0], "visibility": "secret"}], r"entry 1 \('ch-ops'\): visibilit"),
        (PEOPLE, [], [{"id": "c", "platform": "slack"}], r"entry 1 \('c'\): native_id"),
    ],
)
async def test_wrong_entry_is_named_and_nothing_is_imported(
    database: Database, tmp_path: Path, people: object, groups: object, channels: object, said: str
) -> None:
    directory = Directory(database)
    with pytest.raises(SettingsError, match=said):
        await import_directory(directory, write_folder(tmp_path, people, groups, channels))
    assert (await directory.load()).content == DirectoryContent()


async def test_missing_file_and_broken_json_are_named(database: Database, tmp_path: Path) -> None:
    directory = Directory(database)
    with pytest.raises(SettingsError, match=r"people\.json' is missing"):
        await import_directory(directory, tmp_path)
    write_folder(tmp_path)
    (tmp_path / "groups.json").write_text('[{"id": ')
    with pytest.raises(SettingsError, match=r"groups\.json' is not valid JSON"):
        await import_directory(directory, tmp_path)
    (tmp_path / "groups.json").write_bytes('["组"]'.encode("gb18030"))
    with pytest.raises(SettingsError, match=r"groups\.json' is not valid JSON in UTF-8"):
        await import_directory(directory, tmp_path)
    (tmp_path / "groups.json").unlink()
    (tmp_path / "groups.json").mkdir()
    with pytest.raises(SettingsError, match=r"groups\.json' can't be read"):
        await import_directory(directory, tmp_path)


@pytest.mark.skipif(not COMPANY.exists(), reason="the shared company data is not here")
async def test_a_whole_company_comes_in(database: Database) -> None:
    directory = Directory(database)
    done = await import_directory(directory, COMPANY)
    snapshot = await directory.load()
    people = json.loads((COMPANY / "people.json").read_text(encoding="utf-8"))
    assert done.people == len(people)
    for entry in people:
        person = snapshot.people[entry["id"]]
        groups = {f"group:{GROUP_SOURCE}/{name}" for name in entry["groups"]}
        held = {name for name in snapshot.principals_of(person) if name.startswith("group:")}
        assert held == (groups if entry["active"] else set())
        assert snapshot.find_person(f"slack:{entry['slack_id']}") is person
        assert snapshot.find_person(entry["email"].upper()) is person

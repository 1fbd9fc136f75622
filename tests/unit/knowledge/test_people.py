from dataclasses import replace

import pytest

from knowledge.people import (
    Channel,
    ChannelId,
    DirectoryContent,
    DirectorySnapshot,
    Employment,
    Group,
    Identity,
    Person,
    PersonId,
    Visibility,
)

ANN = Person(person_id=PersonId("ann"), name="Ann", email="ann@corp.example")
BO = Person(person_id=PersonId("bo"), name="薄", email="bo@corp.example")
GROUP = Group(source="wiki", group_id="ops", name="", members=frozenset({ANN.person_id}))


def build_snapshot(*people: Person, contractors: bool = True, **parts: object) -> DirectorySnapshot:
    content = replace(DirectoryContent(people=people), **parts)  # type: ignore[arg-type]
    return DirectorySnapshot(content, version=1, contractors_are_members=contractors)


def build_channel(name: str, native_id: str, platform: str = "slack") -> Channel:
    return Channel(
        channel_id=ChannelId(name),
        platform=platform,
        native_id=native_id,
        name=name,
        visibility=Visibility.PRIVATE,
    )


@pytest.mark.parametrize(
    ("employment", "contractors", "is_member"),
    [
        (Employment.EMPLOYEE, False, True),
        (Employment.CONTRACTOR, True, True),
        (Employment.CONTRACTOR, False, False),
        (Employment.GUEST, True, False),
    ],
)
def test_membership_follows_employment(
    *, employment: Employment, contractors: bool, is_member: bool
) -> None:
    person = replace(ANN, employment=employment)
    snapshot = build_snapshot(person, contractors=contractors, groups=(GROUP,))
    principals = {"public", "user:ann", "group:wiki/ops"} | ({"members"} if is_member else set())
    assert snapshot.principals_of(person) == principals


@pytest.mark.parametrize(
    "person", [replace(ANN, is_active=False), replace(ANN, employment=Employment.FORMER)]
)
def test_inactive_and_former_people_satisfy_nothing(person: Person) -> None:
    snapshot = build_snapshot(person, groups=(GROUP,))
    assert snapshot.principals_of(person) == frozenset()
    assert not snapshot.is_member(person)


def test_person_is_found_by_id_email_and_account() -> None:
    slack = Identity(system="slack", native_id="U1", person_id=ANN.person_id)
    snapshot = build_snapshot(ANN, BO, identities=(slack,))
    assert snapshot.find_person("ann") == ANN
    assert snapshot.find_person("ANN@corp.example ") == ANN
    assert snapshot.find_person("slack:U1") == ANN
    for unknown in ("", "Ann", "slack:U2", "dingtalk:U1", "U1", "x@corp.example"):
        assert snapshot.find_person(unknown) is None


def test_email_of_two_people_finds_nobody() -> None:
    wiki = Identity(
        system="wiki", native_id="1", person_id=BO.person_id, verified_email="Ann@Corp.example"
    )
    assert build_snapshot(ANN, BO, identities=(wiki,)).find_person("ann@corp.example") is None


def test_verified_address_of_an_account_finds_its_owner() -> None:
    wiki = Identity(
        system="wiki", native_id="1", person_id=BO.person_id, verified_email="b@old.example"
    )
    assert build_snapshot(ANN, BO, identities=(wiki,)).find_person("b@old.example") == BO


def test_channel_is_found_by_id_and_native_id_when_that_is_unambiguous() -> None:
    one, other = build_channel("a", "C1"), build_channel("b", "C1", "dingtalk")
    snapshot = build_snapshot(channels=(one, other, build_channel("c", "C3")))
    assert snapshot.find_channel("a") == one
    assert snapshot.find_channel("C1") is None
    assert snapshot.find_channel("dingtalk:C1") == other
    assert snapshot.find_channel("C3") is not None
    assert snapshot.find_channel("C9") is None

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from knowledge.access import ALL_MEMBERS, EVERYBODY, NOBODY, AccessNo, AccessRule, Principal
from knowledge.people import (
    Channel,
    ChannelId,
    DirectoryContent,
    DirectorySnapshot,
    Employment,
    Group,
    Person,
    PersonId,
    Visibility,
)
from knowledge.readership import Audience, Readership, build_audience

IDS = [PersonId(f"p{number}") for number in range(5)]
PRINCIPALS = ["public", "members", "group:a/g", "group:b/g", "user:p0", "user:p1", "user:gone"]

people = st.builds(
    Person,
    person_id=st.just(PersonId("")),
    name=st.just(""),
    employment=st.sampled_from(Employment),
    is_active=st.booleans(),
)
rules = st.lists(st.sets(st.sampled_from(PRINCIPALS), max_size=3), min_size=1, max_size=3).map(
    lambda clauses: AccessRule.of(*clauses)
)
members = st.frozensets(st.sampled_from(IDS))


@st.composite
def snapshots(draw: st.DrawFn) -> DirectorySnapshot:
    content = DirectoryContent(
        people=tuple(replace(draw(people), person_id=person_id) for person_id in IDS),
        groups=tuple(
            Group(source=source, group_id="g", name="", members=draw(members))
            for source in ("a", "b")
        ),
    )
    return DirectorySnapshot(content, version=1, contractors_are_members=draw(st.booleans()))


audiences = st.builds(
    Audience,
    listeners=st.frozensets(st.sampled_from([*IDS, PersonId("unknown")])),
    has_stranger=st.booleans(),
    has_unnamed_member=st.booleans(),
)


def build_readership(directory: DirectorySnapshot, known: list[AccessRule]) -> Readership:
    readership = Readership(directory)
    numbered = [(AccessNo(number), rule) for number, rule in enumerate(known, start=1)]
    readership.extend(numbered, last=len(known))
    return readership


def principals_of_all(directory: DirectorySnapshot, audience: Audience) -> list[set[Principal]]:
    listening = [
        set(directory.principals_of(directory.people[one])) if one in directory.people else set()
        for one in audience.listeners
    ]
    if audience.has_stranger:
        listening.append({Principal("public")})
    if audience.has_unnamed_member:
        listening.append({Principal("public"), Principal("members")})
    return listening


@given(snapshots(), st.lists(rules, max_size=8), audiences)
def test_audience_reads_exactly_what_each_listener_may(
    directory: DirectorySnapshot, known: list[AccessRule], audience: Audience
) -> None:
    readable = build_readership(directory, known).readable_by_audience(audience)
    listening = principals_of_all(directory, audience)
    expected = {
        number
        for number, rule in enumerate(known, start=1)
        if listening and all(rule.admits(frozenset(one)) for one in listening)
    }
    assert readable.numbers == expected


@given(snapshots(), st.lists(rules, max_size=8), audiences, st.integers(0, 12))
def test_complement_form_admits_what_the_plain_form_admits(
    directory: DirectorySnapshot, known: list[AccessRule], audience: Audience, number: int
) -> None:
    readable = build_readership(directory, known).readable_by_audience(audience)
    by_complement = number not in readable.denied and 1 <= number <= readable.last_known
    assert by_complement == readable.admits(AccessNo(number))
    assert readable.numbers | readable.denied == set(range(1, len(known) + 1))


@given(snapshots(), st.lists(rules, max_size=8), audiences)
def test_audience_is_the_intersection_of_its_listeners(
    directory: DirectorySnapshot, known: list[AccessRule], audience: Audience
) -> None:
    readership = build_readership(directory, known)
    plain = replace(audience, has_stranger=False, has_unnamed_member=False)
    together = readership.readable_by_audience(plain).numbers
    each = [
        readership.readable_by_audience(Audience(listeners=frozenset({one}))).numbers
        for one in plain.listeners
    ]
    assert together == (frozenset.intersection(*each) if each else frozenset())


@given(snapshots(), st.lists(rules, max_size=6), st.lists(rules, max_size=6), st.sampled_from(IDS))
def test_taking_classes_in_one_by_one_is_like_taking_them_in_at_once(
    directory: DirectorySnapshot, some: list[AccessRule], more: list[AccessRule], person: PersonId
) -> None:
    reader = directory.people[person]
    slowly = build_readership(directory, some)
    before = slowly.readable_by(reader)
    slowly.extend(
        [(AccessNo(number), rule) for number, rule in enumerate(more, start=len(some) + 1)],
        last=len(some) + len(more),
    )
    assert slowly.readable_by(reader) == build_readership(directory, some + more).readable_by(
        reader
    )
    # What was handed out earlier still denies the classes made meanwhile.
    assert all(not before.admits(AccessNo(number)) for number in range(len(some) + 1, 20))


def test_skipped_numbers_are_denied() -> None:
    directory = _company()
    readership = Readership(directory)
    readership.extend([(AccessNo(3), EVERYBODY)], last=4)
    readable = readership.readable_by(directory.people[PersonId("emp")])
    assert readable.numbers == {3}
    assert readable.denied == {1, 2, 4}


def test_unchanged_rights_are_not_worked_out_again() -> None:
    directory = _company()
    readership = build_readership(directory, [EVERYBODY, NOBODY])
    employee = directory.people[PersonId("emp")]
    assert readership.readable_by(employee) is readership.readable_by(employee)
    others = [Audience(listeners=frozenset(), has_stranger=True)] + [
        Audience(listeners=frozenset({person})) for person in directory.people
    ]
    for _ in range(100):
        for audience in others:
            readership.readable_by_audience(audience)
    assert readership.readable_by(employee).numbers == {1}


def _company() -> DirectorySnapshot:
    kinds = {
        "emp": Employment.EMPLOYEE,
        "boss": Employment.EMPLOYEE,
        "temp": Employment.CONTRACTOR,
        "guest": Employment.GUEST,
        "gone": Employment.FORMER,
    }
    content = DirectoryContent(
        people=tuple(
            Person(person_id=PersonId(name), name=name, employment=kind)
            for name, kind in kinds.items()
        )
    )
    return DirectorySnapshot(content, version=1, contractors_are_members=True)


CHANNEL = Channel(
    channel_id=ChannelId("c"),
    platform="slack",
    native_id="C",
    name="c",
    visibility=Visibility.PRIVATE,
    members=frozenset({PersonId("emp")}),
)
BOSS_AND_EMP = AccessRule.of(["user:emp", "user:boss"])
CLASSES = [EVERYBODY, ALL_MEMBERS, BOSS_AND_EMP, NOBODY]


def _readable_in(channel: Channel, asker: str | None = None) -> set[int]:
    directory = _company()
    person = None if asker is None else directory.people[PersonId(asker)]
    audience = build_audience(channel, directory, asker=person)
    readership = build_readership(directory, CLASSES)
    found = readership.readable_in(channel, asker=person)
    assert found == readership.readable_by_audience(audience)
    assert readership.readable_in(channel, asker=person) is found
    return set(found.numbers)


def test_private_channel_reads_what_all_of_its_members_may() -> None:
    assert _readable_in(CHANNEL) == {1, 2, 3}
    with_guest = replace(CHANNEL, members=CHANNEL.members | {PersonId("guest")})
    assert _readable_in(with_guest) == {1}


def test_asker_listens_even_when_the_channel_does_not_list_them() -> None:
    assert _readable_in(CHANNEL, "temp") == {1, 2}


def test_public_channel_counts_every_member_of_the_company_in() -> None:
    assert _readable_in(replace(CHANNEL, visibility=Visibility.PUBLIC)) == {1, 2}
    listed = replace(CHANNEL, visibility=Visibility.PUBLIC, members=frozenset({PersonId("guest")}))
    assert _readable_in(listed) == {1}


def test_external_people_leave_what_is_public() -> None:
    assert _readable_in(replace(CHANNEL, has_external_member=True)) == {1}


def test_unknown_membership_leaves_what_is_public_or_in_dingtalk_what_members_may_read() -> None:
    unknown = replace(CHANNEL, is_membership_known=False, members=frozenset())
    assert _readable_in(unknown) == {1}
    assert _readable_in(replace(unknown, platform="dingtalk")) == {1, 2}
    outside = replace(unknown, platform="dingtalk", has_external_member=True)
    assert _readable_in(outside) == {1}


def test_former_member_who_still_listens_silences_the_channel() -> None:
    assert _readable_in(replace(CHANNEL, members=CHANNEL.members | {PersonId("gone")})) == set()

import pytest

from core.database import Database
from core.errors import SettingsError
from knowledge.access import ALL_MEMBERS, EVERYBODY, OPERATOR, AccessNo, AccessRule
from knowledge.access_registry import AccessRegistry
from knowledge.directory import Directory
from knowledge.people import (
    Channel,
    ChannelId,
    DirectoryContent,
    Employment,
    Person,
    PersonId,
    Visibility,
)
from knowledge.readers import resolve_reader

ANN, GUS, OLD = PersonId("ann"), PersonId("gus"), PersonId("old")
CONTENT = DirectoryContent(
    people=(
        Person(person_id=ANN, name="Ann", email="ann@corp.example"),
        Person(person_id=GUS, name="Gus", employment=Employment.GUEST),
        Person(person_id=OLD, name="Old", employment=Employment.FORMER, is_active=False),
    ),
    channels=tuple(
        Channel(
            channel_id=ChannelId(name),
            platform="slack",
            native_id=f"C-{name}",
            name=name,
            visibility=Visibility.PRIVATE,
            members=frozenset(members),
        )
        for name, members in {"mixed": {ANN, GUS}, "stale": {ANN, OLD}}.items()
    ),
)


@pytest.fixture
async def registry(database: Database) -> AccessRegistry:
    directory = Directory(database)
    await directory.replace(CONTENT, group_source="company")
    made = AccessRegistry(database, directory)
    for rule in (EVERYBODY, ALL_MEMBERS, AccessRule.of(["user:ann"])):
        await made.number_of(rule)
    return made


async def test_operator_reads_everything_in_private(registry: AccessRegistry) -> None:
    for where in (None, "dm"):
        reader = await resolve_reader(registry, in_=where)
        assert reader.is_operator
        assert reader.is_private
        assert reader.asker is None
        assert reader.asker_readable is reader.audience_readable is OPERATOR


async def test_operator_says_in_a_channel_only_what_it_may_read(registry: AccessRegistry) -> None:
    reader = await resolve_reader(registry, in_="C-mixed")
    assert reader.is_operator
    assert not reader.is_private
    assert not reader.audience_readable.is_operator
    assert reader.audience_readable.numbers == {1}


@pytest.mark.parametrize("reference", ["ann", "ANN@corp.example"])
async def test_person_reads_alone_what_they_may(registry: AccessRegistry, reference: str) -> None:
    reader = await resolve_reader(registry, as_=reference, in_="dm")
    assert reader.asker is not None
    assert reader.asker.person_id == "ann"
    assert not reader.is_operator
    assert reader.is_private
    assert reader.asker_readable.numbers == reader.audience_readable.numbers == {1, 2, 3}


async def test_person_in_a_channel_has_a_private_surplus(registry: AccessRegistry) -> None:
    reader = await resolve_reader(registry, as_="ann", in_="mixed")
    assert reader.channel is not None
    assert reader.asker_readable.numbers == {1, 2, 3}
    assert reader.audience_readable.numbers == {1}
    assert reader.inactive_listeners == ()


async def test_inactive_person_reads_nothing(registry: AccessRegistry) -> None:
    reader = await resolve_reader(registry, as_="old")
    assert reader.asker_readable.numbers == frozenset()
    assert not reader.asker_readable.admits(AccessNo(1))


async def test_inactive_listener_silences_the_channel_and_is_named(
    registry: AccessRegistry,
) -> None:
    reader = await resolve_reader(registry, as_="ann", in_="stale")
    assert reader.audience_readable.numbers == frozenset()
    assert reader.inactive_listeners == ("old",)
    assert reader.asker_readable.numbers == {1, 2, 3}


async def test_unknown_person_or_channel_is_a_settings_error(registry: AccessRegistry) -> None:
    with pytest.raises(SettingsError, match="'nobody' is nobody the directory knows"):
        await resolve_reader(registry, as_="nobody")
    with pytest.raises(SettingsError, match="'' is nobody"):
        await resolve_reader(registry, as_="")
    with pytest.raises(SettingsError, match="'nowhere' is no channel"):
        await resolve_reader(registry, as_="ann", in_="nowhere")

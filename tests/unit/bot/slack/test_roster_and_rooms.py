"""Who an account is and who listens: by confirmed address or mapping, for as long as it holds."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import SecretStr

from bot.handlers.slack.api import SlackApi, open_slack_api
from bot.handlers.slack.payloads import User
from bot.handlers.slack.rooms import Rooms
from bot.handlers.slack.roster import Roster
from core.chat_settings import SlackSettings
from core.database import Database
from core.errors import ServiceUnavailableError
from knowledge.directory import Directory
from knowledge.people import (
    DirectoryContent,
    DirectorySnapshot,
    Identity,
    Person,
    PersonId,
    Visibility,
)
from playground.slack.server import BOT_TOKEN, SlackServer, serve_slack
from playground.slack.workspace import OTHER_TEAM_ID, TEAM_ID, Member
from tests.unit.bot.slack.workplace import build_workspace

ANN = Person(person_id=PersonId("ann"), name="Ann", email="Ann@nimbus.example")
BO = Person(person_id=PersonId("bo"), name="Bo", email="bo@nimbus.example")
CONTENT = DirectoryContent(
    people=(ANN, BO),
    identities=(Identity(system="slack", native_id="U2", person_id=BO.person_id),),
)
SNAPSHOT = DirectorySnapshot(CONTENT, version=1, contractors_are_members=True)
MAIL = {"profile": {"email": "ann@nimbus.example"}, "is_email_confirmed": True}


@dataclass
class Ticking:
    """Seconds that a test moves on."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with serve_slack(build_workspace()) as server:
        yield server


@pytest.fixture
def settings(slack: SlackServer) -> SlackSettings:
    return SlackSettings(bot_token=SecretStr(BOT_TOKEN), base_url=slack.api_url)


@pytest.fixture
async def api(settings: SlackSettings) -> AsyncIterator[SlackApi]:
    async with open_slack_api(settings) as opened:
        yield opened


@pytest.mark.parametrize(
    ("user", "person"),
    [
        ({"id": "U1", **MAIL}, ANN),
        ({"id": "U1", **MAIL, "is_email_confirmed": False}, None),
        ({"id": "U1", **MAIL, "team_id": OTHER_TEAM_ID}, None),
        ({"id": "U1", **MAIL, "is_stranger": True}, None),
        ({"id": "U1", **MAIL, "deleted": True}, None),
        ({"id": "U1", **MAIL, "is_bot": True}, None),
        ({"id": "U1", "is_email_confirmed": True, "profile": {"email": "ann"}}, None),
        ({"id": "U2"}, BO),
        ({"id": "U2", "team_id": OTHER_TEAM_ID, "is_stranger": True}, BO),
        ({"id": "U2", "deleted": True}, None),
        ({"id": "U2", **MAIL}, None),
    ],
)
def test_people_are_known_by_confirmed_address_or_by_mapping(
    api: SlackApi, settings: SlackSettings, user: dict[str, Any], person: Person | None
) -> None:
    roster = Roster(api, settings, team_id=TEAM_ID)
    assert roster.identify(User.model_validate({"team_id": TEAM_ID, **user}), SNAPSHOT) == person


def test_addresses_count_for_nothing_where_the_settings_say_so(api: SlackApi) -> None:
    roster = Roster(api, SlackSettings(match_email=False), team_id=TEAM_ID)
    user = User.model_validate({"id": "U1", "team_id": TEAM_ID, **MAIL})
    assert roster.identify(user, SNAPSHOT) is None
    assert roster.identify(None, SNAPSHOT) is None


async def test_accounts_are_believed_for_a_while_and_held_while_slack_is_away(
    slack: SlackServer, api: SlackApi, settings: SlackSettings
) -> None:
    clock = Ticking()
    roster = Roster(api, settings, team_id=TEAM_ID, monotonic=clock)
    assert {one.id for one in await roster.full_members()} == {"U1", "U2", "U3"}
    assert await roster.find("U1") is not None
    assert slack.calls.by_method["users.list"] == 1
    slack.faults.fail["*"] = 999
    clock.now = 600
    assert await roster.find("U1") is not None
    clock.now = 1000
    with pytest.raises(ServiceUnavailableError):
        await roster.find("U1")


async def test_strangers_are_asked_for_singly_and_changes_taken_in(
    slack: SlackServer, api: SlackApi, settings: SlackSettings
) -> None:
    roster = Roster(api, settings, team_id=TEAM_ID)
    assert await roster.find("U99") is None
    joined = Member(user_id="U99", name="new", real_name="New")
    slack.workspace.add_member(joined)
    assert await roster.find("U99") is not None
    roster.take_change(joined.to_json(with_email=True))
    assert "U99" in {one.id for one in await roster.full_members()}
    roster.take_change({"nothing": "known"})
    await roster.full_members()
    assert slack.calls.by_method["users.list"] == 2


async def test_a_channel_is_kept_in_the_directory_with_who_listens(
    api: SlackApi, settings: SlackSettings, database: Database
) -> None:
    directory = Directory(database)
    await directory.replace(CONTENT, group_source="company")
    clock = Ticking()
    roster = Roster(api, settings, team_id=TEAM_ID)
    rooms = Rooms(api, settings, roster=roster, directory=directory, monotonic=clock)
    channel = await rooms.describe("C2")
    # U1 is nobody the directory knows.
    assert (channel.has_external_member, channel.members) == (True, frozenset({BO.person_id}))
    assert channel.visibility is Visibility.PRIVATE
    assert (await directory.load()).find_channel("slack:C2") == channel
    version = (await directory.load()).version
    assert await rooms.describe("C2") == channel
    assert (await directory.load()).version == version
    assert await rooms.has_member("C2", "U1")


async def test_what_changed_is_not_believed_while_slack_is_away(
    slack: SlackServer, api: SlackApi, settings: SlackSettings, database: Database
) -> None:
    clock = Ticking()
    directory = Directory(database)
    roster = Roster(api, settings, team_id=TEAM_ID)
    rooms = Rooms(api, settings, roster=roster, directory=directory, monotonic=clock)
    assert (await rooms.describe("C2")).is_membership_known
    slack.faults.fail["conversations.info"] = 999
    clock.now = 100
    assert (await rooms.describe("C2")).is_membership_known
    clock.now = 2000
    assert not (await rooms.describe("C2")).is_membership_known
    clock.now = 100
    rooms.forget("C2")
    unknown = await rooms.describe("C2")
    assert (unknown.is_membership_known, unknown.has_external_member) == (False, True)

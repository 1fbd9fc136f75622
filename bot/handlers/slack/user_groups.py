"""Slack's user groups, as `group:slack/ID` in access files: who is in them, as Slack says."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack
from typing import Any

import structlog

from bot.handlers.slack.api import SlackApi, open_slack_api
from bot.handlers.slack.calls import SlackRefusedError
from bot.handlers.slack.payloads import UserGroup
from bot.handlers.slack.roster import SYSTEM, Roster
from core.chat_settings import SlackSettings
from core.clock import Clock
from core.errors import ServiceUnavailableError
from knowledge.directory import Directory
from knowledge.people import DirectorySnapshot, Group, PersonId

# Slack lists user groups twenty times a minute, however many people ask.
LISTING_HOLDS_S = 5.0

LoadDirectory = Callable[[], Awaitable[DirectorySnapshot]]

_log = structlog.get_logger(__name__)


class UserGroups:
    """A `GroupSource` of the workspace."""

    def __init__(
        self,
        api: SlackApi,
        roster: Roster,
        load_directory: LoadDirectory,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._roster = roster
        self._load_directory = load_directory
        self._monotonic = monotonic
        self._listing: tuple[UserGroup, ...] = ()
        self._listed_at: float | None = None
        self._lock = asyncio.Lock()

    @property
    def group_source(self) -> str:
        """The SOURCE of `group:SOURCE/ID`."""
        return SYSTEM

    async def fetch_all(self) -> tuple[Group, ...]:
        """Return every user group of the workspace; disabled ones have no members.

        Raises:
            TransientError: Slack did not answer.
        """
        listing = await self._list()
        directory = await self._load_directory()
        return tuple([await self._build(one, directory) for one in listing])

    async def fetch_groups(self, group_ids: Collection[str]) -> tuple[Group, ...]:
        """Return these groups; one that does not exist any more has no members."""
        found = {one.group_id: one for one in await self.fetch_all()}
        return tuple(found.get(one) or _build_gone(one) for one in group_ids)

    async def fetch_groups_of(self, person: PersonId) -> frozenset[str] | None:
        """Return the ids of the groups somebody is in."""
        return frozenset(one.group_id for one in await self.fetch_all() if person in one.members)

    def forget(self) -> None:
        """Ask anew next time."""
        self._listed_at = None

    async def close(self) -> None:
        """Nothing of its own is open."""

    async def _list(self) -> tuple[UserGroup, ...]:
        async with self._lock:
            now = self._monotonic()
            if self._listed_at is not None and now - self._listed_at <= LISTING_HOLDS_S:
                return self._listing
            try:
                found = await self._api.read(
                    "usergroups.list", include_users=True, include_disabled=True
                )
            except SlackRefusedError as error:
                # Who is in them is as unknown as if Slack were silent.
                raise ServiceUnavailableError(str(error)) from error
            groups: list[Mapping[str, Any]] = found.get("usergroups") or []
            self._listing = tuple(UserGroup.model_validate(one) for one in groups)
            self._listed_at = now
            return self._listing

    async def _build(self, group: UserGroup, directory: DirectorySnapshot) -> Group:
        accounts = () if group.date_delete else group.users
        people = [
            self._roster.identify(await self._roster.find(one), directory) for one in accounts
        ]
        return Group(
            source=SYSTEM,
            group_id=group.id,
            name=group.name or group.handle or group.id,
            members=frozenset(one.person_id for one in people if one is not None),
        )


class ConnectedUserGroups:
    """The same over a connection of its own, made when it is first asked."""

    def __init__(self, settings: SlackSettings, load_directory: LoadDirectory) -> None:
        self._settings = settings
        self._load_directory = load_directory
        self._stack = AsyncExitStack()
        self._groups: UserGroups | None = None
        self._connecting = asyncio.Lock()

    @property
    def group_source(self) -> str:
        """The SOURCE of `group:SOURCE/ID`."""
        return SYSTEM

    async def fetch_groups(self, group_ids: Collection[str]) -> tuple[Group, ...]:
        """Return these groups; one that does not exist any more has no members."""
        return await (await self._connect()).fetch_groups(group_ids)

    async def fetch_groups_of(self, person: PersonId) -> frozenset[str] | None:
        """Return the ids of the groups somebody is in."""
        return await (await self._connect()).fetch_groups_of(person)

    async def close(self) -> None:
        """Release the connection. Safe to call twice."""
        self._groups = None
        await self._stack.aclose()

    async def _connect(self) -> UserGroups:
        async with self._connecting:
            if self._groups is None:
                api = await self._stack.enter_async_context(open_slack_api(self._settings))
                account = await api.identify()
                roster = Roster(api, self._settings, team_id=account.team_id)
                self._groups = UserGroups(api, roster, self._load_directory)
            return self._groups


class GroupKeeper:
    """Writes the workspace's groups into the directory, every now and then and when they change."""

    def __init__(
        self,
        groups: UserGroups,
        directory: Directory,
        clock: Clock,
        *,
        every_s: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._groups = groups
        self._directory = directory
        self._clock = clock
        self._every_s = every_s
        self._monotonic = monotonic
        self._kept_at: float | None = None

    async def keep(self) -> None:
        """Write them down when it is time to."""
        now = self._monotonic()
        if self._kept_at is not None and now - self._kept_at < self._every_s:
            return
        self._kept_at = now
        # As of when it was asked, at the latest.
        began = self._clock.now()
        groups = await self._groups.fetch_all()
        found = {one.group_id for one in groups}
        gone = [
            _build_gone(one.group_id)
            for one in (await self._directory.load()).content.groups
            if one.source == SYSTEM and one.group_id not in found
        ]
        await self._directory.replace_groups([*groups, *gone], checked_at=began)

    def forget(self) -> None:
        """Do so with the next round: something has changed."""
        self._kept_at = None
        self._groups.forget()


def _build_gone(group_id: str) -> Group:
    return Group(source=SYSTEM, group_id=group_id, name=group_id, members=frozenset())

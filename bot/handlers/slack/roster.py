"""The workspace's accounts, and which of our people they are."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from pydantic import ValidationError

from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.calls import SlackRefusedError
from bot.handlers.slack.payloads import User
from core.chat_settings import SlackSettings
from core.errors import TransientError
from knowledge.people import DirectorySnapshot, Person

SYSTEM = "slack"

_log = structlog.get_logger(__name__)


class Roster:
    """Accounts, as fresh as the settings say.

    While Slack does not answer, what was last known holds for a time.

    Args:
        api: Asked for accounts.
        settings: How long they are believed.
        team_id: Our own workspace.
        monotonic: Seconds that only go up.
    """

    def __init__(
        self,
        api: SlackApi,
        settings: SlackSettings,
        *,
        team_id: str,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._settings = settings
        self._team_id = team_id
        self._monotonic = monotonic
        self._users: dict[str, User] = {}
        self._strangers: dict[str, tuple[User, float]] = {}
        self._loaded_at: float | None = None
        self._loading = asyncio.Lock()

    async def find(self, user_id: str) -> User | None:
        """Return an account; None when there is none of that id.

        Raises:
            TransientError: Slack does not answer and nothing is known any more.
        """
        await self._refresh()
        if known := self._users.get(user_id):
            return known
        stranger = self._strangers.get(user_id)
        now = self._monotonic()
        if stranger and now - stranger[1] <= self._settings.members_fresh_s:
            return stranger[0]
        try:
            found = await self._api.read("users.info", user=user_id)
        except SlackRefusedError as error:
            if error.code in {"user_not_found", "user_not_visible"}:
                return None
            raise
        user = User.model_validate(found["user"])
        self._strangers[user_id] = (user, now)
        return user

    async def list_ours(self) -> list[User]:
        """Return the accounts of our own workspace that people use, guests too."""
        await self._refresh()
        return [
            one
            for one in self._users.values()
            if self.is_ours(one) and not (one.deleted or one.is_machine)
        ]

    async def full_members(self) -> list[User]:
        """Return everybody who may join any public channel: no guests, strangers or machines."""
        return [one for one in await self.list_ours() if not one.is_guest]

    def is_ours(self, user: User) -> bool:
        """Tell whether an account belongs to our own workspace."""
        return user.team_id == self._team_id and not user.is_stranger

    def take_change(self, user: Mapping[str, Any]) -> None:
        """Take in what an event says of an account."""
        try:
            changed = User.model_validate(user)
        except ValidationError:
            self.forget()
            return
        self._strangers.pop(changed.id, None)
        if changed.id in self._users or self.is_ours(changed):
            self._users[changed.id] = changed

    def forget(self) -> None:
        """Ask anew before the next answer."""
        self._loaded_at = None
        self._strangers.clear()

    def identify(self, user: User | None, directory: DirectorySnapshot) -> Person | None:
        """Return which of our people an account is; None when nobody knows.

        By the confirmed address of an account of our own workspace, or by the id the directory
        gives. Where these two name different people, neither is believed.
        """
        if user is None or user.deleted or user.is_machine:
            return None
        mapped = directory.find_person(f"{SYSTEM}:{user.id}")
        by_mail = None
        if self._settings.match_email and self.is_ours(user) and user.is_email_confirmed:
            # An address without "@" would be looked up as one of our ids.
            email = user.profile.email
            by_mail = directory.find_person(email) if "@" in email else None
        if mapped and by_mail and mapped.person_id != by_mail.person_id:
            _log.warning(
                "slack_account_ambiguous",
                account=user.id,
                mapped=mapped.person_id,
                by_mail=by_mail.person_id,
            )
            return None
        return mapped or by_mail

    async def _refresh(self) -> None:
        async with self._loading:
            now = self._monotonic()
            age = None if self._loaded_at is None else now - self._loaded_at
            if age is not None and age <= self._settings.roster_fresh_s:
                return
            try:
                members = await self._api.read_pages("users.list", "members")
            except TransientError as error:
                if not self._users or (age is not None and age > self._settings.hold_s):
                    raise
                _log.warning("slack_roster_not_refreshed", reason=str(error))
                return
            self._users = {one["id"]: User.model_validate(one) for one in members}
            self._loaded_at = now

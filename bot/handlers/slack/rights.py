"""What an account may be told, and where."""

from dataclasses import dataclass, replace

from bot.handlers.slack.rooms import Rooms
from bot.handlers.slack.roster import SYSTEM, Roster
from bot.preferences.store import Preferences
from core.chat_settings import SlackSettings
from knowledge.access import Principal
from knowledge.access_registry import AccessRegistry
from knowledge.memberships import Memberships
from knowledge.people import Person, PersonId
from knowledge.readers import Reader, resolve_chat_reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """Resolves readers from accounts and channels."""

    registry: AccessRegistry
    memberships: Memberships
    roster: Roster
    rooms: Rooms
    preferences: Preferences
    settings: SlackSettings

    async def identify(self, account: str) -> Person | None:
        """Return which active person of the directory an account is; None when it is none.

        Raises:
            TransientError: Slack does not say who that is.
        """
        user = await self.roster.find(account)
        directory = (await self.registry.readership()).directory
        person = self.roster.identify(user, directory)
        return person if person and directory.principals_of(person) else None

    async def is_admin(self, account: str) -> bool:
        """Tell whether an account is one of those the settings name as administrators.

        Raises:
            TransientError: Slack does not say who that is.
        """
        person = await self.identify(account)
        if person is None or not self.settings.admins:
            return False
        doubtful = await self.memberships.renew({person.person_id})
        directory = (await self.registry.readership()).directory
        principals = directory.principals_of(person) - doubtful
        return not principals.isdisjoint(Principal(one) for one in self.settings.admins)

    async def find_account(self, person_id: PersonId) -> str | None:
        """Return the account of a person; None when they have none here.

        Raises:
            TransientError: Slack does not say who there is.
        """
        directory = (await self.registry.readership()).directory
        for user in await self.roster.list_ours():
            person = self.roster.identify(user, directory)
            if person and person.person_id == person_id:
                return user.id
        return None

    async def resolve(self, account: str, *, channel: str = "") -> Reader | None:
        """Return the rights of an account that asks in a channel; an empty one = for itself alone.

        None when nobody knows the account and the settings say that it is refused.

        Raises:
            TransientError: Slack does not say who that is.
        """
        user = await self.roster.find(account)
        readership = await self.registry.readership()
        person = self.roster.identify(user, readership.directory)
        if person is None and self.settings.unknown_people == "refuse":
            return None
        reader = await resolve_chat_reader(
            self.registry,
            asker=person,
            account=f"{SYSTEM}:{account}",
            channel=await self.rooms.describe(channel) if channel else None,
            memberships=self.memberships,
        )
        if not channel:
            return reader
        choice = await self.preferences.load_channel(channel)
        if not choice.has_private_answers:
            # Nobody is told more there than everybody is.
            reader = replace(reader, asker_readable=reader.audience_readable)
        return replace(reader, bases=choice.bases)

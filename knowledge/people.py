"""People, groups and channels as the directory has them at one moment. Frozen and pure."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

from knowledge.access import MEMBERS, PUBLIC, Principal

PersonId = NewType("PersonId", str)
ChannelId = NewType("ChannelId", str)

DIRECT_MESSAGE = "dm"
"""Stands for a direct message where a channel is named, so no channel may be called so."""


class Employment(StrEnum):
    """What somebody is to the company; guests are people of other companies in our chat."""

    EMPLOYEE = "employee"
    CONTRACTOR = "contractor"
    GUEST = "guest"
    FORMER = "former"


class Visibility(StrEnum):
    """Who can find and join a channel: every member of the workspace, or the invited."""

    PUBLIC = "public"
    PRIVATE = "private"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody the company knows.

    Attributes:
        email: The company's own record of the address, so taken as verified; may be empty.
        is_active: False = may do and read nothing at all.
    """

    person_id: PersonId
    name: str
    name_en: str = ""
    email: str = ""
    department: str = ""
    title: str = ""
    manager: PersonId | None = None
    employment: Employment = Employment.EMPLOYEE
    is_active: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A person's account in one system.

    Attributes:
        verified_email: The account's address when that system has verified it, else empty.
    """

    system: str
    native_id: str
    person_id: PersonId
    verified_email: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of one system; never equal to a namesake of another."""

    source: str
    group_id: str
    name: str
    members: frozenset[PersonId]

    @property
    def principal(self) -> Principal:
        """The group's name in access rules."""
        return Principal(f"group:{self.source}/{self.group_id}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A place in a chat where several people listen.

    Attributes:
        has_external_member: People of other companies, or people nobody knows, listen.
        is_membership_known: False = `members` says nothing about who listens.
    """

    channel_id: ChannelId
    platform: str
    native_id: str
    name: str
    visibility: Visibility
    has_external_member: bool = False
    is_membership_known: bool = True
    members: frozenset[PersonId] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryContent:
    """Everything the directory holds, in no particular order."""

    people: tuple[Person, ...] = ()
    identities: tuple[Identity, ...] = ()
    groups: tuple[Group, ...] = ()
    channels: tuple[Channel, ...] = ()


class DirectorySnapshot:
    """The directory as it was at one version, with look-ups."""

    def __init__(
        self, content: DirectoryContent, *, version: int, contractors_are_members: bool
    ) -> None:
        self.content = content
        self.version = version
        self.people: Mapping[PersonId, Person] = {one.person_id: one for one in content.people}
        self._member_kinds = {Employment.EMPLOYEE} | (
            {Employment.CONTRACTOR} if contractors_are_members else set()
        )
        self._by_email = self._index_emails()
        self._by_identity = {
            f"{one.system}:{one.native_id}": one.person_id for one in content.identities
        }
        self._channels = {one.channel_id: one for one in content.channels}
        self._groups: dict[PersonId, set[Principal]] = defaultdict(set)
        for group in content.groups:
            for member in group.members:
                self._groups[member].add(group.principal)

    def find_person(self, reference: str) -> Person | None:
        """Find by our id, by verified e-mail or by `system:id`, in this order.

        None also when an e-mail belongs to several people: guessing would lend rights.
        """
        if direct := self.people.get(PersonId(reference)):
            return direct
        if "@" in reference and (owners := self._by_email.get(reference.strip().casefold())):
            return self.people.get(next(iter(owners))) if len(owners) == 1 else None
        owner = self._by_identity.get(reference)
        return self.people.get(owner) if owner else None

    def find_channel(self, reference: str) -> Channel | None:
        """Find by our id, by native id or by `platform:native_id`; None when not unambiguous."""
        if direct := self._channels.get(ChannelId(reference)):
            return direct
        found = [
            channel
            for channel in self.content.channels
            if reference in {channel.native_id, f"{channel.platform}:{channel.native_id}"}
        ]
        return found[0] if len(found) == 1 else None

    def is_member(self, person: Person) -> bool:
        """Tell whether the person counts as one of the company."""
        return person.is_active and person.employment in self._member_kinds

    def principals_of(self, person: Person) -> frozenset[Principal]:
        """Return what the person satisfies in access rules; nothing for the inactive."""
        if not person.is_active or person.employment is Employment.FORMER:
            return frozenset()
        own = {
            PUBLIC,
            Principal(f"user:{person.person_id}"),
            *self._groups.get(person.person_id, ()),
        }
        return frozenset(own | {MEMBERS} if self.is_member(person) else own)

    def _index_emails(self) -> dict[str, set[PersonId]]:
        emails: dict[str, set[PersonId]] = defaultdict(set)
        for person in self.content.people:
            _add_email(emails, person.email, person.person_id)
        for identity in self.content.identities:
            _add_email(emails, identity.verified_email, identity.person_id)
        return emails


def _add_email(emails: dict[str, set[PersonId]], email: str, owner: PersonId) -> None:
    if email:
        emails[email.strip().casefold()].add(owner)

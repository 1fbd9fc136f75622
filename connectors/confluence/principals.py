"""Readers that Confluence names, as principals of ours. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from connectors.confluence.model import AccountIds, Readers
from knowledge.access import MEMBERS, Principal
from knowledge.people import DirectorySnapshot, Person, PersonId


@dataclass(frozen=True, slots=True, kw_only=True)
class Principals:
    """Maps accounts and groups of one site.

    Attributes:
        directory: None = nobody is known, so no single account is admitted.
        source: Name of the source.
        system: System whose native ids in the directory are the site's accounts.
        group_source: SOURCE of the principals of groups.
    """

    directory: DirectorySnapshot | None
    source: str
    system: str
    group_source: str
    anonymous_is_members: bool

    def build_clause(self, readers: Readers) -> frozenset[Principal]:
        """Return who satisfies a list of readers."""
        clause = {Principal(f"group:{self.group_source}/{group}") for group in readers.groups}
        clause |= {self._build_user(account) for account in readers.users}
        if readers.is_anonymous and self.anonymous_is_members:
            clause.add(MEMBERS)
        return frozenset(clause)

    def find_person(self, account: Sequence[str]) -> Person | None:
        """Return whose account it is, by any of its ids."""
        if self.directory is None:
            return None
        found = (self.directory.find_person(f"{self.system}:{one}") for one in account)
        return next((person for person in found if person is not None), None)

    def find_members(self, accounts: frozenset[AccountIds]) -> frozenset[PersonId]:
        """Return the people behind accounts; accounts of nobody we know are left out."""
        people = (self.find_person(account) for account in accounts)
        return frozenset(person.person_id for person in people if person is not None)

    def find_accounts(self, person: PersonId) -> tuple[str, ...]:
        """Return somebody's accounts on the site."""
        if self.directory is None:
            return ()
        return tuple(
            one.native_id
            for one in self.directory.content.identities
            if (one.person_id, one.system) == (person, self.system)
        )

    def _build_user(self, account: AccountIds) -> Principal:
        person = self.find_person(account)
        # Nobody satisfies the principal of an account that is nobody's; rules stay apart by it.
        return Principal(
            f"user:{person.person_id}" if person else f"account:{self.source}/{account[0]}"
        )

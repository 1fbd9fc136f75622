"""On whose behalf a tool runs: told by code from the reader, never by a model."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from knowledge.access import PUBLIC, Principal
from knowledge.people import DirectorySnapshot, Person, PersonId
from knowledge.readers import Reader
from knowledge.readership import build_audience


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks and who listens, as tools need to know it.

    Attributes:
        directory: Everybody, as known when the question came.
        principals: What the asker satisfies; `public` alone for strangers.
        listeners: What each other person who sees a public reply satisfies; empty in private.
        now: With the company's time zone; what "last month" is counted from.
    """

    reader: Reader
    directory: DirectorySnapshot
    principals: frozenset[Principal]
    listeners: tuple[frozenset[Principal], ...]
    now: datetime

    @property
    def person(self) -> Person | None:
        """The asker; None for the operator and for people the directory does not know."""
        return self.reader.asker

    def list_own(self, *, with_reports: bool) -> list[Person]:
        """Return the people whose records are the asker's to see: themselves, and their reports.

        Nobody for people the directory does not know, and for those who have left.
        """
        asker = self.person
        if asker is None or not self.principals:
            return []
        people = self.directory.people.values() if with_reports else ()
        return [asker, *(one for one in people if one.manager == asker.person_id)]

    def has_any(self, principals: Iterable[Principal]) -> bool:
        """Tell whether the asker is one of these; the operator always is."""
        return self.reader.is_operator or not self.principals.isdisjoint(principals)

    def everybody_has_any(self, principals: Iterable[Principal]) -> bool:
        """Tell whether all who see a public reply are of these."""
        wanted = frozenset(principals)
        return all(not one.isdisjoint(wanted) for one in self.listeners)


def build_caller(reader: Reader, directory: DirectorySnapshot, now: datetime) -> Caller:
    """Work out what tools may do for a reader.

    Args:
        reader: Who asks and where.
        directory: As it is now.
        now: With the company's time zone.
    """
    stranger = frozenset({PUBLIC})
    principals = stranger if reader.asker is None else directory.principals_of(reader.asker)
    listeners: list[frozenset[Principal]] = []
    if reader.channel is not None:
        audience = build_audience(reader.channel, directory, asker=reader.asker)
        listeners = [
            directory.principals_of(directory.people[one]) if one in directory.people else stranger
            for one in sorted(audience.listeners)
        ]
        if audience.has_stranger or audience.has_unnamed_member:
            listeners.append(stranger)
    return Caller(
        reader=reader,
        directory=directory,
        principals=principals,
        listeners=tuple(listeners),
        now=now,
    )


def describe_person(person_id: PersonId, caller: Caller) -> str:
    """Name a person so that namesakes can be told apart."""
    person = caller.directory.people[person_id]
    names = " / ".join(dict.fromkeys(filter(None, (person.name, person.name_en))))
    where = ", ".join(filter(None, (person.title, person.department)))
    return f"{names} ({where})" if where else names

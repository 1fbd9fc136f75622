"""Whose rows somebody sees, by the row rights of a table. Told from the directory, by code."""

from collections.abc import Iterable

from bot.agent.caller import Caller
from bot.agent.skills.definition import RowRights
from knowledge.people import Person


def list_visible_people(rights: RowRights, caller: Caller) -> frozenset[str] | None:
    """Return the people whose rows the asker sees, as the column has them; None = every row."""
    if caller.has_any(rights.full):
        return None
    person = caller.person
    # Who has no principals has left: not even their own rows are theirs any more.
    if not rights.own or person is None or not caller.principals:
        return frozenset()
    seen = [person]
    if rights.reports:
        people = caller.directory.people.values()
        seen += [one for one in people if one.manager == person.person_id]
    return frozenset(_identify(seen, rights))


def _identify(people: Iterable[Person], rights: RowRights) -> list[str]:
    if rights.own_is == "email":
        return [one.email for one in people if one.email]
    return [str(one.person_id) for one in people]

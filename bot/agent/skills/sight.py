"""Whose rows somebody sees, by the row rights of a table. Told from the directory, by code."""

from bot.agent.caller import Caller
from bot.agent.skills.definition import RowRights


def list_visible_people(rights: RowRights, caller: Caller) -> frozenset[str] | None:
    """Return the people whose rows the asker sees, as the column has them; None = every row."""
    if caller.has_any(rights.full):
        return None
    people = caller.list_own(with_reports=rights.reports) if rights.own else []
    if rights.own_is == "email":
        return frozenset(one.email for one in people if one.email)
    return frozenset(str(one.person_id) for one in people)

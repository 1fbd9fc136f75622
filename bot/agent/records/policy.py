"""Who sees which rows of a table: all of them, their own, or none. Bound by code to the asker."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, select

from bot.agent.caller import Caller
from bot.agent.records.catalogue import Catalogue, Table
from knowledge.access import MEMBERS, Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPolicy:
    """The rights on one table.

    Attributes:
        full: Whoever is one of these sees every row.
        visible_to: For all others there is no such table.
        own: The column with the id of the person a row belongs to; empty = others see nothing.
        has_reports: Managers see the rows of the people who report to them as well.
        via: The table that has the column `own`, when this one only refers to it; else empty.
    """

    full: frozenset[Principal]
    visible_to: frozenset[Principal] = frozenset({MEMBERS})
    own: str = ""
    has_reports: bool = False
    via: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What somebody sees of a table.

    Attributes:
        people: Whose rows; None = everybody's.
    """

    people: frozenset[str] | None

    @property
    def is_blind(self) -> bool:
        """Nothing is seen."""
        return self.people is not None and not self.people


Policies = Mapping[str, RowPolicy]


def decide_sight(policy: RowPolicy, caller: Caller) -> Sight:
    """Tell what the asker sees of a table."""
    if not caller.has_any(policy.visible_to):
        return Sight(people=frozenset())
    if caller.has_any(policy.full):
        return Sight(people=None)
    own = caller.list_own(with_reports=policy.has_reports) if policy.own else []
    return Sight(people=frozenset(str(one.person_id) for one in own))


def is_public(policies: Policies, tables: Collection[str], caller: Caller) -> bool:
    """Tell whether everybody who listens sees every row of the tables."""
    return all(
        caller.everybody_has_any(policies[name].full)
        and caller.everybody_has_any(policies[name].visible_to)
        for name in tables
    )


def limit_rows(
    table: Table, policies: Policies, catalogue: Catalogue, caller: Caller
) -> list[ColumnElement[bool]]:
    """Return what rows of the table must satisfy to be seen; nothing when all are."""
    policy = policies[table.name]
    sight = decide_sight(policy, caller)
    if sight.people is None:
        return []
    people = sorted(sight.people)
    if not policy.via:
        return [table.sql.c[policy.own].in_(people)] if policy.own else [_nothing(table)]
    owner = catalogue.get(policy.via)
    links = [
        column
        for column in table.references
        if column.reference is not None and column.reference.table == policy.via
    ]
    if owner is None or not links or links[0].reference is None:
        return [_nothing(table)]
    rows = select(owner.sql.c[links[0].reference.column]).where(owner.sql.c[policy.own].in_(people))
    return [table.sql.c[links[0].name].in_(rows)]


def _nothing(table: Table) -> ColumnElement[bool]:
    key = table.sql.c[table.key.name]
    return key.in_([])

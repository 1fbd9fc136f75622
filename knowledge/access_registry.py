"""The access classes in the database, and what each reader may see of them right now."""

import asyncio
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from core.counters import increase_counter, load_counters
from core.database import Database, insert_into
from knowledge.access import AccessNo, AccessRule, ReadableClasses
from knowledge.access_tables import access_classes
from knowledge.directory import DIRECTORY_COUNTER, Directory
from knowledge.people import Person
from knowledge.readership import Audience, Readership

_CLASS_COUNTER = "access_classes"


class AccessRegistry:
    """Numbers rules and tells who may read which number.

    Rights are as the database has them at the moment of the call: one small read tells whether
    directory or classes have changed since the last one, in whichever process.
    """

    def __init__(self, database: Database, directory: Directory) -> None:
        self._database = database
        self._directory = directory
        self._numbers: dict[str, AccessNo] = {}
        self._readership: Readership | None = None
        self._refreshing = asyncio.Lock()

    async def number_of(self, rule: AccessRule) -> AccessNo:
        """Return the number of the rule's class, which is made when it is new.

        Equal rules get the same number, whichever process asks first.
        """
        canonical = AccessRule.of(*rule.clauses)
        access_id = canonical.access_id
        if known := self._numbers.get(access_id):
            return known
        async with self._database.read() as connection:
            number = await _find_number(connection, access_id)
        if number is None:
            async with self._database.write() as connection:
                number = await _add_class(connection, access_id, canonical)
        self._numbers[access_id] = number
        return number

    async def get_rule(self, number: AccessNo) -> AccessRule:
        """Return the rule of a class.

        Raises:
            KeyError: There is no such class.
        """
        async with self._database.read() as connection:
            query = select(access_classes.c.rule).where(access_classes.c.access_no == number)
            clauses = await connection.scalar(query)
        if clauses is None:
            raise KeyError(f"there is no access class {number}")
        return AccessRule.of(*clauses)

    async def readership(self) -> Readership:
        """Return the readers of all classes as of now; the same object while nothing changes."""
        async with self._database.read() as connection, self._refreshing:
            found = await load_counters(connection, [DIRECTORY_COUNTER, _CLASS_COUNTER])
            current = self._readership
            if current is None or current.directory.version < found[DIRECTORY_COUNTER]:
                current = Readership(await self._directory.load_within(connection))
            last = found[_CLASS_COUNTER]
            if current.last_known < last:
                rules = await _load_rules(connection, after=current.last_known)
                current.extend(rules, last=last)
            self._readership = current
            return current

    async def readable_by(self, person: Person) -> ReadableClasses:
        """Return the classes the person may read now."""
        return (await self.readership()).readable_by(person)

    async def readable_by_audience(self, audience: Audience) -> ReadableClasses:
        """Return the classes that every listener may read now."""
        return (await self.readership()).readable_by_audience(audience)


async def _find_number(connection: AsyncConnection, access_id: str) -> AccessNo | None:
    query = select(access_classes.c.access_no).where(access_classes.c.access_id == access_id)
    number = await connection.scalar(query)
    return None if number is None else AccessNo(number)


async def _add_class(connection: AsyncConnection, access_id: str, rule: AccessRule) -> AccessNo:
    # Looked up again: another process may have been faster. SQLite holds the write lock by now;
    # on PostgreSQL the counter holds others back and the constraint decides.
    if existing := await _find_number(connection, access_id):
        return existing
    number = AccessNo(await increase_counter(connection, _CLASS_COUNTER))
    clauses = [sorted(clause) for clause in rule.clauses]
    added = await connection.execute(
        insert_into(connection, access_classes)
        .values(access_no=number, access_id=access_id, rule=clauses)
        .on_conflict_do_nothing(index_elements=[access_classes.c.access_id])
    )
    if added.rowcount == 1:
        return number
    return await _find_number(connection, access_id) or number


async def _load_rules(
    connection: AsyncConnection, *, after: AccessNo
) -> Sequence[tuple[AccessNo, AccessRule]]:
    query = (
        select(access_classes.c.access_no, access_classes.c.rule)
        .where(access_classes.c.access_no > after)
        .order_by(access_classes.c.access_no)
    )
    rows = await connection.execute(query)
    return [(AccessNo(row.access_no), AccessRule.of(*row.rule)) for row in rows]

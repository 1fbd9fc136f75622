"""The access classes in the database, and what each reader may see of them right now."""

import asyncio
from functools import partial

from sqlalchemy import select
from sqlalchemy.engine import Connection

from core.counters import increase_counter, load_counters
from core.database import Database
from core.tables import insert_into
from knowledge.access import AccessNo, AccessRule, Principal, ReadableClasses
from knowledge.access_tables import access_classes
from knowledge.directory import DIRECTORY_COUNTER, Directory
from knowledge.people import DirectoryContent, DirectorySnapshot, Person
from knowledge.readership import Audience, Readership

_CLASS_COUNTER = "access_classes"

_NumberedRule = tuple[AccessNo, AccessRule]


class AccessRegistry:
    """Numbers rules and tells who may read which number.

    Rights are as the database has them at the moment of the call: one small read tells whether
    directory or classes have changed since the last one, in whichever process.
    """

    def __init__(self, database: Database, directory: Directory) -> None:
        self._database = database
        self._directory = directory
        self._numbers: dict[str, AccessNo] = {}
        nobody = DirectorySnapshot(DirectoryContent(), version=-1, contractors_are_members=False)
        self._readership = Readership(nobody)
        self._refreshing = asyncio.Lock()

    async def number_of(self, rule: AccessRule) -> AccessNo:
        """Return the number of the rule's class, which is made when it is new.

        Equal rules get the same number, whichever process asks first.
        """
        canonical = AccessRule.of(*rule.clauses)
        access_id = canonical.access_id
        if known := self._numbers.get(access_id):
            return known
        number = await self._database.read(partial(_find_number, access_id=access_id))
        if number is None:
            number = await self._database.write(partial(_add_class, rule=canonical))
        self._numbers[access_id] = number
        return number

    async def get_rule(self, number: AccessNo) -> AccessRule:
        """Return the rule of a class.

        Raises:
            KeyError: There is no such class.
        """
        query = select(access_classes.c.rule).where(access_classes.c.access_no == number)
        clauses = await self._database.read(lambda connection: connection.scalar(query))
        if clauses is None:
            raise KeyError(f"there is no access class {number}")
        return AccessRule.of(*clauses)

    async def load_principals(self) -> frozenset[Principal]:
        """Return everybody whom any class names."""
        rules = await self._database.read(partial(_load_rules, after=AccessNo(0)))
        return frozenset(one for _, rule in rules for clause in rule.clauses for one in clause)

    async def readership(self) -> Readership:
        """Return the readers of all classes as of now; the same object while nothing changes."""
        version, last = await self._database.read(_load_state)
        if not self._readership.covers(version, last):
            async with self._refreshing:
                # Another question may have brought it up to date meanwhile.
                if not self._readership.covers(version, last):
                    await self._refresh()
        return self._readership

    async def readable_by(self, person: Person) -> ReadableClasses:
        """Return the classes the person may read now."""
        return (await self.readership()).readable_by(person)

    async def readable_by_audience(self, audience: Audience) -> ReadableClasses:
        """Return the classes that every listener may read now."""
        return (await self.readership()).readable_by_audience(audience)

    async def _refresh(self) -> None:
        known = self._readership

        def load(connection: Connection) -> tuple[Readership, list[_NumberedRule], int]:
            version, last = _load_state(connection)
            readership = known
            if version > known.directory.version:
                readership = Readership(self._directory.load_within(connection))
            return readership, _load_rules(connection, after=readership.last_known), last

        readership, rules, last = await self._database.read(load)
        readership.extend(rules, last=last)
        self._readership = readership


def _load_state(connection: Connection) -> tuple[int, int]:
    """Return the directory's version and the number of the last class."""
    found = load_counters(connection, [DIRECTORY_COUNTER, _CLASS_COUNTER])
    return found[DIRECTORY_COUNTER], found[_CLASS_COUNTER]


def _find_number(connection: Connection, access_id: str) -> AccessNo | None:
    query = select(access_classes.c.access_no).where(access_classes.c.access_id == access_id)
    number = connection.scalar(query)
    return None if number is None else AccessNo(number)


def _add_class(connection: Connection, rule: AccessRule) -> AccessNo:
    # Looked up again: another process may have been faster. SQLite holds the write lock by now;
    # on PostgreSQL the counter holds others back and the constraint decides.
    if existing := _find_number(connection, rule.access_id):
        return existing
    number = AccessNo(increase_counter(connection, _CLASS_COUNTER))
    clauses = [sorted(clause) for clause in rule.clauses]
    added = connection.execute(
        insert_into(connection, access_classes)
        .values(access_no=number, access_id=rule.access_id, rule=clauses)
        .on_conflict_do_nothing(index_elements=[access_classes.c.access_id])
    )
    if added.rowcount == 1:
        return number
    return _find_number(connection, rule.access_id) or number


def _load_rules(connection: Connection, *, after: AccessNo) -> list[_NumberedRule]:
    query = (
        select(access_classes.c.access_no, access_classes.c.rule)
        .where(access_classes.c.access_no > after)
        .order_by(access_classes.c.access_no)
    )
    rows = connection.execute(query)
    return [(AccessNo(row.access_no), AccessRule.of(*row.rule)) for row in rows]

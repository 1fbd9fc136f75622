"""The directory in the database: who works here, under which accounts, in which groups and rooms.

It is small (thousands of people) and read whole. A version number, increased by every change and
read anew for every question, tells each process when its copy is out of date.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Table, delete, insert, select
from sqlalchemy.engine import Connection

from core.counters import increase_counter, load_counter
from core.database import Database
from core.tables import delete_where_in, execute_many, insert_into
from knowledge import directory_tables as tables
from knowledge.people import (
    Channel,
    ChannelId,
    DirectoryContent,
    DirectorySnapshot,
    Employment,
    Group,
    Identity,
    Person,
    PersonId,
    Visibility,
)

DIRECTORY_COUNTER = "directory"


class Directory:
    """Reads and replaces the directory."""

    def __init__(self, database: Database, *, contractors_are_members: bool = True) -> None:
        self._database = database
        self._contractors_are_members = contractors_are_members
        self._snapshot: DirectorySnapshot | None = None
        self._loading = asyncio.Lock()

    async def load(self) -> DirectorySnapshot:
        """Return the directory as it is now; the same object as long as nothing has changed."""
        version = await self._database.read(partial(load_counter, name=DIRECTORY_COUNTER))
        async with self._loading:
            if self._snapshot is None or self._snapshot.version < version:
                self._snapshot = await self._database.read(self.load_within)
            return self._snapshot

    def load_within(self, connection: Connection) -> DirectorySnapshot:
        """Read the directory as a transaction sees it."""
        return DirectorySnapshot(
            _load_content(connection),
            version=load_counter(connection, DIRECTORY_COUNTER),
            contractors_are_members=self._contractors_are_members,
        )

    async def replace(self, content: DirectoryContent, *, group_source: str) -> bool:
        """Make the directory hold exactly this; what it no longer names is gone.

        Groups of other sources stay, without the people who left. All of it or nothing.

        Returns:
            False when everything was so already; the version stays as it is then.
        """
        return await self._database.write(
            partial(_replace, content=content, group_source=group_source)
        )

    async def replace_groups(self, groups: Sequence[Group], *, checked_at: datetime) -> bool:
        """Give these groups exactly these members; other groups stay as they are.

        Members who are not in the directory are left out.

        Args:
            groups: As their source has them.
            checked_at: When the source was asked.

        Returns:
            False when everything was so already; the version stays as it is then.
        """

        def save(connection: Connection) -> bool:
            has_changed = _replace_groups(connection, groups=groups)
            _note_checks(connection, groups, checked_at)
            return has_changed

        return await self._database.write(save)

    async def put_channel(self, channel: Channel) -> bool:
        """Add a channel, or give the one of that platform and native id this form and members.

        One that is there keeps its id. Members who are not in the directory are left out.

        Returns:
            False when everything was so already; the version stays as it is then.
        """
        return await self._database.write(partial(_put_channel, channel=channel))

    async def load_group_checks(self) -> dict[tuple[str, str], datetime]:
        """Return when groups were last given members by their source, by source and id.

        Groups that were imported with the directory are not among them.
        """

        def load(connection: Connection) -> dict[tuple[str, str], datetime]:
            rows = connection.execute(select(tables.group_checks))
            return {(row.source, row.group_id): row.checked_at for row in rows}

        return await self._database.read(load)


def _note_checks(connection: Connection, groups: Sequence[Group], at: datetime) -> None:
    statement = insert_into(connection, tables.group_checks)
    rows = [{"source": one.source, "group_id": one.group_id, "checked_at": at} for one in groups]
    execute_many(
        connection,
        statement.on_conflict_do_update(
            index_elements=["source", "group_id"],
            set_={"checked_at": statement.excluded["checked_at"]},
        ),
        rows,
    )


def _put_channel(connection: Connection, *, channel: Channel) -> bool:
    people = set(connection.execute(select(tables.people.c.person_id)).scalars())
    wanted = replace(channel, members=frozenset(channel.members & people))
    is_same = (tables.channels.c.platform == channel.platform) & (
        tables.channels.c.native_id == channel.native_id
    )
    for held in _load_channels(connection):
        if (held.platform, held.native_id) == (wanted.platform, wanted.native_id):
            wanted = replace(wanted, channel_id=held.channel_id)
            if held == wanted:
                return False
    connection.execute(delete(tables.channels).where(is_same))
    connection.execute(insert(tables.channels), [_row(wanted)])
    members = [
        {"channel_id": wanted.channel_id, "person_id": one} for one in sorted(wanted.members)
    ]
    execute_many(connection, insert(tables.channel_members), members)
    increase_counter(connection, DIRECTORY_COUNTER)
    return True


def _replace_groups(connection: Connection, *, groups: Sequence[Group]) -> bool:
    people = set(connection.execute(select(tables.people.c.person_id)).scalars())
    wanted = [replace(one, members=frozenset(one.members & people)) for one in groups]
    held = {(one.source, one.group_id): one for one in _load_groups(connection)}
    changed = [one for one in wanted if held.get((one.source, one.group_id)) != one]
    if not changed:
        return False
    for group in changed:
        is_group = (tables.groups.c.source == group.source) & (
            tables.groups.c.group_id == group.group_id
        )
        connection.execute(delete(tables.groups).where(is_group))
    execute_many(connection, insert(tables.groups), [_row(one) for one in changed])
    execute_many(connection, insert(tables.group_members), _member_rows(changed))
    increase_counter(connection, DIRECTORY_COUNTER)
    return True


def _member_rows(groups: Sequence[Group]) -> list[dict[str, Any]]:
    return [
        {"source": group.source, "group_id": group.group_id, "person_id": member}
        for group in groups
        for member in sorted(group.members)
    ]


def _replace(connection: Connection, *, content: DirectoryContent, group_source: str) -> bool:
    old = _load_content(connection)
    others = tuple(one for one in old.groups if one.source != group_source)
    if _as_sets(old) == _as_sets(content, others):
        return False
    _replace_people(connection, old.people, content.people)
    _replace_accounts_and_rooms(connection, content, group_source)
    increase_counter(connection, DIRECTORY_COUNTER)
    return True


def _as_sets(content: DirectoryContent, others: tuple[Group, ...] = ()) -> tuple[object, ...]:
    return (
        frozenset(content.people),
        frozenset(content.identities),
        frozenset(content.groups + others),
        frozenset(content.channels),
    )


def _replace_people(connection: Connection, old: Sequence[Person], new: Sequence[Person]) -> None:
    people = tables.people
    vanished = sorted({one.person_id for one in old} - {one.person_id for one in new})
    delete_where_in(connection, people.c.person_id, vanished)
    # Updated in place: deleting somebody would take them out of other sources' groups.
    statement = insert_into(connection, people)
    update = {c.name: statement.excluded[c.name] for c in people.c if not c.primary_key}
    execute_many(
        connection,
        statement.on_conflict_do_update(index_elements=[people.c.person_id], set_=update),
        [_row(one) for one in new],
    )


def _replace_accounts_and_rooms(
    connection: Connection, content: DirectoryContent, group_source: str
) -> None:
    connection.execute(delete(tables.identities))
    connection.execute(delete(tables.channels))
    connection.execute(delete(tables.groups).where(tables.groups.c.source == group_source))
    rows: dict[Table, list[dict[str, Any]]] = {
        tables.identities: [_row(one) for one in content.identities],
        tables.groups: [_row(one) for one in content.groups],
        tables.group_members: _member_rows(content.groups),
        tables.channels: [_row(one) for one in content.channels],
        tables.channel_members: [
            {"channel_id": channel.channel_id, "person_id": member}
            for channel in content.channels
            for member in sorted(channel.members)
        ],
    }
    for table, entries in rows.items():
        execute_many(connection, insert(table), entries)


def _row(one: Person | Identity | Group | Channel) -> dict[str, Any]:
    # Columns are named like the attributes; members have a table of their own.
    return {part.name: getattr(one, part.name) for part in fields(one) if part.name != "members"}


def _load_content(connection: Connection) -> DirectoryContent:
    people = connection.execute(select(tables.people)).mappings()
    identities = connection.execute(select(tables.identities)).mappings()
    return DirectoryContent(
        people=tuple(
            Person(**{**row, "employment": Employment(row["employment"])}) for row in people
        ),
        identities=tuple(Identity(**row) for row in identities),
        groups=_load_groups(connection),
        channels=_load_channels(connection),
    )


def _load_groups(connection: Connection) -> tuple[Group, ...]:
    members: dict[tuple[str, str], set[PersonId]] = defaultdict(set)
    for row in connection.execute(select(tables.group_members)):
        members[row.source, row.group_id].add(row.person_id)
    groups = connection.execute(select(tables.groups)).mappings()
    return tuple(
        Group(**row, members=frozenset(members[row["source"], row["group_id"]])) for row in groups
    )


def _load_channels(connection: Connection) -> tuple[Channel, ...]:
    members: dict[ChannelId, set[PersonId]] = defaultdict(set)
    for row in connection.execute(select(tables.channel_members)):
        members[row.channel_id].add(row.person_id)
    channels = connection.execute(select(tables.channels)).mappings()
    return tuple(
        Channel(
            **{**row, "visibility": Visibility(row["visibility"])},
            members=frozenset(members[row["channel_id"]]),
        )
        for row in channels
    )

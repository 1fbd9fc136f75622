"""Leases: what only one process may do at a time, on any number of machines.

A lease is a row with an owner, an end and a fencing number that grows with every new owner. A
holder that was paused for longer than its lease does not know that it lost it, so the time of the
lease protects nothing by itself: `FencedDatabase` compares the number inside every transaction.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import structlog
from sqlalchemy import BigInteger, Column, ColumnElement, String, Table, select, update
from sqlalchemy.engine import Connection

from core.clock import Clock
from core.database import Database
from core.errors import TransientError
from core.process_identity import is_dead
from core.tables import UtcDateTime, insert_into, metadata

RENEWALS_PER_LEASE = 3
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)

_T = TypeVar("_T")
_log = structlog.get_logger(__name__)

leases = Table(
    "leases",
    metadata,
    Column("name", String(128), primary_key=True),
    Column("owner", String(255), nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("acquired_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
)


class LeaseTakenError(TransientError):
    """Another process holds the lease."""


class LeaseLostError(TransientError):
    """Another process has taken the lease meanwhile; nothing may be written under it any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A lease as it was acquired or found.

    Attributes:
        owner: See `core.process_identity`; empty = released.
        fence: Larger than that of every earlier owner.
    """

    name: str
    owner: str
    fence: int
    acquired_at: datetime
    expires_at: datetime


class LeaseStore:
    """Gives out leases.

    Args:
        database: Where the rows are.
        clock: The machine's real time, never the one set for questions. Clocks that differ between
            machines by more than a lease lasts cost availability, not safety.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def acquire(self, name: str, *, owner: str, ttl_s: float) -> Lease | None:
        """Take a lease that is free, over, or held by a process that has died; None otherwise."""
        now = self._clock.now()
        ends = now + timedelta(seconds=ttl_s)

        def take(connection: Connection) -> Lease | None:
            # The row is there before it is read, so that two first comers wait for each other.
            empty = {"owner": "", "fence": 0, "acquired_at": _NEVER, "expires_at": _NEVER}
            begun = insert_into(connection, leases).values(name=name, **empty)
            connection.execute(begun.on_conflict_do_nothing())
            found = select(leases).where(leases.c.name == name).with_for_update()
            row = connection.execute(found).one()
            if row.owner and row.expires_at > now and not is_dead(row.owner):
                return None
            lease = Lease(
                name=name, owner=owner, fence=row.fence + 1, acquired_at=now, expires_at=ends
            )
            connection.execute(
                update(leases)
                .where(leases.c.name == name)
                .values(owner=owner, fence=lease.fence, acquired_at=now, expires_at=ends)
            )
            return lease

        return await self._database.write(take)

    async def renew(self, lease: Lease, *, ttl_s: float) -> bool:
        """Prolong a lease from now on; False when another owner has taken it."""
        ends = self._clock.now() + timedelta(seconds=ttl_s)
        prolonged = update(leases).where(*_is_held(lease)).values(expires_at=ends)
        count = await self._database.write(
            lambda connection: connection.execute(prolonged).rowcount
        )
        return count == 1

    async def release(self, lease: Lease) -> None:
        """Give a lease back; without effect when it was lost. The fence goes on growing."""
        released = update(leases).where(*_is_held(lease)).values(owner="", expires_at=_NEVER)
        await self._database.write(lambda connection: connection.execute(released))

    async def find(self, name: str) -> Lease | None:
        """Return who holds a lease right now; None when nobody does."""
        query = select(leases).where(leases.c.name == name)
        row = await self._database.read(
            lambda connection: connection.execute(query).mappings().one_or_none()
        )
        if row is None:
            return None
        lease = Lease(**row)
        is_held = lease.owner and lease.expires_at > self._clock.now() and not is_dead(lease.owner)
        return lease if is_held else None

    @asynccontextmanager
    async def hold(self, name: str, *, owner: str, ttl_s: float) -> AsyncIterator[Lease]:
        """Hold a lease for the length of a block, renewing it in time.

        Losing it does not end the block: writes through `FencedDatabase` do.

        Raises:
            LeaseTakenError: Another process holds it.
        """
        lease = await self.acquire(name, owner=owner, ttl_s=ttl_s)
        if lease is None:
            raise LeaseTakenError(f"lease {name!r} is held by another process")
        renewing = asyncio.create_task(self.keep(lease, ttl_s=ttl_s))
        try:
            yield lease
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            # What can't be given back now ends by itself.
            with suppress(TransientError):
                await self.release(lease)

    async def keep(self, lease: Lease, *, ttl_s: float) -> None:
        """Renew a lease in time, until cancelled; return once it is lost."""
        while True:
            await asyncio.sleep(ttl_s / RENEWALS_PER_LEASE)
            try:
                if not await self.renew(lease, ttl_s=ttl_s):
                    _log.warning("lease_lost", name=lease.name, fence=lease.fence)
                    return
            except TransientError as error:
                _log.warning("lease_not_renewed", name=lease.name, reason=str(error))


class FencedDatabase(Database):
    """The database as the holder of leases may write it.

    Every write checks, inside its own transaction, that no lease has got another owner. On SQLite
    the transaction has the write lock; on PostgreSQL the rows are locked until it ends.
    """

    def __init__(self, database: Database, *held: Lease) -> None:
        self._database = database
        self._held = held

    @property
    def name(self) -> str:
        """The database's own name."""
        return self._database.name

    async def read(self, work: Callable[[Connection], _T]) -> _T:
        """Read; readers need no lease."""
        return await self._database.read(work)

    async def write(self, work: Callable[[Connection], _T]) -> _T:
        """Write, unless a lease was lost.

        Raises:
            LeaseLostError: Another owner has one of the leases; nothing was written.
        """

        def write_fenced(connection: Connection) -> _T:
            for lease in self._held:
                check_fence(connection, lease)
            return work(connection)

        return await self._database.write(write_fenced)

    async def purge(self) -> None:
        """Purge; nothing that is in force changes, so that no lease is needed."""
        await self._database.purge()

    async def close(self) -> None:
        """Do nothing: whoever opened the database closes it."""


def check_fence(connection: Connection, lease: Lease) -> None:
    """Make sure inside the caller's transaction that the lease is still its holder's.

    Raises:
        LeaseLostError: It is not.
    """
    query = select(leases.c.name).where(*_is_held(lease)).with_for_update(read=True)
    if connection.scalar(query) is None:
        raise LeaseLostError(
            f"lease {lease.name!r} (number {lease.fence}) was taken over by another process; "
            "what this one was doing is left to that one"
        )


def _is_held(lease: Lease) -> tuple[ColumnElement[bool], ...]:
    columns = leases.c
    return (
        columns.name == lease.name,
        columns.owner == lease.owner,
        columns.fence == lease.fence,
    )

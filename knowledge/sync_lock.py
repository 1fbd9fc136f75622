"""One run over a source at a time, and one that brings in documents, on any number of machines."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from core.clock import SystemClock
from core.database import Database
from core.errors import ServiceUnavailableError
from core.leases import FencedDatabase, Lease, LeaseStore, LeaseTakenError
from core.process_identity import name_process
from knowledge.ingest_batch import IngestParts
from knowledge.ledger_writer import LedgerWriter
from knowledge.run_logs import RunLogs
from knowledge.runs import CONTENT_KINDS, SOURCE_LEASE, RunKind
from knowledge.stores.writer_lock import WriterLock

SYNC_LOCK = ".sync.lock"
LOCK_TIMEOUT_S = 1.0
INDEX_LEASE = "index"
_WRITES_INDEX = CONTENT_KINDS | {RunKind.PRUNING, RunKind.FORGETTING}


class RunInTheWayError(ServiceUnavailableError):
    """Another run has the source or the index; nothing is wrong with either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTools:
    """What a run writes with: nothing of it writes any more once another process took over."""

    parts: IngestParts
    logs: RunLogs


class SyncLock:
    """Lets runs in.

    A run that brings in documents cleans up what it takes for a killed one's, so only one of them
    goes on at a time; a rights run touches no text and goes on beside those of other sources.

    Args:
        database: Where the leases are.
        parts: As bootstrap chose them.
        home: The home folder; its lock file keeps out even a process that was paused.
        ttl_s: Seconds after which a holder that does not renew has lost its lease.
    """

    def __init__(self, database: Database, parts: IngestParts, *, home: Path, ttl_s: float) -> None:
        self._database = database
        self._parts = parts
        self._home = home
        self._ttl_s = ttl_s
        # Never the clock that is set for questions: leases are about real time.
        self._leases = LeaseStore(database, SystemClock())

    @asynccontextmanager
    async def hold(self, source: str, kind: RunKind) -> AsyncIterator[RunTools]:
        """Hold the source for a run, and give it what it writes with.

        Raises:
            RunInTheWayError: Another run is in the way.
        """
        async with AsyncExitStack() as stack:
            held = []
            if kind in _WRITES_INDEX:
                held += await stack.enter_async_context(self.hold_index())
            held.append(await self._take(stack, f"{SOURCE_LEASE}{source}", f"source {source!r}"))
            fenced = FencedDatabase(self._database, *held)
            yield RunTools(
                parts=replace(self._parts, writer=LedgerWriter(fenced)), logs=RunLogs.of(fenced)
            )

    @asynccontextmanager
    async def hold_index(self) -> AsyncIterator[list[Lease]]:
        """Hold the index against every other run that writes text.

        Raises:
            RunInTheWayError: Another run is in the way.
        """
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(hold_home(self._home))
            yield [await self._take(stack, INDEX_LEASE, "the index")]

    async def _take(self, stack: AsyncExitStack, name: str, what: str) -> Lease:
        holding = self._leases.hold(name, owner=name_process(), ttl_s=self._ttl_s)
        try:
            return await stack.enter_async_context(holding)
        except LeaseTakenError as error:
            raise RunInTheWayError(
                f"another run is at work on {what}; wait for it to end (`zhixing jobs list`)"
            ) from error


@asynccontextmanager
async def hold_home(home: Path) -> AsyncIterator[None]:
    """Keep other syncs of the same home out.

    Raises:
        RunInTheWayError: Another sync is running.
    """
    await asyncio.to_thread(home.mkdir, parents=True, exist_ok=True)
    lock = WriterLock(home / SYNC_LOCK, timeout_s=LOCK_TIMEOUT_S)
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(lock.hold())
        except ServiceUnavailableError as error:
            raise RunInTheWayError(
                f"another sync is running in {str(home)!r}; wait for it to end"
            ) from error
        yield

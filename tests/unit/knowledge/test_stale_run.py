"""A run whose process was paused for too long, while another one took the source over."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.clock import SystemClock
from core.database import Database
from core.leases import LeaseLostError, LeaseStore
from knowledge.documents import DocumentId
from knowledge.ingestion import SyncRun
from knowledge.rights_run import RightsRun
from knowledge.runs import SOURCE_LEASE, RunKind, RunStatus
from knowledge.source import Change, Cursor, KnownDocument
from knowledge.sync_lock import RunInTheWayError, SyncLock
from tests.fakes.memory_source import MemoryPage, MemorySource
from tests.unit.knowledge.ingesting import open_workbench


@dataclass
class TakenSource(MemorySource):
    """While it is listed, another process takes its lease."""

    leases: LeaseStore | None = None

    async def discover(
        self, cursor: Cursor, known: Mapping[DocumentId, KnownDocument]
    ) -> AsyncIterator[Change]:
        assert self.leases is not None
        held = await self.leases.find(SOURCE_LEASE + self.name)
        assert held is not None
        await self.leases.release(held)
        taken = await self.leases.acquire(held.name, owner="elsewhere|1|x", ttl_s=60)
        assert taken is not None
        async for change in super().discover(cursor, known):
            yield change


async def test_a_run_that_lost_its_source_commits_nothing(
    database: Database, tmp_path: Path
) -> None:
    async with open_workbench(database, tmp_path) as bench:
        leases = LeaseStore(database, SystemClock())
        source = TakenSource({"p": MemoryPage(text="word")}, leases=leases)
        lock = SyncLock(database, bench.parts, home=tmp_path, ttl_s=30)
        async with lock.hold("memory", RunKind.SYNC) as tools:
            with pytest.raises(LeaseLostError):
                await SyncRun(source, tools.parts, tools.logs).run()
        assert await bench.parts.ledger.known_documents("memory") == {}
        assert await bench.logs.runs.load_cursor("memory") == ""
        [run] = await bench.logs.runs.load_history(limit=2)
        # The new owner will mark it as broken off.
        assert run.status is RunStatus.RUNNING
        with pytest.raises(RunInTheWayError, match="source 'memory'"):
            async with lock.hold("memory", RunKind.RIGHTS):
                pass
        next_run = await bench.logs.runs.start_run("memory", run.started_at)
        assert [one.error for one in await bench.logs.runs.load_history(limit=2)] == [
            "",
            "broken off",
        ]
        assert next_run > run.run_id


async def test_a_rights_run_that_lost_its_source_changes_no_right(
    database: Database, tmp_path: Path
) -> None:
    async with open_workbench(database, tmp_path) as bench:
        source = MemorySource({"p": MemoryPage(text="word")})
        await bench.sync(source)
        before = await bench.parts.ledger.known_documents("memory")
        lock = SyncLock(database, bench.parts, home=tmp_path, ttl_s=30)
        leases = LeaseStore(database, SystemClock())
        async with lock.hold("memory", RunKind.RIGHTS) as tools:
            held = await leases.find(SOURCE_LEASE + "memory")
            assert held is not None
            await leases.release(held)
            with pytest.raises(LeaseLostError):
                await RightsRun(source, tools.parts, tools.logs).run()
        assert await bench.parts.ledger.known_documents("memory") == before

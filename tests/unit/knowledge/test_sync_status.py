from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.clock import SystemClock
from core.database import Database
from core.leases import LeaseStore
from core.process_identity import name_process
from knowledge.runs import SOURCE_LEASE, Run, RunKind, RunLog, RunStatus
from knowledge.sync_status import load_status
from tests.fakes.memory_source import MemoryPage, MemorySource
from tests.unit.knowledge.ingesting import Workbench, open_workbench

AT = datetime(2026, 8, 1, 9, tzinfo=UTC)


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    async with open_workbench(database, tmp_path) as opened:
        yield opened


async def load_last_run(database: Database) -> Run:
    [source] = await load_status(database)
    assert source.last_run is not None
    return source.last_run


async def test_a_listing_that_broke_off_shows_in_the_run(
    bench: Workbench, database: Database
) -> None:
    source = MemorySource({"p": MemoryPage(text="words")})
    await bench.sync(source)
    assert (await load_last_run(database)).status is RunStatus.DONE
    source.listing_error = "answered 500 on the second page"
    await bench.sync(source)
    run = await load_last_run(database)
    assert run.status is RunStatus.PARTIAL
    assert run.error == "listing 'memory' failed: answered 500 on the second page"
    [status] = await load_status(database)
    assert status.troubled_runs == (run,)
    source.listing_error = ""
    await bench.sync(source)
    [status] = await load_status(database)
    assert status.troubled_runs == ()


class CountingSource(MemorySource):
    """Makes a call for every page it is asked for, and made some before."""

    @property
    def calls(self) -> dict[str, int]:
        return {"page": len(self.fetched), "earlier": 5}


async def test_a_run_tells_how_many_calls_it_made(bench: Workbench, database: Database) -> None:
    source = CountingSource({"p": MemoryPage(text="words"), "q": MemoryPage(text="more")})
    await bench.sync(source)
    assert (await load_last_run(database)).counts["api_calls"] == 2
    source.edit("p", "other words")
    await bench.sync(source)
    assert (await load_last_run(database)).counts["api_calls"] == 1
    await bench.sync(MemorySource({"p": MemoryPage(text="words")}, name="quiet"))
    quiet = (await RunLog(database).load_history(source="quiet", limit=1))[0]
    assert "api_calls" not in quiet.counts


async def test_a_run_whose_process_is_gone_is_interrupted(database: Database) -> None:
    log, leases = RunLog(database), LeaseStore(database, SystemClock())
    async with leases.hold(f"{SOURCE_LEASE}wiki", owner=name_process(), ttl_s=60):
        await log.start_run("wiki", AT)
        assert (await load_last_run(database)).status is RunStatus.RUNNING
        assert (await log.load_history(limit=1))[0].status is RunStatus.RUNNING
    run = await load_last_run(database)
    assert (run.status, run.is_broken) == (RunStatus.INTERRUPTED, True)
    assert [one.status for one in await log.load_history(limit=9)] == [RunStatus.INTERRUPTED]


async def test_a_lease_of_a_dead_process_holds_no_run(database: Database) -> None:
    machine, _, rest = name_process().partition("|")
    # No process can have that number.
    dead = f"{machine}|{2**22 + 1}|{rest}"
    await LeaseStore(database, SystemClock()).acquire(f"{SOURCE_LEASE}wiki", owner=dead, ttl_s=60)
    await RunLog(database).start_run("wiki", AT, kind=RunKind.RIGHTS)
    [status] = await load_status(database)
    assert [one.status for one in status.troubled_runs] == [RunStatus.INTERRUPTED]

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from core.clock import SystemClock
from core.database import Database
from core.errors import ServiceUnavailableError, SettingsError
from core.leases import LeaseStore
from core.settings import JobIntervals, SchedulerSettings
from knowledge.runs import RunKind
from knowledge.sync_lock import RunInTheWayError
from scheduler.jobs import Job, JobState, JobStore, build_jobs
from scheduler.service import LEADER_LEASE, find_leader
from scheduler.source_jobs import JobOutcome
from tests.unit.scheduler.recording import QUICK, RecordingRunner, serving

WIKI = Job(source="wiki", kind=RunKind.INCREMENTAL, interval_s=3600)


async def load(database: Database, kind: RunKind = RunKind.INCREMENTAL) -> JobState:
    return next(one for one in await JobStore(database).load() if one.kind is kind)


async def wait_for_end(database: Database) -> JobState:
    """Wait until the job's run has been noted as ended."""
    while True:
        state = await load(database)
        if state.next_run_at and state.next_run_at > datetime.now(UTC):
            return state
        await asyncio.sleep(0.005)


async def test_a_job_that_never_ran_runs_at_once_and_then_waits(database: Database) -> None:
    runner = RecordingRunner()
    async with serving(database, runner):
        await runner.wait_for(1)
        state = await wait_for_end(database)
    assert runner.started == ["wiki/incremental by schedule"]
    assert state.next_run_at is not None
    left = (state.next_run_at - datetime.now(UTC)).total_seconds()
    assert 3500 < left <= 3600
    assert state.failures_in_a_row == 0


async def test_missed_runs_are_made_up_for_once(database: Database) -> None:
    store = JobStore(database)
    await store.declare([WIKI])
    await store.note_next(WIKI, datetime.now(UTC) - timedelta(days=3))
    runner = RecordingRunner()
    async with serving(database, runner):
        await runner.wait_for(1)
        await wait_for_end(database)
    assert len(runner.started) == 1


async def test_a_run_that_is_not_due_waits_for_the_next_leader_too(database: Database) -> None:
    store = JobStore(database)
    await store.declare([WIKI])
    due = datetime.now(UTC) + timedelta(minutes=40)
    await store.note_next(WIKI, due)
    runner = RecordingRunner()
    async with serving(database, runner):
        await asyncio.sleep(0.1)
    assert runner.started == []
    assert (await load(database)).next_run_at == due


async def test_a_run_that_was_broken_off_is_due_for_the_next_leader(database: Database) -> None:
    stuck = RecordingRunner(gate=asyncio.Event())
    settings = QUICK.model_copy(update={"stop_timeout_s": 0.05})
    async with serving(database, stuck, settings):
        await stuck.wait_for(1)
    assert stuck.ended == []
    runner = RecordingRunner()
    async with serving(database, runner):
        await runner.wait_for(1)


async def test_stopping_lets_a_run_come_to_its_end(database: Database) -> None:
    gate = asyncio.Event()
    runner = RecordingRunner(gate=gate)
    async with serving(database, runner) as stop:
        await runner.wait_for(1)
        stop.set()
        await asyncio.sleep(0.05)
        gate.set()
    assert runner.ended == ["wiki/incremental"]
    assert await find_leader(database) is None


async def test_a_run_that_was_asked_for_is_done_though_the_job_is_paused(
    database: Database,
) -> None:
    store = JobStore(database)
    await store.declare([WIKI])
    await store.set_paused("wiki", [RunKind.INCREMENTAL], is_paused=True)
    runner = RecordingRunner()
    async with serving(database, runner):
        await asyncio.sleep(0.1)
        assert runner.started == []
        await store.request("wiki", RunKind.INCREMENTAL, datetime.now(UTC))
        await runner.wait_for(1)
    assert runner.started == ["wiki/incremental by person"]
    assert (await load(database)).requested_at is None


async def test_resuming_makes_up_for_what_was_due_meanwhile(database: Database) -> None:
    store = JobStore(database)
    await store.declare([WIKI])
    await store.set_paused("wiki", [RunKind.INCREMENTAL], is_paused=True)
    runner = RecordingRunner()
    async with serving(database, runner):
        await store.set_paused("wiki", [RunKind.INCREMENTAL], is_paused=False)
        await runner.wait_for(1)


async def test_a_failed_run_is_counted_and_tried_again_sooner(database: Database) -> None:
    errors: list[Exception] = [ServiceUnavailableError("down"), ValueError("a bug")]
    runner = RecordingRunner(errors=errors)
    store = JobStore(database)
    async with serving(database, runner):
        await runner.wait_for(1)
        first = await wait_for_end(database)
        await store.request("wiki", RunKind.INCREMENTAL, datetime.now(UTC))
        await runner.wait_for(2)
        second = await wait_for_end(database)
        await store.request("wiki", RunKind.INCREMENTAL, datetime.now(UTC))
        await runner.wait_for(3)
        third = await wait_for_end(database)
    assert [one.failures_in_a_row for one in (first, second, third)] == [1, 2, 0]
    assert first.next_run_at is not None
    assert (first.next_run_at - datetime.now(UTC)).total_seconds() <= 60


async def test_a_source_in_use_is_tried_again_and_is_no_failure(database: Database) -> None:
    runner = RecordingRunner(errors=[RunInTheWayError("in use"), RunInTheWayError("in use")])
    async with serving(database, runner):
        await runner.wait_for(3)
        state = await wait_for_end(database)
    assert state.failures_in_a_row == 0
    assert runner.ended == ["wiki/incremental"]


async def test_runs_of_one_source_and_runs_that_write_the_index_never_overlap(
    database: Database,
) -> None:
    settings = QUICK.model_copy(update={"reconciliation_s": 3600.0, "pruning_s": 3600.0})
    runner = RecordingRunner()
    async with serving(database, runner, settings, sources=("wiki", "files")):
        await runner.wait_for(6)
    assert len(runner.ended) == 6
    assert runner.most_at_once == 1


async def test_rights_of_one_source_are_followed_while_another_is_read(database: Database) -> None:
    settings = SchedulerSettings(
        **QUICK.model_dump(exclude={"sources"}),
        sources={"wiki": JobIntervals(rights_s=3600, incremental_s=0)},
    )
    runner = RecordingRunner(gate=asyncio.Event())
    async with serving(
        database, runner, settings.model_copy(update={"stop_timeout_s": 0.0}), sources=("a", "wiki")
    ):
        await runner.wait_for(2)
    assert sorted(runner.started) == ["a/incremental by schedule", "wiki/rights by schedule"]


async def test_text_that_rights_made_stale_is_read_at_once(database: Database) -> None:
    store = JobStore(database)
    settings = QUICK.model_copy(update={"rights_s": 3600.0})
    await store.declare(build_jobs(["wiki"], settings))
    await store.note_next(WIKI, datetime.now(UTC) + timedelta(hours=1))
    runner = RecordingRunner(outcome=JobOutcome(needs_reading=True))
    async with serving(database, runner, settings):
        await runner.wait_for(2)
    assert runner.started[:2] == ["wiki/rights by schedule", "wiki/incremental by schedule"]


async def test_only_one_of_two_services_leads_and_the_other_takes_over(database: Database) -> None:
    first, second = RecordingRunner(), RecordingRunner()
    async with serving(database, first):
        await first.wait_for(1)
        await wait_for_end(database)
        async with serving(database, second):
            await asyncio.sleep(0.1)
            assert second.started == []
            await JobStore(database).request("wiki", RunKind.INCREMENTAL, datetime.now(UTC))
            await first.wait_for(2)
        assert second.started == []


async def test_who_loses_the_lease_stops_its_runs(database: Database) -> None:
    runner = RecordingRunner(gate=asyncio.Event())
    async with serving(database, runner):
        await runner.wait_for(1)
        lease = await find_leader(database)
        assert lease is not None
        # As if this process had been paused for longer than its lease.
        leases = LeaseStore(database, SystemClock())
        await leases.release(lease)
        taken = await leases.acquire(LEADER_LEASE, owner="elsewhere|1|x", ttl_s=60)
        assert taken is not None
        await runner.wait_until_idle()
        found = await find_leader(database)
        assert found is not None
        assert found.fence == taken.fence
    assert runner.ended == []


async def test_jobs_follow_the_settings(database: Database) -> None:
    store = JobStore(database)
    await store.declare(build_jobs(["wiki", "files"], QUICK))
    await store.set_paused("wiki", [RunKind.RIGHTS], is_paused=True)
    await store.declare(build_jobs(["wiki"], QUICK))
    states = await store.load()
    assert {one.source for one in states} == {"wiki"}
    assert [one.kind for one in states if one.is_paused] == [RunKind.RIGHTS]
    with pytest.raises(SettingsError, match="no job for source 'files'"):
        await store.request("files", RunKind.RIGHTS, datetime.now(UTC))


def test_a_source_may_have_intervals_of_its_own() -> None:
    settings = SchedulerSettings(sources={"wiki": JobIntervals(rights_s=60)})
    by_id = {job.job_id: job.interval_s for job in build_jobs(["files", "wiki"], settings)}
    assert by_id["wiki/rights"] == 60
    assert by_id["wiki/incremental"] == by_id["files/incremental"] == 300
    assert by_id["files/rights"] == 900
    with pytest.raises(SettingsError, match="wiki"):
        build_jobs(["files"], settings)

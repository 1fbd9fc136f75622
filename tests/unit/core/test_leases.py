import asyncio
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.counters import increase_counter, load_counter
from core.database import Database
from core.leases import FencedDatabase, Lease, LeaseLostError, LeaseStore, LeaseTakenError
from core.process_identity import is_dead, name_process

START = datetime(2026, 1, 1, tzinfo=UTC)
TTL_S = 30.0
INCREASE = partial(increase_counter, name="n")


@dataclass
class HandClock:
    """Set by hand."""

    moment: datetime = START

    def now(self) -> datetime:
        return self.moment

    def pass_by(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


async def take(store: LeaseStore, owner: str = "", name: str = "x") -> Lease | None:
    return await store.acquire(name, owner=owner or name_process(), ttl_s=TTL_S)


async def test_a_lease_is_held_by_one_until_it_is_given_back(database: Database) -> None:
    store = LeaseStore(database, HandClock())
    first = await take(store)
    assert first is not None
    assert await take(store) is None
    await store.release(first)
    assert await store.find("x") is None
    second = await take(store)
    assert second is not None
    assert second.fence == first.fence + 1


async def test_a_lease_that_is_renewed_lasts_and_one_that_is_not_ends(database: Database) -> None:
    clock = HandClock()
    store = LeaseStore(database, clock)
    first = await take(store)
    assert first is not None
    clock.pass_by(TTL_S - 1)
    assert await store.renew(first, ttl_s=TTL_S)
    clock.pass_by(TTL_S - 1)
    assert await take(store) is None
    clock.pass_by(2)
    second = await take(store)
    assert second is not None
    assert not await store.renew(first, ttl_s=TTL_S)
    await store.release(first)
    found = await store.find("x")
    assert found is not None
    assert found.owner == second.owner


async def test_who_lost_a_lease_can_read_but_not_write(database: Database) -> None:
    clock = HandClock()
    store = LeaseStore(database, clock)
    first = await take(store)
    assert first is not None
    fenced = FencedDatabase(database, first)
    assert await fenced.write(INCREASE) == 1
    clock.pass_by(TTL_S + 1)
    # It is over, but nobody else has it: what is written now is in nobody's way.
    assert await fenced.write(INCREASE) == 2
    assert await take(store) is not None
    with pytest.raises(LeaseLostError, match="taken over by another process"):
        await fenced.write(INCREASE)
    assert await fenced.read(partial(load_counter, name="n")) == 2


async def test_every_one_of_several_leases_counts(database: Database) -> None:
    store = LeaseStore(database, HandClock())
    one = await store.acquire("a", owner="1", ttl_s=TTL_S)
    other = await store.acquire("b", owner="1", ttl_s=TTL_S)
    assert one
    assert other
    fenced = FencedDatabase(database, one, other)
    await fenced.write(INCREASE)
    await store.release(other)
    with pytest.raises(LeaseLostError):
        await fenced.write(INCREASE)


async def test_a_block_holds_renews_and_gives_back(database: Database) -> None:
    clock = HandClock()
    store = LeaseStore(database, clock)
    async with store.hold("x", owner="me", ttl_s=0.03) as lease:
        with pytest.raises(LeaseTakenError):
            async with store.hold("x", owner="you", ttl_s=0.03):
                pass
        clock.pass_by(10)
        found = None
        while found is None:
            await asyncio.sleep(0.005)
            found = await store.find("x")
        assert found.fence == lease.fence
        assert found.expires_at > clock.now()
    assert await store.find("x") is None


async def test_the_lease_of_a_process_that_died_is_free_at_once(database: Database) -> None:
    told = "from core.process_identity import name_process; import sys; "
    told += "sys.stdout.write(name_process())"
    command = [sys.executable, "-c", told]
    run = partial(subprocess.run, command, capture_output=True, text=True, check=True)
    dead = await asyncio.to_thread(run)
    store = LeaseStore(database, HandClock())
    assert is_dead(dead.stdout)
    assert await take(store, dead.stdout) is not None
    assert await store.find("x") is None
    assert await take(store) is not None


@pytest.mark.parametrize("owner", ["", "else|1|x", "nonsense"])
def test_a_process_that_cannot_be_looked_at_counts_as_alive(owner: str) -> None:
    assert not is_dead(owner)
    assert not is_dead(name_process())


STEPS = st.lists(
    st.tuples(st.sampled_from(["take", "write", "renew", "wait"]), st.integers(0, 2)), max_size=40
)


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=STEPS)
async def test_no_stale_holder_ever_commits(
    database: Database, steps: list[tuple[str, int]]
) -> None:
    """Three processes in any order: a write succeeds for the one with the highest fence only."""
    clock = HandClock()
    store = LeaseStore(database, clock)
    held: dict[int, Lease] = {}
    newest, name = 0, uuid4().hex
    for step, who in steps:
        lease = held.get(who)
        match step:
            case "take":
                taken = await take(store, f"other-machine|1|{who}", name)
                if taken is not None:
                    assert taken.fence > newest
                    held[who], newest = taken, taken.fence
            case "wait":
                clock.pass_by(TTL_S / 2)
            case "renew" if lease:
                assert await store.renew(lease, ttl_s=TTL_S) == (lease.fence == newest)
            case "write" if lease:
                before = await database.read(partial(load_counter, name="n"))
                try:
                    await FencedDatabase(database, lease).write(INCREASE)
                    assert lease.fence == newest
                except LeaseLostError:
                    assert lease.fence < newest
                    assert await database.read(partial(load_counter, name="n")) == before

"""Times and memory for the bench."""

import asyncio
import os

import pytest

from evaluation.timing import (
    measure_latencies,
    read_peak_bytes,
    read_resident_bytes,
    run_apart,
    summarise_times,
)


async def test_askers_share_the_work_and_wait_for_their_replies() -> None:
    running, most, done = 0, 0, []

    async def work(item: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        done.append(item)

    latencies = await measure_latencies(range(20), work, askers=4)
    assert sorted(done) == list(range(20))
    assert most == 4
    assert latencies.count == 20
    assert latencies.p50_ms <= latencies.p95_ms <= latencies.p99_ms
    assert latencies.rate == pytest.approx(20 / latencies.seconds)


def test_percentiles_and_rate_by_hand() -> None:
    latencies = summarise_times([float(value) for value in range(1, 101)], seconds=10.0, cpu_s=5.0)
    assert (latencies.p50_ms, latencies.p95_ms, latencies.p99_ms) == (50, 95, 99)
    assert latencies.rate == 10
    assert latencies.cpu_ms == 50
    nothing = summarise_times([], seconds=0, cpu_s=0)
    assert nothing.rate == nothing.cpu_ms == 0


async def test_work_apart_runs_in_another_process_and_its_errors_come_back() -> None:
    assert await run_apart(os.getpid) != os.getpid()
    with pytest.raises(ValueError, match="invalid literal"):
        await run_apart(int, "x")


def test_memory_is_told_in_bytes() -> None:
    assert read_resident_bytes() > 10 * 1024 * 1024
    assert read_peak_bytes() >= read_resident_bytes() // 2


async def test_the_peak_of_a_process_apart_is_its_own() -> None:
    ballast = bytearray(300 * 1024 * 1024)
    ballast[::4096] = b"x" * len(ballast[::4096])
    assert await run_apart(read_peak_bytes) < len(ballast)

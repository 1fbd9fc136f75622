"""Times, memory, and work in a process of its own, for the bench."""

import asyncio
import multiprocessing
import re
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

from evaluation.metrics import compute_percentile

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Item = TypeVar("Item")

_STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True, kw_only=True)
class Latencies:
    """How long each of many pieces of work took.

    Attributes:
        cpu_ms: Mean time all threads of this process worked for a piece; what else the machine
            does changes it little.
    """

    count: int
    seconds: float
    cpu_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float

    @property
    def rate(self) -> float:
        """Pieces a second, all askers together."""
        return self.count / self.seconds if self.seconds else 0.0


async def measure_latencies(
    items: Sequence[Item], work: Callable[[Item], Awaitable[object]], *, askers: int = 1
) -> Latencies:
    """Do the work on every item; each asker waits for its reply before it asks again."""
    times: list[float] = []
    waiting = iter(items)

    async def ask() -> None:
        for item in waiting:
            started = time.perf_counter()
            await work(item)
            times.append((time.perf_counter() - started) * 1000)

    started, worked = time.perf_counter(), time.process_time()
    await asyncio.gather(*(ask() for _ in range(askers)))
    return summarise_times(
        times, seconds=time.perf_counter() - started, cpu_s=time.process_time() - worked
    )


def summarise_times(times_ms: Sequence[float], *, seconds: float, cpu_s: float) -> Latencies:
    """Reduce times to count, rate and percentiles."""
    p50, p95, p99 = (compute_percentile(times_ms, percent) or 0.0 for percent in (50, 95, 99))
    count = len(times_ms)
    return Latencies(
        count=count,
        seconds=seconds,
        cpu_ms=1000 * cpu_s / count if count else 0.0,
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
    )


def read_resident_bytes() -> int:
    """Return the memory this process holds now; its peak where the system tells no more."""
    return _read_status("VmRSS") or _read_usage()


def read_peak_bytes() -> int:
    """Return the most memory this process has held."""
    # What getrusage tells of a child on Linux begins with what its parent held.
    return _read_status("VmHWM") or _read_usage()


def _read_status(name: str) -> int | None:
    if not _STATUS.exists():
        return None
    found = re.search(rf"^{name}:\s+(\d+) kB$", _STATUS.read_text(encoding="ascii"), re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _read_usage() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


async def run_apart(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Run a function in a fresh process, so that neither memory nor caches are shared.

    Args:
        work: A function of a module; it, its arguments and its result are pickled.
        *args: Its arguments.
        **kwargs: Its named arguments.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        future = pool.submit(work, *args, **kwargs)
        return await asyncio.wrap_future(future)

import asyncio
import sys
from pathlib import Path

import pytest

from core.errors import ServiceUnavailableError, SettingsError
from knowledge.stores.writer_lock import WriterLock

HOLD_THE_LOCK = """
import fcntl, os, sys, time
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(descriptor, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""


async def test_tasks_and_locks_of_one_process_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    locks = [WriterLock(path, timeout_s=30), WriterLock(path, timeout_s=30)]
    inside: list[int] = []

    async def work(lock: WriterLock) -> None:
        async with lock.hold():
            inside.append(1)
            assert len(inside) == 1
            await asyncio.sleep(0.001)
            inside.pop()

    await asyncio.gather(*(work(locks[number % 2]) for number in range(10)))


async def test_another_process_is_waited_for_and_a_killed_one_holds_nothing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lock"
    other = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", HOLD_THE_LOCK, str(path)), stdout=asyncio.subprocess.PIPE
    )
    assert other.stdout is not None
    assert await other.stdout.readline() == b"held\n"
    with pytest.raises(ServiceUnavailableError, match="another process has been writing"):
        async with WriterLock(path, timeout_s=0.1).hold():
            pytest.fail("two writers at once")
    other.kill()
    await other.wait()
    async with WriterLock(path, timeout_s=0).hold():
        pass


async def test_failed_and_cancelled_blocks_release_the_lock(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path / "lock", timeout_s=0)
    with pytest.raises(ZeroDivisionError):
        async with lock.hold():
            _ = 1 / 0

    async def wait() -> None:
        async with lock.hold():
            await asyncio.sleep(600)

    task = asyncio.create_task(wait())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with lock.hold():
        assert True


async def test_missing_folder_is_named(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path / "gone" / "lock", timeout_s=1)
    with pytest.raises(SettingsError, match=r"gone.*write access"):
        async with lock.hold():
            pytest.fail("there is nothing to lock")

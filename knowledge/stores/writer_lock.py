"""One writer at a time, among the tasks of this process and among processes of this machine."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from core.errors import ServiceUnavailableError, SettingsError

_RETRY_S = 0.02


class WriterLock:
    """A lock on a file that the kernel releases when its holder dies, even by kill -9.

    Not reentrant. The file stays: removing it would let two holders lock two files.
    """

    def __init__(self, path: Path, *, timeout_s: float) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._tasks = asyncio.Lock()

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Hold the lock for the length of a block.

        Raises:
            ServiceUnavailableError: Another writer has not finished within the time-out.
            SettingsError: The lock file can't be written.
        """
        async with self._tasks:
            descriptor = self._open()
            try:
                await self._acquire(descriptor)
                yield
            finally:
                os.close(descriptor)

    def check_writable(self) -> None:
        """Raise unless the lock file can be written; reads and writes files.

        Raises:
            SettingsError: It can't.
        """
        os.close(self._open())

    def _open(self) -> int:
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise SettingsError(
                f"{str(self._path)!r} can't be written ({error.strerror}); give this account "
                f"write access to the folder or point store.path to another one"
            ) from error

    async def _acquire(self, descriptor: int) -> None:
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + self._timeout_s
        while not _try_lock(descriptor):
            if loop.time() >= give_up_at:
                raise ServiceUnavailableError(
                    f"another process has been writing to {str(self._path.parent)!r} for more than "
                    f"{self._timeout_s:g} s; wait for its sync to end or stop it, then try again"
                )
            await asyncio.sleep(_RETRY_S)


def _try_lock(descriptor: int) -> bool:
    # flock, not lockf: it belongs to this descriptor, so that a second store of the same process
    # waits too, and closing some other descriptor of the file does not release it.
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

"""Runs parsers in processes that can be killed: a damaged file must not stop a run."""

import asyncio
import contextlib
import json
import os
import sys
from typing import Any

from connectors.files.converted import Converted, Job
from connectors.files.frames import LENGTHS, converted_from_json
from connectors.files.parser_process import build_request
from core.errors import ServiceUnavailableError, UnsupportedContentError

# A parser needs to find its libraries and nothing else; above all no secrets.
_PASSED_ON = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "TMPDIR", "TEMP", "HOME", "LANG")
_MAX_REPLY_BYTES = 1_000_000_000


class _ParserDiedError(UnsupportedContentError):
    """The process ended before it answered."""


class ParserPool:
    """A few parser processes, started when first needed.

    Args:
        size: How many files are parsed at once.
        timeout_s: Longest silence of a parser before it is killed; it speaks after every page.
    """

    def __init__(self, *, size: int, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._slots = asyncio.Semaphore(size)
        self._idle: list[asyncio.subprocess.Process] = []

    async def convert(self, job: Job) -> Converted:
        """Convert a file in one of the processes.

        Raises:
            UnsupportedContentError: It can't be read, its parser hung or died.
            ServiceUnavailableError: No process could be started.
        """
        async with self._slots:
            reply = None
            if self._idle:
                # One that was killed while it waited says nothing about this file.
                with contextlib.suppress(_ParserDiedError):
                    reply = await self._use(self._idle.pop(), job)
            reply = reply if reply is not None else await self._use(await _start(), job)
        if "reason" in reply:
            raise UnsupportedContentError(str(reply["reason"]))
        try:
            return converted_from_json(reply["converted"])
        except (KeyError, TypeError, ValueError) as error:
            raise UnsupportedContentError(
                f"{job.name!r}: its parser gave no sound reply"
            ) from error

    async def close(self) -> None:
        """End all idle processes. Safe to call twice."""
        while self._idle:
            await _stop(self._idle.pop())

    async def _use(self, process: asyncio.subprocess.Process, job: Job) -> dict[str, Any]:
        """Put a job to a process, which is free again afterwards, or is ended."""
        try:
            reply = await self._ask(process, job)
        except BaseException:
            await _stop(process)
            raise
        self._idle.append(process)
        return reply

    async def _ask(self, process: asyncio.subprocess.Process, job: Job) -> dict[str, Any]:
        try:
            async with asyncio.timeout(self._timeout_s):
                await _send(process, build_request(job))
            while True:
                async with asyncio.timeout(self._timeout_s):
                    reply = await _receive(process)
                if "alive" not in reply:
                    return reply
        except TimeoutError as error:
            raise UnsupportedContentError(
                f"{job.name!r}: its parser got nowhere for {self._timeout_s:g} s and was stopped; "
                "save the file again, or raise timeout_s of the source"
            ) from error
        except (EOFError, ConnectionError, ValueError) as error:
            raise _ParserDiedError(
                f"{job.name!r}: its parser died on it (out of memory, or the file is damaged); "
                "save the file again or split it"
            ) from error


def _build_environment() -> dict[str, str]:
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment |= {
        "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path),
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
    }
    return environment


async def _start() -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "connectors.files.parser_process",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=_build_environment(),
        )
    except OSError as error:
        raise ServiceUnavailableError(
            f"no parser process could be started: {error.strerror}; free memory or processes"
        ) from error


async def _send(process: asyncio.subprocess.Process, frame: bytes) -> None:
    if process.stdin is None:
        raise EOFError
    process.stdin.write(frame)
    await process.stdin.drain()


async def _receive(process: asyncio.subprocess.Process) -> dict[str, Any]:
    if process.stdout is None:
        raise EOFError
    head_length, _ = LENGTHS.unpack(await process.stdout.readexactly(LENGTHS.size))
    if head_length > _MAX_REPLY_BYTES:
        raise ValueError("reply too long")
    match json.loads(await process.stdout.readexactly(head_length)):
        case dict() as reply:
            return reply
        case _:
            raise EOFError("reply is no object")


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Kill a process and wait for its end, so that nothing of it is left."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    if process.stdin is not None:
        process.stdin.close()
    await process.wait()
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()

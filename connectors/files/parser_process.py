"""The process that parses: reads jobs from standard input until it is closed.

Started by `ParserPool` as `python -m connectors.files.parser_process`; it knows no settings, no
database and no network, and may be killed at any time.
"""

import json
import os
import sys
from dataclasses import asdict
from typing import Any, BinaryIO

from connectors.files.convert import convert_file
from connectors.files.converted import Job, Limits
from connectors.files.frames import LENGTHS, converted_to_json, pack_frame
from core.errors import UnsupportedContentError

_MAX_MEMORY_BYTES = 4 * 2**30


def main() -> None:
    """Answer jobs one after another."""
    _limit_memory()
    replies = _take_stdout()
    while (job := _read_job(sys.stdin.buffer, replies)) is not None:
        _write(replies, _answer(job))


def _answer(job: Job) -> dict[str, Any]:
    try:
        return {"converted": converted_to_json(convert_file(job))}
    except UnsupportedContentError as error:
        return {"reason": str(error)}
    except Exception as error:  # noqa: BLE001 - the edge: a parser's own error is told, not raised
        return {"reason": f"{job.name!r} can't be read: {type(error).__name__}: {error}"}


def _read_job(requests: BinaryIO, replies: BinaryIO) -> Job | None:
    lengths = requests.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    head_length, data_length = LENGTHS.unpack(lengths)
    header = json.loads(requests.read(head_length))
    return Job(
        name=header["name"],
        data=requests.read(data_length),
        limits=Limits(**header["limits"]),
        report=lambda: _write(replies, {"alive": True}),
    )


def build_request(job: Job) -> bytes:
    """Return the frame that asks for a job."""
    return pack_frame({"name": job.name, "limits": asdict(job.limits)}, job.data)


def _write(replies: BinaryIO, header: dict[str, Any]) -> None:
    replies.write(pack_frame(header))
    replies.flush()


def _take_stdout() -> BinaryIO:
    """Keep the reply channel to ourselves: libraries print where they like."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return replies


def _limit_memory() -> None:
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, hard))


if __name__ == "__main__":
    main()

"""Reads a file of the folder, and nothing that is not in it."""

import hashlib
import os
import stat
from pathlib import Path

from connectors.files.walk import FoundFile
from core.errors import (
    AccessDeniedError,
    ResourceGoneError,
    ServiceUnavailableError,
    UnsupportedContentError,
)

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def read_file(root: Path, path: str, *, max_bytes: int) -> tuple[FoundFile, bytes]:
    """Return a file's bytes, and its size and time taken before they were read.

    A file that changes while it is read is thus seen as changed by the next run.

    Raises:
        ResourceGoneError: It is not there any more, though its folder is.
        AccessDeniedError: The system refuses it, or it is or lies behind a link.
        UnsupportedContentError: It is larger than `max_bytes`.
        ServiceUnavailableError: The disk or share does not answer.
    """
    try:
        status, data = _read(root, path, max_bytes)
    except FileNotFoundError as error:
        if not root.exists():
            raise ServiceUnavailableError(
                f"folder {str(root)!r} is gone; is the share still mounted?"
            ) from error
        raise ResourceGoneError(f"{path!r} no longer exists in {str(root)!r}") from error
    except PermissionError as error:
        raise AccessDeniedError(
            f"{path!r} can't be read; give this user the right to read it, or exclude it"
        ) from error
    except OSError as error:
        if (root / path).is_symlink():
            raise AccessDeniedError(f"{path!r} is a link, which is refused") from error
        raise ServiceUnavailableError(f"{path!r} can't be read: {error.strerror}") from error
    return FoundFile(path, status.st_size, status.st_mtime_ns), data


def _read(root: Path, path: str, max_bytes: int) -> tuple[os.stat_result, bytes]:
    file = root / path
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise AccessDeniedError(f"{path!r} is no path inside {str(root)!r}, which is refused")
    if file.parent.resolve() != root.resolve() / Path(path).parent:
        raise AccessDeniedError(f"{path!r} lies behind a link, which is refused")
    with os.fdopen(os.open(file, os.O_RDONLY | _NO_FOLLOW | _BINARY), "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise AccessDeniedError(f"{path!r} is not a plain file")
        data = stream.read(max_bytes + 1) if status.st_size <= max_bytes else b""
    size = max(status.st_size, len(data))
    if size > max_bytes:
        raise UnsupportedContentError(
            f"{path!r} has {size / 1e6:.1f} MB, more than max_file_mb = {max_bytes / 1e6:g}; "
            "raise the limit or exclude it"
        )
    return status, data


def hash_bytes(data: bytes) -> str:
    """Return the hash by which a renamed file is recognised."""
    return hashlib.sha256(data).hexdigest()

"""Office files are zip archives of XML: opened only when unpacking them is safe."""

import io
import zipfile
import zlib

from connectors.files.converted import Job
from core.errors import UnsupportedContentError

_MAX_MEMBERS = 20_000
_MAX_RATIO = 300
_RATIO_FROM_BYTES = 20_000_000
_DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError)
_PROLOG_BYTES = 65_536
_MARKS = tuple(
    mark.encode(encoding)
    for mark in ("<!DOCTYPE", "<!ENTITY")
    for encoding in ("utf-8", "utf-16-le", "utf-16-be")
)


def open_archive(job: Job) -> zipfile.ZipFile:
    """Open an Office file after judging what is in it.

    Raises:
        UnsupportedContentError: Damaged, encrypted, unpacking to far more than it seems, or with
            document type declarations, which Office never writes and which carry entity attacks.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(job.data))
        members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise UnsupportedContentError(
            f"{job.name!r} is damaged or cut short ({error}); save it again"
        ) from error
    unpacked = sum(member.file_size for member in members)
    is_bomb = unpacked > _RATIO_FROM_BYTES and unpacked > _MAX_RATIO * max(1, len(job.data))
    if unpacked > job.limits.max_unpacked_bytes or is_bomb or len(members) > _MAX_MEMBERS:
        raise UnsupportedContentError(
            f"{job.name!r} would unpack to {unpacked / 1e6:.0f} MB from "
            f"{len(job.data) / 1e6:.1f} MB, which is refused as unsafe; split it"
        )
    for member in members:
        if member.flag_bits & 1:
            raise UnsupportedContentError(f"{job.name!r} is encrypted; save it without a password")
        if member.filename.endswith((".xml", ".rels", ".vml")):
            _refuse_declarations(archive, member, job.name)
    return archive


def _refuse_declarations(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> None:
    try:
        with archive.open(member) as stream:
            prolog = stream.read(_PROLOG_BYTES)
    except _DAMAGED as error:
        raise UnsupportedContentError(
            f"{name!r} is damaged: {member.filename!r} can't be unpacked ({error}); save it again"
        ) from error
    if any(mark in prolog for mark in _MARKS):
        raise UnsupportedContentError(
            f"{name!r} holds a document type declaration in {member.filename!r}, which is refused "
            "as unsafe; save it again with an Office program"
        )

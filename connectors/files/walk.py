"""Lists a folder: what is read, what is skipped on purpose, and what could not be looked at."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

_SKIPPED_NAMES = frozenset({"thumbs.db", "desktop.ini", "__pycache__", "node_modules"})
_MAX_DEPTH = 100
_TEMPORARY = (".tmp", ".swp", ".swo", ".part", ".crdownload", ".partial", "~")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of the listing; `path` is relative to the root, with slashes."""

    path: str
    size: int
    mtime_ns: int

    @property
    def folder(self) -> str:
        """The folder's path; empty for the root."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(slots=True)
class Listing:
    """A whole walk.

    Attributes:
        files: By path, in the order of the walk.
        refused: Reason by path, for entries that are there but are not read.
        errors: Folders that could not be listed: the listing is not complete.
    """

    files: dict[str, FoundFile] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def list_files(root: Path, include: Sequence[str], exclude: Sequence[str]) -> Listing:
    """Walk a folder, depth first, names in order.

    Hidden entries (`.git`, `.obsidian`), temporary files and caches are skipped. Symbolic links
    are not followed: one to a file inside the root is listed where that file is, and following
    would show it under the rights of another folder.
    """
    listing = Listing()
    _walk(root, "", _Selection(include, exclude), listing)
    real_root = root.resolve()
    for path, reason in listing.refused.items():
        if not reason:
            listing.refused[path] = _describe_link(root / path, real_root, listing)
    listing.refused = {path: reason for path, reason in listing.refused.items() if reason}
    return listing


def list_single(file: Path) -> Listing:
    """List one file as the only entry of its folder."""
    status = file.stat()
    found = FoundFile(path=file.name, size=status.st_size, mtime_ns=status.st_mtime_ns)
    return Listing(files={found.path: found})


def _walk(folder: Path, prefix: str, selection: "_Selection", listing: Listing) -> None:
    try:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        listing.errors.append(f"{prefix or '.'}: {error.strerror}")
        return
    for entry in ordered:
        path = f"{prefix}/{entry.name}" if prefix else entry.name
        if is_skipped(entry.name) or selection.excludes(path):
            continue
        try:
            _visit(entry, path, selection, listing)
        except OSError as error:
            listing.errors.append(f"{path}: {error.strerror}")


def _visit(entry: "os.DirEntry[str]", path: str, selection: "_Selection", listing: Listing) -> None:
    if not _is_unicode(path):
        shown = path.encode("utf-8", "backslashreplace").decode()
        listing.refused[shown] = "its name is not valid Unicode; rename it"
    elif entry.is_symlink():
        listing.refused[path] = ""  # judged when everything is listed
    elif entry.is_dir(follow_symlinks=False):
        if path.count("/") >= _MAX_DEPTH:
            listing.errors.append(f"{path}: more than {_MAX_DEPTH} folders deep")
            return
        _walk(Path(entry.path), path, selection, listing)
    elif selection.includes(path):
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISREG(status.st_mode):
            listing.files[path] = FoundFile(path, status.st_size, status.st_mtime_ns)


def _describe_link(link: Path, real_root: Path, listing: Listing) -> str:
    """Say why a link is not followed; empty when what it names is listed in its own place."""
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return "is a link to something that does not exist; remove it"
    if not target.is_relative_to(real_root):
        return "is a link that leaves the folder, which is refused; copy the file into it"
    inside = target.relative_to(real_root).as_posix()
    if inside in listing.files or inside == ".":
        return ""
    if target.is_dir() and any(path.startswith(f"{inside}/") for path in listing.files):
        return ""
    return f"is a link to {inside!r}, which is hidden or excluded; put the file here"


def is_skipped(name: str) -> bool:
    """Tell whether an entry of this name is never knowledge: hidden, temporary, a cache."""
    return (
        name.startswith((".", "~$")) or name.endswith(_TEMPORARY) or name.lower() in _SKIPPED_NAMES
    )


def _is_unicode(path: str) -> bool:
    return path.isascii() or not any("\ud800" <= char <= "\udfff" for char in path)


class _Selection:
    """Include and exclude patterns, compiled."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = [] if "**/*" in include else [compile_glob(glob) for glob in include]
        self._takes_all = "**/*" in include
        self._exclude = [compile_glob(glob) for glob in exclude]

    def includes(self, path: str) -> bool:
        return self._takes_all or any(glob.fullmatch(path) for glob in self._include)

    def excludes(self, path: str) -> bool:
        return any(glob.fullmatch(path) for glob in self._exclude)


@lru_cache(maxsize=256)
def compile_glob(glob: str) -> re.Pattern[str]:
    """Compile a glob: `**` crosses folders, `*` and `?` do not, no slash = at any depth."""
    pattern = glob.strip("/")
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    is_folder = pattern.endswith("/**") or not re.search(r"[*?\[]", pattern.rpartition("/")[2])
    beneath = "(?:/.*)?" if is_folder else ""
    return re.compile("".join(_translate(pattern.removesuffix("/**"))) + beneath, re.DOTALL)


def _translate(pattern: str) -> Iterator[str]:
    position = 0
    for match in re.finditer(r"\*\*/|\*\*|\*|\?|\[!?[^\]]+\]", pattern):
        yield re.escape(pattern[position : match.start()])
        token = match.group()
        if token.startswith("["):
            yield "[^" + token[2:] if token.startswith("[!") else token
        else:
            yield {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}[token]
        position = match.end()
    yield re.escape(pattern[position:])

"""Who may read a folder: `.access.yaml` files, each one clause, joined from the top down.

Files above the root count too: whoever syncs a part of a folder reads it under the rules of all.
"""

import os
import reprlib
from dataclasses import dataclass, field
from pathlib import Path

from core.marked_yaml import YamlError, load_marked_yaml
from knowledge.access import ALL_MEMBERS, NOBODY, AccessRule, is_principal

ACCESS_FILE = ".access.yaml"
# Meant as one, and would be overlooked.
_MISNAMED = ".access.yml"
_MAX_BYTES = 1_000_000


class AccessFileError(Exception):
    """The file does not say plainly who may read; its folder is then closed to everybody."""


def parse_access_file(text: str) -> frozenset[str]:
    """Return the principals of a folder's clause; none at all admits nobody.

    Raises:
        AccessFileError: Anything but a mapping with the one key `read` and a list of principals.
    """
    try:
        content = load_marked_yaml(text).value
    except YamlError as error:
        raise AccessFileError(f"line {error.mark.line}: {error}") from error
    if not isinstance(content, dict) or "read" not in content:
        raise AccessFileError("it must hold `read: [principals]`")
    unknown = sorted(str(key) for key in content if key != "read")
    if unknown:
        raise AccessFileError(f"unknown key {unknown[0]!r}; the only key is `read`")
    readers = content["read"]
    if not isinstance(readers, list):
        raise AccessFileError("`read` must be a list, such as [members] or ['group:wiki/hr']")
    found = []
    for reader in readers:
        if not isinstance(reader, str) or not is_principal(reader):
            raise AccessFileError(
                f"{reprlib.repr(reader)} is no principal; write public, members, group:SOURCE/ID "
                "or user:ID"
            )
        found.append(reader)
    return frozenset(found)


@dataclass(slots=True)
class FolderRules:
    """The rules of all folders of one root, read from disk when asked for and remembered.

    One instance serves one run or one look-up, so that a changed file counts from the next on.

    Attributes:
        failures: Reason by path of the access file, for those that closed their folder.
    """

    root: Path
    failures: dict[str, str] = field(default_factory=dict)
    _rules: dict[str, AccessRule | None] = field(default_factory=dict)

    def get_rule(self, folder: str) -> AccessRule:
        """Return who may read the files of a folder; members where no file says anything."""
        return self._find_rule(folder) or ALL_MEMBERS

    def _find_rule(self, folder: str) -> AccessRule | None:
        if folder not in self._rules:
            parent = folder.rpartition("/")[0]
            above = self._find_rule(parent) if folder else self._join_above_root()
            own = self._read_own(folder)
            self._rules[folder] = above & own if above and own else above or own
        return self._rules[folder]

    def _join_above_root(self) -> AccessRule | None:
        joined: AccessRule | None = None
        for folder in self.root.resolve().parents:
            own = self._read(folder / ACCESS_FILE, str(folder / ACCESS_FILE))
            joined = joined & own if joined and own else joined or own
        return joined

    def _read_own(self, folder: str) -> AccessRule | None:
        path = f"{folder}/{ACCESS_FILE}" if folder else ACCESS_FILE
        misnamed = (self.root / path).with_name(_MISNAMED)
        if os.path.lexists(misnamed):
            place = path.removesuffix(ACCESS_FILE) + _MISNAMED
            self.failures[place] = f"{place!r} closes its folder: it must be called {ACCESS_FILE!r}"
            return NOBODY
        return self._read(self.root / path, path)

    def _read(self, file: Path, path: str) -> AccessRule | None:
        try:
            # Only a plain "not there" means no rule; a folder that can't be looked into is closed.
            os.lstat(file)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self.failures[path] = f"{path!r} can't be looked for ({error.strerror}); folder closed"
            return NOBODY
        try:
            return AccessRule.of(parse_access_file(_read_text(file)))
        except AccessFileError as error:
            reason = str(error)
        except OSError as error:
            reason = f"it can't be read ({error.strerror})"
        self.failures[path] = f"{path!r} closes its folder to everybody: {reason}"
        return NOBODY


def _read_text(file: Path) -> str:
    if file.is_symlink() or not file.is_file():
        raise AccessFileError("it must be a plain file")
    with file.open("rb") as stream:
        data = stream.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise AccessFileError("it is too large")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AccessFileError("it is not UTF-8") from error

"""Who may read what in Notion, whose API does not say: a file of ours, read anew on every run.

`{"pages": {ID: {"inherit": bool, "users": [...], "groups": [...]}}}`. The nearest entry from a row
or page upwards (row, data source, database, page) wins and replaces everything above it; with
`inherit` it passes the question on. No entry at all, or one that can't be understood, admits
nobody.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from connectors.notion.ids import normalise_id
from knowledge.access import NOBODY, AccessRule
from knowledge.directory_import import GROUP_SOURCE
from knowledge.people import DirectorySnapshot

_KEYS = frozenset({"title", "inherit", "users", "groups"})
_WORDS = frozenset({"members", "public"})
_MAX_BYTES = 20_000_000


class AccessFileError(Exception):
    """The file, or an entry of it, does not say plainly who may read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessFile:
    """The file's entries as rules.

    Attributes:
        rules: By id; None = as the next one above.
        failures: Reasons by id of entries that admit nobody because they can't be understood;
            under the empty id why the whole file admits nobody.
    """

    rules: Mapping[str, AccessRule | None] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)

    def find_rule(self, chain: Iterable[str]) -> AccessRule:
        """Return the rule of the first of an object and its ancestors, nearest first."""
        for one in chain:
            rule = self.rules.get(one)
            if rule is not None:
                return rule
        return NOBODY


def load_access_file(path: Path | None, directory: DirectorySnapshot | None) -> AccessFile:
    """Read the file; what is wrong with it is told in `failures`. Blocking.

    Args:
        path: None = no file is set, which admits nobody.
        directory: Knows people by id or e-mail and groups by id; without it names are taken as
            they stand, and e-mails name nobody.
    """
    if path is None:
        return _closed("no access_file is set, so nobody may read these pages")
    try:
        return parse_access_file(_read_text(path), directory)
    except OSError as error:
        reason = f"it can't be read ({error.strerror})"
    except (UnicodeDecodeError, AccessFileError) as error:
        reason = str(error) if isinstance(error, AccessFileError) else "it is not UTF-8"
    return _closed(f"{str(path)!r} closes all pages to everybody: {reason}")


def parse_access_file(text: str, directory: DirectorySnapshot | None) -> AccessFile:
    """Return the entries of the file.

    Raises:
        AccessFileError: The whole can't be understood.
    """
    try:
        content = json.loads(text, object_pairs_hook=_refuse_twice)
    except (ValueError, RecursionError) as error:
        raise AccessFileError(f"it is not valid JSON ({error})") from error
    pages = content.get("pages") if isinstance(content, dict) else None
    if not isinstance(pages, dict):
        raise AccessFileError('it must hold {"pages": {id: {inherit, users, groups}}}')
    rules: dict[str, AccessRule | None] = {}
    failures: dict[str, str] = {}
    for key, entry in pages.items():
        page = normalise_id(key)
        if not page:
            failures[key] = f"{key!r} is no id of a Notion page or database; the entry says nothing"
            continue
        is_twice = page in rules
        try:
            rules[page] = NOBODY if is_twice else _read_entry(entry, directory)
        except AccessFileError as error:
            rules[page] = NOBODY
            failures[page] = f"the entry of {key!r} admits nobody: {error}"
        if is_twice:
            failures[page] = f"the entry of {key!r} admits nobody: the page stands there twice"
    return AccessFile(rules=rules, failures=failures)


def _read_text(path: Path) -> str:
    with path.open("rb") as stream:
        data = stream.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise AccessFileError("it is too large")
    return data.decode("utf-8-sig")


def _closed(reason: str) -> AccessFile:
    return AccessFile(failures={"": reason})


def _read_entry(entry: object, directory: DirectorySnapshot | None) -> AccessRule | None:
    if not isinstance(entry, dict):
        raise AccessFileError("it must be an object with inherit, users and groups")
    unknown = sorted(set(entry) - _KEYS)
    if unknown:
        raise AccessFileError(f"unknown key {unknown[0]!r}")
    inherits = entry.get("inherit", False)
    users, groups = _read_names(entry, "users"), _read_names(entry, "groups")
    if not isinstance(inherits, bool):
        raise AccessFileError("inherit must be true or false")
    if inherits and (users or groups):
        raise AccessFileError("with inherit the lists must be empty; an entry replaces, never adds")
    if inherits:
        return None
    found = [*(_find_user(one, directory) for one in users)]
    found += [_find_group(one, directory) for one in groups]
    return AccessRule.of([one for one in found if one])


def _read_names(entry: Mapping[str, Any], key: str) -> list[str]:
    names = entry.get(key, [])
    if not isinstance(names, list) or not all(isinstance(one, str) and one for one in names):
        raise AccessFileError(f"{key} must be a list of names")
    return names


def _find_user(name: str, directory: DirectorySnapshot | None) -> str:
    """Return the principal of a person; empty for one who is not in the directory."""
    plain = name.removeprefix("user:")
    if directory is None:
        return "" if "@" in plain else f"user:{plain}"
    person = directory.find_person(plain)
    return f"user:{person.person_id}" if person else ""


def _find_group(name: str, directory: DirectorySnapshot | None) -> str:
    """Return the principal of a group, imported ones first; empty for none, or several others."""
    if name in _WORDS or name.startswith("group:"):
        return name
    if directory is None:
        return ""
    found = {one.source: one.principal for one in directory.content.groups if one.group_id == name}
    # A plain name is the imported group, whatever groups of that name other systems come to have.
    if GROUP_SOURCE in found:
        return found[GROUP_SOURCE]
    return next(iter(found.values())) if len(found) == 1 else ""


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that stands twice: the last one would silently win."""
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key stands twice")
    return content

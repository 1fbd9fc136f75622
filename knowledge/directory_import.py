"""Importing the directory from a folder: people.json, groups.json and channels.json.

Each file is a list of objects; keys that are not named here are ignored. `groups.json` alone says
who is in a group.
"""

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import SettingsError
from knowledge.directory import Directory
from knowledge.people import (
    DIRECT_MESSAGE,
    Channel,
    ChannelId,
    DirectoryContent,
    Employment,
    Group,
    Identity,
    Person,
    PersonId,
    Visibility,
)

GROUP_SOURCE = "company"
_PEOPLE, _GROUPS, _CHANNELS = "people.json", "groups.json", "channels.json"


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    id: str = Field(min_length=1, max_length=255)


class _PersonEntry(_Entry):
    name: str
    name_en: str | None = None
    email: str | None = None
    department: str | None = None
    title: str | None = None
    manager: str | None = None
    employment_type: Employment = Field(default=Employment.EMPLOYEE, strict=False)
    active: bool = True
    slack_id: str | None = None
    dingtalk_id: str | None = None
    confluence_account_id: str | None = None
    notion_user_id: str | None = None

    def accounts(self) -> dict[str, str]:
        """Return the person's native ids by system."""
        found = {
            "slack": self.slack_id,
            "dingtalk": self.dingtalk_id,
            "confluence": self.confluence_account_id,
            "notion": self.notion_user_id,
        }
        return {system: native_id for system, native_id in found.items() if native_id}


class _GroupEntry(_Entry):
    name: str = ""
    members: list[str]


class _ChannelEntry(_Entry):
    name: str = ""
    platform: str = Field(min_length=1, max_length=64)
    native_id: str = Field(min_length=1, max_length=255)
    visibility: Visibility = Field(strict=False)
    has_external_member: bool
    members: list[str] | None = None


_E = TypeVar("_E", bound=_Entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryImport:
    """What an import brought; `has_changed` is False when everything was so already."""

    people: int
    identities: int
    groups: int
    channels: int
    has_changed: bool


async def import_directory(directory: Directory, folder: Path) -> DirectoryImport:
    """Make the directory hold exactly what the folder's three files say.

    A channel without `members`, or with null, is one whose listeners are not known.

    Raises:
        SettingsError: A file is missing, not JSON or not of this form, an id occurs twice, or
            somebody is named who is not in people.json. The directory stays as it was.
    """
    content = await asyncio.to_thread(load_directory_folder, folder)
    has_changed = await directory.replace(content, group_source=GROUP_SOURCE)
    return DirectoryImport(
        people=len(content.people),
        identities=len(content.identities),
        groups=len(content.groups),
        channels=len(content.channels),
        has_changed=has_changed,
    )


def load_directory_folder(folder: Path) -> DirectoryContent:
    """Read and check the three files. Blocking; raises as `import_directory`."""
    people = _load_entries(folder / _PEOPLE, _PersonEntry)
    known = {entry.id for entry in people}
    for index, person in enumerate(people, start=1):
        if person.manager is not None:
            place = _place(folder / _PEOPLE, index, person.id)
            _check_known([person.manager], known, place, "manager")
    return DirectoryContent(
        people=tuple(_build_person(entry) for entry in people),
        identities=_build_identities(people, folder / _PEOPLE),
        groups=_build_groups(folder / _GROUPS, known),
        channels=_build_channels(folder / _CHANNELS, known),
    )


def _load_entries(path: Path, kind: type[_E]) -> list[_E]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise SettingsError(
            f"{str(path)!r} is missing; a directory folder has {_PEOPLE}, {_GROUPS} and "
            f"{_CHANNELS} ([] when there is nothing to say)"
        ) from error
    except OSError as error:
        raise SettingsError(f"{str(path)!r} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise SettingsError(f"{str(path)!r} is not valid JSON in UTF-8: {error}") from error
    if not isinstance(entries, list):
        raise SettingsError(f"{str(path)!r} must be a list of objects")
    parsed = [_parse(entry, kind, path, index) for index, entry in enumerate(entries, start=1)]
    _refuse_repeated([entry.id for entry in parsed], path, "id")
    return parsed


def _parse(entry: object, kind: type[_E], path: Path, index: int) -> _E:
    try:
        return kind.model_validate(entry)
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in detail["loc"])
        name = entry.get("id") if isinstance(entry, dict) else None
        raise SettingsError(
            f"{_place(path, index, name)}: {field or 'entry'}: {detail['msg']}"
        ) from error


def _refuse_repeated(values: Sequence[str], path: Path, what: str) -> None:
    seen: set[str] = set()
    for index, value in enumerate(values, start=1):
        if value in seen:
            raise SettingsError(f"{str(path)!r}, entry {index}: {what} {value!r} occurs twice")
        seen.add(value)


def _check_known(names: Iterable[str], known: set[str], place: str, what: str) -> None:
    for name in names:
        if name not in known:
            raise SettingsError(f"{place}: {what} {name!r} is not in {_PEOPLE}")


def _place(path: Path, index: int, entry_id: object) -> str:
    return f"{str(path)!r}, entry {index} ({entry_id!r})"


def _build_person(entry: _PersonEntry) -> Person:
    return Person(
        person_id=PersonId(entry.id),
        name=entry.name,
        name_en=entry.name_en or "",
        email=entry.email or "",
        department=entry.department or "",
        title=entry.title or "",
        manager=PersonId(entry.manager) if entry.manager else None,
        employment=entry.employment_type,
        is_active=entry.active,
    )


def _build_identities(people: Sequence[_PersonEntry], path: Path) -> tuple[Identity, ...]:
    identities = [
        Identity(system=system, native_id=native_id, person_id=PersonId(entry.id))
        for entry in people
        for system, native_id in entry.accounts().items()
    ]
    owners: dict[tuple[str, str], PersonId] = {}
    for one in identities:
        owner = owners.setdefault((one.system, one.native_id), one.person_id)
        if owner != one.person_id:
            raise SettingsError(
                f"{str(path)!r}: {one.system} account {one.native_id!r} belongs to both "
                f"{owner!r} and {one.person_id!r}"
            )
    return tuple(identities)


def _build_groups(path: Path, known: set[str]) -> tuple[Group, ...]:
    entries = _load_entries(path, _GroupEntry)
    for index, entry in enumerate(entries, start=1):
        _check_known(entry.members, known, _place(path, index, entry.id), "member")
    return tuple(
        Group(
            source=GROUP_SOURCE,
            group_id=entry.id,
            name=entry.name,
            members=frozenset(PersonId(name) for name in entry.members),
        )
        for entry in entries
    )


def _build_channels(path: Path, known: set[str]) -> tuple[Channel, ...]:
    entries = _load_entries(path, _ChannelEntry)
    _refuse_repeated([f"{one.platform}:{one.native_id}" for one in entries], path, "native id")
    for index, entry in enumerate(entries, start=1):
        if DIRECT_MESSAGE in {entry.id, entry.native_id}:
            raise SettingsError(
                f"{_place(path, index, entry.id)}: a channel can't be called {DIRECT_MESSAGE!r}, "
                "which stands for a direct message"
            )
        _check_known(entry.members or (), known, _place(path, index, entry.id), "member")
    return tuple(
        Channel(
            channel_id=ChannelId(entry.id),
            platform=entry.platform,
            native_id=entry.native_id,
            name=entry.name,
            visibility=entry.visibility,
            has_external_member=entry.has_external_member,
            is_membership_known=entry.members is not None,
            members=frozenset(PersonId(name) for name in entry.members or ()),
        )
        for entry in entries
    )

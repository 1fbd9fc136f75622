"""The people and groups of a company's folder, and what happens to them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import SettingsError


class Staff:
    """A folder with people.json and groups.json that changes are written to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def apply_change(self, change: Mapping[str, Any]) -> bool:
        """Apply a change of people or groups; False when it concerns something else.

        Raises:
            SettingsError: It names a group or a person that is not there.
        """
        payload = change["payload"]
        match change["op"]:
            case "group.add_member":
                group, user = payload["group"], payload["user"]
                members = [one for one in self._members(group) if one != user]
                self._update("groups.json", group, {"members": [*members, user]})
            case "group.remove_member":
                group, user = payload["group"], payload["user"]
                members = [one for one in self._members(group) if one != user]
                self._update("groups.json", group, {"members": members})
            case "user.deactivate":
                self._update("people.json", payload["user"], {"active": False})
            case _:
                return False
        return True

    def _members(self, group: str) -> list[str]:
        return next((one["members"] for one in self._load("groups.json") if one["id"] == group), [])

    def _load(self, name: str) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = json.loads((self.folder / name).read_text("utf-8"))
        return entries

    def _update(self, name: str, key: str, values: Mapping[str, Any]) -> None:
        entries = self._load(name)
        found = [entry for entry in entries if entry["id"] == key]
        if not found:
            raise SettingsError(f"a change names {key!r}, which is not in {name}")
        found[0].update(values)
        text = json.dumps(entries, ensure_ascii=False, indent=1)
        (self.folder / name).write_text(text, encoding="utf-8")

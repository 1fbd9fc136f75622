"""Plays changes of a company's `changes.json` into the wiki."""

from collections.abc import Mapping
from typing import Any

from core.errors import SettingsError
from playground.confluence.editor import WikiEditor
from playground.confluence.wiki import Wiki, read_file_version, read_readers, read_version

OPERATIONS = frozenset(
    {
        "confluence.update",
        "confluence.remove_version",
        "confluence.visibility_loss",
        "attachment.update",
        "space.permissions",
        "group.add_member",
        "group.remove_member",
        "user.deactivate",
    }
)


def apply_change(wiki: Wiki, change: Mapping[str, Any]) -> bool:
    """Apply one change; False when it concerns another system.

    Raises:
        SettingsError: It names something that is not there.
    """
    operation, payload = str(change["op"]), change["payload"]
    if operation not in OPERATIONS:
        return False
    try:
        _apply(wiki, operation, payload)
    except KeyError as error:
        raise SettingsError(
            f"change {change.get('id', '?')!r} ({operation}) names {error}, which is not there"
        ) from error
    return True


def _apply(wiki: Wiki, operation: str, payload: Mapping[str, Any]) -> None:
    editor = WikiEditor(wiki)
    match operation:
        case "confluence.update":
            _update_page(wiki, payload)
        case "confluence.remove_version":
            editor.purge_version(payload["page_id"], int(payload["number"]))
        case "confluence.visibility_loss":
            wiki.hidden |= set(payload["hidden_page_ids"])
        case "attachment.update":
            file = wiki.files[payload["attachment_id"]]
            file.versions.append(read_file_version(payload["version"]))
        case "space.permissions":
            view = payload["permissions"]["view"]
            editor.set_view(
                payload["space"], groups=view.get("groups", ()), users=view.get("users", ())
            )
        case "group.add_member":
            editor.add_member(payload["group"], payload["user"])
        case "group.remove_member":
            editor.remove_member(payload["group"], payload["user"])
        case "user.deactivate":
            if payload["user"] in wiki.people:
                wiki.people[payload["user"]].is_active = False


def _update_page(wiki: Wiki, payload: Mapping[str, Any]) -> None:
    page = wiki.pages[payload["page_id"]]
    values = payload.get("set") or {}
    if version := payload.get("version"):
        page.versions.append(read_version(version))
        page.parent_id = version.get("parent_id") or page.parent_id
    if "parent_id" in values:
        WikiEditor(wiki).move(page.page_id, values["parent_id"] or "")
    if "title" in values:
        page.current.title = values["title"]
    if "status" in values:
        page.status = values["status"]
    if "restrictions" in values:
        page.readers = read_readers(values["restrictions"])
    if "labels" in values:
        page.labels = list(values["labels"])

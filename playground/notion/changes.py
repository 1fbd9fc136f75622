"""Plays changes of a company's `changes.json` into the workspace."""

from collections.abc import Mapping
from typing import Any

from core.errors import SettingsError
from playground.notion.workspace import Workspace

PREFIX = "notion."


def apply_change(workspace: Workspace, change: Mapping[str, Any]) -> bool:
    """Apply one change; False when it concerns another system.

    Raises:
        SettingsError: An operation on Notion that is not known, or on something that is not there.
    """
    operation = str(change["op"])
    if not operation.startswith(PREFIX):
        return False
    payload = change["payload"]
    try:
        _apply(workspace, operation, payload)
    except KeyError as error:
        raise SettingsError(
            f"change {change.get('id', '?')!r} ({operation}) names {error}, which is not there"
        ) from error
    return True


def _apply(workspace: Workspace, operation: str, payload: Mapping[str, Any]) -> None:
    edited = str(payload.get("last_edited_time", ""))
    match operation:
        case "notion.update_page":
            workspace.update_page(payload["page_id"], payload["set"], edited)
        case "notion.update_block":
            workspace.replace_block(payload["block"], edited)
        case "notion.access":
            workspace.set_access(payload["page_id"], payload["access"])
        case "notion.visibility_loss":
            workspace.hidden |= set(payload["hidden_page_ids"])
        case _:
            raise SettingsError(f"{operation!r} is no change of Notion that is known here")

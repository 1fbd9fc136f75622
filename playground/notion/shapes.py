"""Objects as each API version shows them. Pure."""

import copy
from collections.abc import Mapping
from typing import Any

from playground.notion.workspace import Json, Workspace

LEGACY = "2022-06-28"
VERSIONS = frozenset({LEGACY, "2025-09-03"})


def shape_object(workspace: Workspace, found: Mapping[str, Any], version: str) -> Json:
    """Return a page, database or data source as a version of the API gives it."""
    shaped = copy.deepcopy(dict(found))
    if version == LEGACY:
        shaped = _shape_legacy(workspace, shaped)
    elif shaped["object"] == "database":
        shaped.pop("properties", None)
    for key in ("created_time", "last_edited_time"):
        if key in shaped:
            shaped[key] = round_to_minute(shaped[key])
    return shaped


def round_to_minute(moment: str) -> str:
    """Return a moment rounded down, as the API has done since 2022."""
    return f"{moment[:16]}:00.000Z" if len(moment) > 16 else moment  # noqa: PLR2004 - YYYY-MM-DDTHH:MM


def count_sources(found: Mapping[str, Any]) -> int:
    """Return how many data sources a database has."""
    return len(found.get("data_sources", ()))


def _shape_legacy(workspace: Workspace, shaped: Json) -> Json:
    shaped.pop("in_trash", None)
    if shaped["object"] == "data_source":
        shaped = copy.deepcopy(workspace.objects[shaped["parent"]["database_id"]])
    parent = shaped.get("parent", {})
    if parent.get("type") == "data_source_id":
        database = parent["database_id"]
        shaped["parent"] = {"type": "database_id", "database_id": database}
    if shaped["object"] == "database":
        sources = shaped.pop("data_sources", [])
        if sources:
            shaped["properties"] = copy.deepcopy(workspace.objects[sources[0]["id"]]["properties"])
    return shaped

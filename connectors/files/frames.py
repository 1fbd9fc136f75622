"""What the parent and the parser process say to each other: length, JSON header, raw bytes.

JSON and not pickle: the process that reads hostile files must not be able to hand the parent
objects of its choice.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from connectors.files.converted import Converted, PageLink

LENGTHS = struct.Struct(">II")


def pack_frame(header: Mapping[str, Any], data: bytes = b"") -> bytes:
    """Return a frame: lengths of header and data, then both."""
    head = json.dumps(header, ensure_ascii=True).encode()
    return LENGTHS.pack(len(head), len(data)) + head + data


def converted_to_json(converted: Converted) -> dict[str, Any]:
    """Return a converted file in plain JSON types."""
    values = asdict(converted)
    values["at"] = converted.at.isoformat() if converted.at else None
    return values


def converted_from_json(values: Mapping[str, Any]) -> Converted:
    """Build a converted file from its JSON form.

    Raises:
        ValueError, KeyError, TypeError: The values are not of that form.
    """
    fields = dict(values)
    fields["at"] = datetime.fromisoformat(fields["at"]) if fields.get("at") else None
    fields["links"] = tuple(PageLink(**link) for link in fields.get("links", ()))
    fields["labels"] = tuple(fields.get("labels", ()))
    fields["notes"] = tuple(fields.get("notes", ()))
    return Converted(**fields)

"""Picking a part out of a reply by a path such as `data.items.0.name`."""

from pydantic import JsonValue


def select(value: JsonValue, path: str) -> JsonValue:
    """Return the part a path leads to; the whole for an empty path, None where it leads nowhere."""
    found = value
    for part in filter(None, path.split(".")):
        match found:
            case dict():
                found = found.get(part)
            case list() if part.isascii() and part.isdigit() and int(part) < len(found):
                found = found[int(part)]
            case _:
                return None
    return found

"""Texts with `{names}` in them, filled in by code; `{{` and `}}` stand for braces themselves."""

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

from pydantic import JsonValue

_PART = re.compile(r"\{\{|\}\}|\{([a-z][a-z0-9_]*)\}")
_SECRET = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_DECODINGS = 3


def find_names(template: object) -> set[str]:
    """Return the names a text uses, or those of all texts in a structure."""
    match template:
        case str():
            return {match[1] for match in _PART.finditer(template) if match[1]}
        case Mapping():
            return set[str]().union(*(find_names(one) for one in template.values()))
        case list() | tuple():
            return set[str]().union(*(find_names(one) for one in template))
        case _:
            return set()


def find_secrets(text: str) -> set[str]:
    """Return the names of the secrets a text uses as `${NAME}`."""
    return set(_SECRET.findall(text))


def fill_text(template: str, values: Mapping[str, JsonValue]) -> str:
    """Fill in a text; what has no value becomes nothing."""

    def put(match: "re.Match[str]") -> str:
        return say(values.get(match[1])) if match[1] else match[0][0]

    return _PART.sub(put, template)


def fill_value(template: JsonValue, values: Mapping[str, JsonValue]) -> JsonValue:
    """Fill in a structure; a text that is one name takes its value as it is, a number as a number.

    Entries of mappings whose only name has no value are left out.
    """
    match template:
        case str():
            alone = _PART.fullmatch(template)
            return values.get(alone[1]) if alone and alone[1] else fill_text(template, values)
        case dict():
            filled = {name: fill_value(one, values) for name, one in template.items()}
            return {
                name: one
                for name, one in filled.items()
                if one is not None or template[name] is None
            }
        case list():
            return [fill_value(one, values) for one in template]
        case _:
            return template


def fill_secrets(text: str, secrets: Mapping[str, str]) -> str:
    """Put secrets into a header.

    Raises:
        KeyError: There is no secret of a name.
    """
    return _SECRET.sub(lambda match: secrets[match[1]], text)


def fill_path(template: str, values: Mapping[str, JsonValue]) -> str:
    """Fill in a path; no value can leave its place in it.

    Raises:
        ValueError: A value is empty, or `.` or `..`, which mean another place.
    """

    def put(match: "re.Match[str]") -> str:
        if not match[1]:
            return match[0][0]
        value = say(values.get(match[1]))
        if _leads_away(value):
            raise ValueError(f"{match[1]}: {value!r} can't stand in an address")
        return quote(value, safe="")

    return _PART.sub(put, template)


def _leads_away(value: str) -> bool:
    """Tell whether a part of a path means another place, even if a server decodes it again."""
    readings = [value]
    for _ in range(_DECODINGS):
        readings.append(unquote(readings[-1]))
    return any(
        part.strip() in {"", ".", ".."}
        for reading in readings
        for part in re.split(r"[/\\]", reading)
    )


def say(value: JsonValue) -> str:
    """Write a value into a text."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list():
            return ", ".join(say(one) for one in value)
        case _:
            return str(value)

"""Tool calls that a model wrote into its text: JSON, fenced or not, tagged, or like a function's.

Small models and servers without tools do so. Whatever is no call is left alone.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

MOST_CHARS = 20_000
MOST_TRIES = 60
MOST_CALLS = 8
_NAMES = ("name", "tool", "tool_name", "function", "action")
_ARGUMENTS = ("arguments", "args", "parameters", "params", "input", "action_input")
_LISTS = ("tool_calls", "calls", "tools", "actions")
_QUOTES = str.maketrans({"“": '"', "”": '"', "＂": '"', "：": ":", "｛": "{", "｝": "}"})
_TRAILING_COMMA = re.compile(r",\s*(?=[}\]])")
_FUNCTION = re.compile(r"(?<![\w.])([a-z][a-z0-9_]{2,63})\s*\(")
_KEYWORD = re.compile(
    r"\s*([a-z_]\w*)\s*=\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^,()]+?)\s*(?:,|$)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    """A call as text: the arguments are JSON of an object."""

    name: str
    arguments: str


def read_written_calls(text: str, names: frozenset[str]) -> list[WrittenCall]:
    """Read the calls in a text, in order.

    Args:
        text: What a model wrote.
        names: Of the tools there are. An object that has the form of a call is one whatever its
            name; what looks like a function is one with a known name only.
    """
    text = text[:MOST_CHARS]
    calls = [call for value in _find_json(text) for call in _read_value(value, names)]
    return (calls or list(_find_functions(text, names)))[:MOST_CALLS]


def load_json(text: str) -> JsonValue:
    """Parse JSON as models write it: Chinese quotes, Python's literals and stray commas mended.

    Raises:
        ValueError: It is no JSON, however one looks at it.
    """
    for candidate in (text, _TRAILING_COMMA.sub("", text.translate(_QUOTES))):
        try:
            found: JsonValue = json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
        return found
    try:
        literal: JsonValue = ast.literal_eval(text.strip())
        # What JSON can't hold is no argument.
        json.dumps(literal)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError) as error:
        raise ValueError("no JSON") from error
    return literal


def _find_json(text: str) -> Iterator[JsonValue]:
    decoder = json.JSONDecoder(strict=False)
    place = tries = 0
    while tries < MOST_TRIES and (match := re.compile(r"[{\[｛]").search(text, place)):
        tries += 1
        place = match.start()
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            piece = _cut_balanced(text, place)
            try:
                value, end = load_json(piece), place + len(piece)
            except ValueError:
                place += 1
                continue
        yield value
        place = end


def _cut_balanced(text: str, start: int) -> str:
    """Return the text up to the bracket that closes the one at `start`, quotes not looked at."""
    depth = 0
    for place in range(start, len(text)):
        char = text[place]
        if char in "{[｛":
            depth += 1
        elif char in "}]｝":
            depth -= 1
            if depth == 0:
                return text[start : place + 1]
    # A reply that was cut off.
    return text[start:] + "}" * min(depth, 4)


def _read_value(value: JsonValue, names: frozenset[str]) -> Iterator[WrittenCall]:
    if isinstance(value, list):
        for one in value:
            if isinstance(one, dict):
                yield from _read_value(one, names)
        return
    if not isinstance(value, dict):
        return
    for key in _LISTS:
        if isinstance(value.get(key), list):
            yield from _read_value(value[key], names)
            return
    if call := _read_object(value, names):
        yield call


def _read_object(value: Mapping[str, JsonValue], names: frozenset[str]) -> WrittenCall | None:
    inner = value.get("function")
    if isinstance(inner, dict):
        return _read_object(inner, names)
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    arguments = next((value[key] for key in _ARGUMENTS if key in value), None)
    if isinstance(name, str) and (arguments is not None or name in names):
        if isinstance(arguments, str):
            return WrittenCall(name=name, arguments=arguments)
        return WrittenCall(name=name, arguments=_dump(arguments or {}))
    # Some models make the name the key.
    if len(value) == 1 and (only := next(iter(value))) in names and isinstance(value[only], dict):
        return WrittenCall(name=only, arguments=_dump(value[only]))
    return None


def _find_functions(text: str, names: frozenset[str]) -> Iterator[WrittenCall]:
    for match in _FUNCTION.finditer(text):
        if match[1] not in names:
            continue
        inner = _cut_round(text, match.end())
        if inner.lstrip().startswith("{"):
            yield WrittenCall(name=match[1], arguments=inner)
            continue
        pairs = {key: _unquote(value) for key, value in _KEYWORD.findall(inner)}
        if pairs or not inner.strip():
            yield WrittenCall(name=match[1], arguments=_dump(pairs))


def _cut_round(text: str, start: int) -> str:
    depth = 1
    for place in range(start, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return text[start:place]
    return text[start:]


def _unquote(value: str) -> JsonValue:
    try:
        return load_json(value)
    except ValueError:
        return value.strip()


def _dump(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)

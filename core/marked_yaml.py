"""YAML that remembers where everything stands, so that mistakes can be told by line and column.

Strict: no key twice, no aliases, no tags, nothing but plain values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import yaml
from pydantic import JsonValue
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

MOST_BYTES = 1_000_000
MOST_LEVELS = 50
Place: TypeAlias = tuple[str | int, ...]
"""Keys and indexes that lead to a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A position in a text, from 1 on."""

    line: int
    column: int


class YamlError(Exception):
    """The text is not what we read; the message says why, `mark` where."""

    def __init__(self, message: str, mark: Mark) -> None:
        super().__init__(message)
        self.mark = mark


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedYaml:
    """A value, and where each of its parts stands."""

    value: JsonValue
    marks: Mapping[Place, Mark]

    def find_mark(self, place: Sequence[str | int]) -> Mark:
        """Return where a part stands, or else the nearest one around it."""
        parts = tuple(place)
        while parts and parts not in self.marks:
            parts = parts[:-1]
        return self.marks.get(parts, Mark(line=1, column=1))


class _JsonLoader(yaml.SafeLoader):
    """Knows texts, numbers, booleans and null; a date stays the text it is."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the library's own form
        first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_KNOWN_TAGS = frozenset(
    f"tag:yaml.org,2002:{kind}" for kind in ("map", "seq", "str", "int", "float", "bool", "null")
)


def load_marked_yaml(text: str) -> MarkedYaml:
    """Read a text.

    Raises:
        YamlError: It is no YAML, or holds what is refused here.
    """
    try:
        for event in yaml.parse(text, _JsonLoader):
            # Aliases grow a few lines into millions of values.
            if isinstance(event, yaml.AliasEvent):
                raise YamlError("aliases (`*name`) are not allowed", _mark(event.start_mark))
        return _load(_JsonLoader(text))
    except yaml.MarkedYAMLError as error:
        reason = " ".join(part for part in (error.context, error.problem) if part)
        raise YamlError(f"it is not valid YAML: {reason}", _mark(error.problem_mark)) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:120]
        raise YamlError(f"it is not valid YAML: {reason}", Mark(line=1, column=1)) from error


def _load(loader: _JsonLoader) -> MarkedYaml:
    marks: dict[Place, Mark] = {}
    try:
        node = loader.get_single_node()
        value = None if node is None else _build(loader, node, (), marks)
    finally:
        loader.dispose()
    return MarkedYaml(value=value, marks=marks)


def read_marked_yaml(path: Path) -> MarkedYaml:
    """Read a file of UTF-8.

    Raises:
        YamlError: As `load_marked_yaml`; or it can't be read, or is too large.
    """
    start = Mark(line=1, column=1)
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise YamlError(f"it is larger than {MOST_BYTES // 1000} kB", start)
        return load_marked_yaml(data.decode("utf-8-sig"))
    except OSError as error:
        raise YamlError(f"it can't be read: {error.strerror}", start) from error
    except UnicodeDecodeError as error:
        raise YamlError("it is not UTF-8; save it as UTF-8", start) from error


def _build(loader: _JsonLoader, node: Node, place: Place, marks: dict[Place, Mark]) -> JsonValue:
    marks.setdefault(place, _mark(node.start_mark))
    if node.tag not in _KNOWN_TAGS:
        raise YamlError(f"the tag {node.tag!r} is not allowed", _mark(node.start_mark))
    if len(place) > MOST_LEVELS:
        raise YamlError(f"it goes more than {MOST_LEVELS} levels deep", _mark(node.start_mark))
    match node:
        case MappingNode():
            return _build_mapping(loader, node, place, marks)
        case SequenceNode():
            return [
                _build(loader, one, (*place, index), marks) for index, one in enumerate(node.value)
            ]
        case _:
            value: JsonValue = loader.construct_object(node)
            return value


def _build_mapping(
    loader: _JsonLoader, node: MappingNode, place: Place, marks: dict[Place, Mark]
) -> JsonValue:
    found: dict[str, JsonValue] = {}
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            raise YamlError("a key must be a plain text", _mark(key.start_mark))
        name = str(key.value)
        if name in found:
            raise YamlError(f"the key {name!r} stands twice", _mark(key.start_mark))
        # A mistake in a value is looked for where its key stands.
        marks[(*place, name)] = _mark(key.start_mark)
        found[name] = _build(loader, value, (*place, name), marks)
    return found


class _Position(Protocol):
    line: int
    column: int


def _mark(position: _Position | None) -> Mark:
    if position is None:
        return Mark(line=1, column=1)
    return Mark(line=position.line + 1, column=position.column + 1)

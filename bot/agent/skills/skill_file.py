"""Reading a skill file: what is wrong is told by file, line and column, with what to do."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from bot.agent.skills.definition import KINDS, AnySkill, BaseSkill
from core.marked_yaml import Mark, MarkedYaml, Place, YamlError, read_marked_yaml

_KEY = re.compile(r"`(\w+)")
_S = TypeVar("_S", bound=BaseSkill)
SUFFIXES = frozenset({".yaml", ".yml"})


class SkillFileError(Exception):
    """A skill file that can't be used, and where in it the mistake is.

    Attributes:
        path: The file.
        mark: The line and column.
        reason: What is wrong there, and what to do.
    """

    def __init__(self, path: Path, mark: Mark, reason: str) -> None:
        super().__init__(f"{path}:{mark.line}:{mark.column}: {reason}")
        self.path = path
        self.mark = mark
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFile:
    """A file that was read, with the places of what it says."""

    path: Path
    definition: BaseSkill
    yaml: MarkedYaml

    def read_as(self, kind: type[_S]) -> _S:
        """Return what was read, which is of this kind: the file is built by what it says it is."""
        if not isinstance(self.definition, kind):
            raise TypeError(f"{self.path} is no {kind.__name__}")
        return self.definition

    def fail(self, reason: str, *place: str | int) -> SkillFileError:
        """Return the error for something that turned out wrong at a place."""
        return SkillFileError(self.path, self.yaml.find_mark(place), reason)


def load_skill_file(path: Path) -> SkillFile:
    """Read and check one file.

    Raises:
        SkillFileError: The first mistake in it.
    """
    try:
        found = read_marked_yaml(path)
    except YamlError as error:
        raise SkillFileError(path, error.mark, str(error)) from error
    if not isinstance(found.value, dict):
        raise SkillFileError(path, found.find_mark(()), "a skill is a mapping: `name:`, `kind:`, …")
    kind = found.value.get("kind")
    model = KINDS.get(kind) if isinstance(kind, str) else None
    if model is None:
        kinds = ", ".join(KINDS)
        said = f"{kind!r} is no kind" if "kind" in found.value else "`kind` is missing"
        raise SkillFileError(path, found.find_mark(("kind",)), f"{said}; write one of {kinds}")
    try:
        definition = model.model_validate(found.value)
    except ValidationError as error:
        raise _explain(path, found, error) from error
    return SkillFile(path=path, definition=definition, yaml=found)


def build_file_schema() -> str:
    """Return the JSON Schema of skill files, for editors."""
    schema = TypeAdapter(AnySkill).json_schema()
    schema["title"] = "A skill of Zhixing"
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def _explain(path: Path, found: MarkedYaml, error: ValidationError) -> SkillFileError:
    details = sorted(
        error.errors(include_url=False, include_context=False),
        key=lambda one: _order(_find_mark(found, one)),
    )
    first, *others = details
    reason = _say(first)
    if others:
        more = f"{len(others)} more mistakes" if len(others) > 1 else "one more mistake"
        reason += f" (and {more})"
    return SkillFileError(path, _find_mark(found, first), reason)


def _find_mark(found: MarkedYaml, detail: ErrorDetails) -> Mark:
    """Return where a mistake is; one of several keys together is where a key it names stands."""
    place = _place(detail)
    if detail["type"] == "value_error":
        for name in _KEY.findall(detail["msg"]):
            if (*place, name) in found.marks:
                return found.find_mark((*place, name))
    return found.find_mark(place)


def _place(detail: ErrorDetails) -> Place:
    # Keys of mappings are told apart by a last part that is no key of the file.
    return tuple(part for part in detail["loc"] if part != "[key]")


def _order(mark: Mark) -> tuple[int, int]:
    return mark.line, mark.column


def _say(detail: ErrorDetails) -> str:
    place = ".".join(str(part) for part in _place(detail))
    match detail["type"]:
        case "missing":
            return f"`{place}` is missing; add it"
        case "extra_forbidden":
            return f"`{place}` is no key of this kind of skill; remove it or mend its spelling"
        case "value_error":
            said = detail["msg"].removeprefix("Value error, ")
        case _:
            said = f"{detail['msg']}, not {detail['input']!r}"[:300]
    return f"`{place}`: {said}" if place else said

"""The tool that looks people up in the directory."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from pydantic import JsonValue

from bot.agent.caller import Caller
from bot.agent.tools import JsonSchema, ToolResult
from bot.rag.language import detect_language
from knowledge.access import MEMBERS
from knowledge.analysis import fold
from knowledge.people import Employment, Person

MOST_PEOPLE = 5
MOST_NAMES = 15
MOST_LEVELS = 10


class LookUpPerson:
    """Tells who somebody is: for people of the company, about people of the company.

    Of groups only those are named that the asker, and everybody who listens, belongs to as well.
    Of people who left nothing is told but that they did.
    """

    name = "look_up_person"
    description = (
        "Look up colleagues by name, e-mail, title or department: both names, e-mail, department, "
        "title, manager, reports, line upwards. Needed for anybody's e-mail address."
    )
    parameters: ClassVar[JsonSchema] = {
        "type": "object",
        "properties": {"person": {"type": "string", "minLength": 1, "maxLength": 100}},
        "required": ["person"],
        "additionalProperties": False,
    }
    timeout_s = 5.0

    def is_offered_to(self, caller: Caller) -> bool:
        """See `Tool`: guests and strangers get no directory."""
        return caller.has_any({MEMBERS})

    async def run(self, arguments: Mapping[str, JsonValue], caller: Caller) -> ToolResult:
        """See `Tool`. The best kind of match alone counts: a full name before a part of one."""
        wanted = str(arguments["person"])
        found = _find_people(wanted, caller)
        is_alone = not caller.everybody_has_any({MEMBERS})
        if not found:
            return ToolResult(
                text="Nobody by that name.", has_found=False, is_for_asker_alone=is_alone
            )
        shown = found[:MOST_PEOPLE]
        rows = tuple(_describe(one, caller) for one in shown)
        text = "\n\n".join(_put_into_words(row, wanted) for row in rows)
        notes = (f"{len(found)} people match",) if len(found) > 1 else ()
        return ToolResult(text=text, rows=rows, is_for_asker_alone=is_alone, notes=notes)


def _find_people(wanted: str, caller: Caller) -> list[Person]:
    directory = caller.directory
    if direct := directory.find_person(wanted.strip()):
        return [direct]
    folded = _squeeze(wanted)
    people = sorted(directory.people.values(), key=lambda one: (not one.is_active, one.person_id))
    for is_match in _KINDS_OF_MATCH if folded else ():
        if found := [one for one in people if is_match(one, folded)]:
            return found
    return []


def _has_name(person: Person, folded: str) -> bool:
    return folded in {_squeeze(person.name), _squeeze(person.name_en)}


def _has_part_of_name(person: Person, folded: str) -> bool:
    names = filter(None, (_squeeze(person.name), _squeeze(person.name_en)))
    return any(folded in name or name in folded for name in names)


def _has_title(person: Person, folded: str) -> bool:
    return _is_here(person) and folded == _squeeze(person.title)


def _has_part_of_title(person: Person, folded: str) -> bool:
    return _is_here(person) and folded in _squeeze(f"{person.department} {person.title}")


_KINDS_OF_MATCH = (_has_name, _has_part_of_name, _has_title, _has_part_of_title)


def _describe(person: Person, caller: Caller) -> Mapping[str, JsonValue]:
    row: dict[str, JsonValue] = {"id": person.person_id, "name": person.name}
    if person.name_en:
        row["name_en"] = person.name_en
    if not _is_here(person):
        return row | {"left": True}
    people = caller.directory.people
    row |= {"email": person.email, "department": person.department, "title": person.title}
    if person.employment is not Employment.EMPLOYEE:
        row["employment"] = person.employment.value
    if line := _find_line(person, caller):
        row["manager"] = _name(line[0])
        row["line"] = [_name(one) for one in line]
    reports = [one for one in people.values() if one.manager == person.person_id and _is_here(one)]
    row["reports"] = _names(reports)
    row["groups"] = [*sorted(_find_groups(person, caller))]
    return {key: value for key, value in row.items() if value}


def _find_line(person: Person, caller: Caller) -> list[Person]:
    """Return the managers upwards; a circle ends it."""
    line: list[Person] = []
    seen = {person.person_id}
    above = person.manager
    while above and above not in seen and len(line) < MOST_LEVELS:
        seen.add(above)
        manager = caller.directory.people.get(above)
        if manager is None:
            break
        line.append(manager)
        above = manager.manager
    return line


def _find_groups(person: Person, caller: Caller) -> Iterable[str]:
    for group in caller.directory.content.groups:
        is_theirs = person.person_id in group.members
        principal = {group.principal}
        if is_theirs and caller.has_any(principal) and caller.everybody_has_any(principal):
            yield group.name


def _is_here(person: Person) -> bool:
    return person.is_active and person.employment is not Employment.FORMER


def _names(people: Sequence[Person]) -> list[JsonValue]:
    return [_name(one) for one in sorted(people, key=lambda one: one.person_id)[:MOST_NAMES]]


def _name(person: Person) -> str:
    return f"{person.name} ({person.name_en})" if person.name_en else person.name


_LABELS = {
    "zh": {
        "email": "邮箱",
        "department": "部门",
        "title": "职位",
        "employment": "用工类型",
        "manager": "直属上级",
        "line": "汇报线",
        "reports": "直接下属",
        "groups": "共同所在的群组",
        "left": "已离职",
    },
    "en": {
        "email": "e-mail",
        "department": "department",
        "title": "title",
        "employment": "employment",
        "manager": "manager",
        "line": "line upwards",
        "reports": "direct reports",
        "groups": "groups in common",
        "left": "has left",
    },
}


def _put_into_words(row: Mapping[str, JsonValue], wanted: str) -> str:
    language = detect_language(wanted)
    labels = _LABELS[language]
    colon, comma = ("：", "、") if language == "zh" else (": ", ", ")
    name = f"{row['name']} ({row['name_en']})" if "name_en" in row else str(row["name"])
    lines = [f"**{name}**"]
    for key, label in labels.items():
        value = row.get(key)
        if value is True:
            lines.append(f"- {label}")
        elif isinstance(value, list):
            joiner = " → " if key == "line" else comma
            lines.append(f"- {label}{colon}{joiner.join(str(one) for one in value)}")
        elif value:
            lines.append(f"- {label}{colon}{value}")
    return "\n".join(lines)


def _squeeze(text: str) -> str:
    return "".join(fold(text).split()).replace(".", "").replace("·", "")

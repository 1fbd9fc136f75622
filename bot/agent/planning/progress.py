"""How far a matter has come: its step, what pages say of the steps, and whether a place is reached.

Steps are either named (`FINANCE`) or codes that pages explain (`N1`, `N2`, ...), in their order.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.agent.name_index import NameIndex
from bot.agent.records.catalogue import Table
from bot.agent.records.vocabulary import Concepts, Vocabulary
from knowledge.analysis import fold
from knowledge.documents import Hit
from knowledge.people import Person, PersonId
from knowledge.retrieval import Evidence

_CODE = re.compile(r"[A-Z]{1,4}-?\d{1,3}")
_HAN = re.compile(r"[\u3400-\u9fff]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Where a row stands.

    Attributes:
        values: Every step there is, in the order of their codes.
    """

    value: str
    values: tuple[str, ...]

    @property
    def is_code(self) -> bool:
        """Its name says nothing by itself."""
        return _CODE.fullmatch(self.value) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    """The line of a page that explains one step."""

    text: str
    hit: Hit


def find_step(row: Mapping[str, Any], table: Table) -> Step | None:
    """Return the step a row is at; None when its table has no such column."""
    for concept in ("step", "status"):
        for column in table.columns.values():
            value = row.get(column.name)
            if concept in column.concepts and column.is_category and isinstance(value, str):
                return Step(value=value, values=tuple(sorted(column.values)))
    return None


def read_steps(step: Step, evidence: Sequence[Evidence]) -> dict[str, StepLine]:
    """Return what pages say of each step: the first line that names it and no other one."""
    codes = [value for value in step.values if _CODE.fullmatch(value)]
    found: dict[str, StepLine] = {}
    for one in evidence:
        for line in one.section_text.split("\n"):
            named = [code for code in codes if re.search(rf"(?<!\w){re.escape(code)}(?!\w)", line)]
            if len(named) == 1 and named[0] not in found:
                found[named[0]] = StepLine(text=line.strip(), hit=one.hit)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceReader:
    """Tells whether a line is about a place: it names it, or somebody who works there."""

    vocabulary: Vocabulary
    names: NameIndex
    people: Mapping[PersonId, Person]

    def is_at(self, place: str, text: str) -> bool:
        """Tell whether the place is named in either language, or one of its people is."""
        if self.speaks_of(place, text):
            return True
        concepts = _read_place(place, self.vocabulary)
        return any(
            concepts & self.vocabulary.read_name(self.people[one.people[0]].department)
            for one in self.names.find(text)
            if len(one.people) == 1
        )

    def speaks_of(self, place: str, text: str) -> bool:
        """Tell whether a text names a place, in either language."""
        folded = fold(text)
        known = _read_place(place, self.vocabulary)
        words = [place]
        words += [phrase for phrase, named in self.vocabulary.han.items() if named == known]
        words += [" ".join(key) for key, named in self.vocabulary.latin.items() if named == known]
        return any(fold(word) in folded for word in words if len(word) > 1)


def has_reached(
    place: str, step: Step, lines: Mapping[str, StepLine], reader: PlaceReader
) -> bool | None:
    """Tell whether a matter has come to a place, or beyond; None when nobody can tell."""
    vocabulary = reader.vocabulary
    concepts = _read_place(place, vocabulary)
    if not step.is_code:
        if concepts & vocabulary.read_name(step.value):
            return True
        is_a_step = any(concepts & vocabulary.read_name(value) for value in step.values)
        return False if is_a_step else None
    order = [value for value in step.values if _CODE.fullmatch(value)]
    there = [code for code in order if code in lines and reader.is_at(place, lines[code].text)]
    return order.index(step.value) >= order.index(there[0]) if there else None


def _read_place(place: str, vocabulary: Vocabulary) -> Concepts:
    whole = vocabulary.read_phrase(place)
    if whole or not _HAN.search(place):
        return whole or vocabulary.read_name(place)
    # "财务部门" begins with what it is about.
    for size in range(len(place) - 1, 1, -1):
        if known := vocabulary.han.get(place[:size]):
            return known
    return frozenset()

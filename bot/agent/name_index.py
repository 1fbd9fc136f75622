"""People as questions name them: in either language, in full or by a name nobody else has. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self
from weakref import WeakKeyDictionary

from knowledge.analysis import fold
from knowledge.people import DirectorySnapshot, Employment, PersonId

_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[a-z][a-z'-]*", re.IGNORECASE)
_ADDRESS = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_SHORTEST_HAN = 2
_LONGEST_HAN = 6
_MOST_WORDS = 4
# What is put behind a family name among colleagues.
_POLITE = ("总", "老师", "经理", "工")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPeople:
    """A place in a text that names somebody.

    Attributes:
        people: More than one where the name fits several.
    """

    start: int
    end: int
    text: str
    people: tuple[PersonId, ...]


_KNOWN: WeakKeyDictionary[DirectorySnapshot, "NameIndex"] = WeakKeyDictionary()


class NameIndex:
    """Finds the directory's people in texts."""

    def __init__(self, directory: DirectorySnapshot) -> None:
        """Take the people of the company as they are now; who has left is nobody to write to."""
        self._han: dict[str, set[PersonId]] = defaultdict(set)
        self._latin: dict[tuple[str, ...], set[PersonId]] = defaultdict(set)
        self._emails: dict[str, PersonId] = {}
        for person in directory.people.values():
            if not person.is_active or person.employment is Employment.FORMER:
                continue
            for name in (person.name, person.name_en):
                self._add(name, person.person_id)
            if person.email:
                self._emails[person.email.casefold()] = person.person_id

    @classmethod
    def of(cls, directory: DirectorySnapshot) -> Self:
        """Return the index of a snapshot, made once as long as the snapshot lives."""
        found = _KNOWN.get(directory)
        if not isinstance(found, cls):
            found = _KNOWN[directory] = cls(directory)
        return found

    def find(self, text: str) -> list[NamedPeople]:
        """Return who is named, in order, the longest name at each place."""
        found: list[NamedPeople] = []
        end = 0
        for one in sorted(self._candidates(text), key=lambda c: (c.start, c.start - c.end)):
            if one.start >= end:
                found.append(one)
                end = one.end
        return found

    def _add(self, name: str, person: PersonId) -> None:
        folded = fold(name).strip()
        if not folded:
            return
        if _HAN.search(folded):
            self._han[folded.replace(" ", "")].add(person)
            return
        words = tuple(_WORD.findall(folded))
        self._latin[words].add(person)
        if len(words) > 1:
            self._latin[tuple(reversed(words))].add(person)
            # A first name alone is how colleagues write; it may fit several.
            self._latin[words[:1]].add(person)

    def _candidates(self, text: str) -> Iterator[NamedPeople]:
        folded = text.casefold()
        for match in _ADDRESS.finditer(text):
            owner = self._emails.get(match.group().casefold())
            if owner is not None:
                yield self._name(text, match.start(), match.end(), {owner})
        for start, letter in enumerate(folded):
            if not _HAN.match(letter):
                continue
            for size in range(_LONGEST_HAN, _SHORTEST_HAN - 1, -1):
                people = self._han.get(folded[start : start + size])
                if people:
                    yield self._name(text, start, start + size, people)
                    break
        words = list(_WORD.finditer(folded))
        for index in range(len(words)):
            for size in range(min(_MOST_WORDS, len(words) - index), 0, -1):
                group = words[index : index + size]
                people = self._latin.get(tuple(_plain(word.group()) for word in group))
                if people and _is_written_as_name(text, group):
                    end = group[-1].start() + len(_plain(group[-1].group()))
                    yield self._name(text, group[0].start(), end, people)
                    break

    def _name(self, text: str, start: int, end: int, people: set[PersonId]) -> NamedPeople:
        for title in _POLITE:
            if text.startswith(title, end):
                end += len(title)
                break
        return NamedPeople(start=start, end=end, text=text[start:end], people=tuple(sorted(people)))


def _plain(word: str) -> str:
    return word.removesuffix("'s")


def _is_written_as_name(text: str, words: "list[re.Match[str]]") -> bool:
    """Tell names from common words: "Will" is somebody, "will" is not."""
    return len(words) > 1 or text[words[0].start()].isupper()

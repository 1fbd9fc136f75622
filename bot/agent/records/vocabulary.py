"""What words of questions, schemas and stored values have in common, in both languages. Pure.

A word stands for concepts. Words the list does not know are concepts of their own, by their stem.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from knowledge.analysis import fold
from knowledge.stemming import stem
from knowledge.stop_words import STOP_WORDS

Concepts = frozenset[str]

_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
_WORD = re.compile(r"[a-z][a-z&'-]*[a-z]|[a-z]|\d+|[\u3400-\u9fff]+", re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u9fff]")
# Endings of column names that tell the form of a value, not what it is.
_FORMS = frozenset({"id", "no", "at", "on", "date", "time", "cny", "usd", "eur", "gb", "mb", "en"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Phrases and the concepts they stand for.

    Attributes:
        han: Chinese phrases.
        latin: English phrases, by their stemmed words.
        longest: Words of the longest English phrase.
    """

    han: Mapping[str, Concepts]
    latin: Mapping[tuple[str, ...], Concepts]
    longest: int

    def extended(self, groups: Iterable[Sequence[str]]) -> "Vocabulary":
        """Take in groups of words that mean the same, as companies list their own."""
        han, latin = dict(self.han), dict(self.latin)
        for group in groups:
            known = [self.read_phrase(phrase) for phrase in group]
            concepts = frozenset[str]().union(*(one for one in known if one))
            for phrase in group:
                _add(han, latin, phrase, concepts or frozenset({fold(group[0]).strip()}))
        return Vocabulary(han=han, latin=latin, longest=max(map(len, latin), default=1))

    def read_phrase(self, phrase: str) -> Concepts:
        """Return the concepts of a whole phrase of the list; nothing when it is not in it."""
        folded = fold(phrase).strip()
        if _HAN.search(folded):
            return self.han.get(folded, frozenset())
        return self.latin.get(tuple(map(stem, folded.split())), frozenset())

    def read_name(self, name: str) -> Concepts:
        """Return the concepts of a table's, column's or value's name, such as `signed_date`.

        What only tells the form of a value (`_at`, `_cny`) counts when nothing else is there.
        """
        words = list(_WORD.findall(_CAMEL.sub(" ", name).replace("_", " ")))
        concepts: set[str] = set()
        plain: set[str] = set()
        place = 0
        folded = [fold(word) for word in words]
        while place < len(folded):
            taken = next(
                (
                    (size, self.latin[key])
                    for size in range(min(self.longest, len(folded) - place), 0, -1)
                    if (key := tuple(map(stem, folded[place : place + size]))) in self.latin
                ),
                None,
            )
            if taken is None:
                word = folded[place]
                known = self.han.get(word)
                target = plain if word in _FORMS else concepts
                target |= known if known else {stem(word)} - STOP_WORDS
                place += 1
            else:
                concepts |= taken[1]
                place += taken[0]
        return frozenset(concepts or plain)


@cache
def load_vocabulary() -> Vocabulary:
    """Load the list that comes with the package."""
    text = files("bot.agent.records").joinpath("vocabulary.tsv").read_text(encoding="utf-8")
    han: dict[str, Concepts] = {}
    latin: dict[tuple[str, ...], Concepts] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        names, english, chinese = line.split("\t")
        concepts = frozenset(names.split("+"))
        for phrase in (*english.split(","), *chinese.split(",")):
            _add(han, latin, phrase, concepts)
    return Vocabulary(han=han, latin=latin, longest=max(map(len, latin)))


def _add(
    han: dict[str, Concepts],
    latin: dict[tuple[str, ...], Concepts],
    phrase: str,
    concepts: Concepts,
) -> None:
    folded = fold(phrase).strip()
    if not folded:
        return
    if _HAN.search(folded):
        han[folded] = han.get(folded, frozenset()) | concepts
    else:
        key = tuple(map(stem, folded.split()))
        latin[key] = latin.get(key, frozenset()) | concepts

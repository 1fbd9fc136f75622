"""A question cut into what it mentions: words of the vocabulary, stored values, people, periods."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.agent.name_index import NameIndex
from bot.agent.records.catalogue import Catalogue
from bot.agent.records.periods import Period, find_periods
from bot.agent.records.signs import FoundSign, Sign, find_signs
from bot.agent.records.vocabulary import Concepts, Vocabulary
from bot.rag.numerals import fold_width
from knowledge.people import PersonId
from knowledge.stemming import stem
from knowledge.stop_words import STOP_WORDS, TASK_WORDS

_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[a-z0-9][a-z0-9&_./-]*[a-z0-9]|[a-z0-9]", re.IGNORECASE)
_LONGEST_HAN = 12
_MOST_WORDS = 5
_HAN_WEIGHT = 2
_SHORTEST_PART = 4
_FILLER_HAN = re.compile(
    "的|了|着|过|在|是|有|和|与|及|或|把|被|给|跟|请|吗|呢|吧|啊|呀|嘛|现在|目前|当前|一下|全公司|全部|所有|公司"
    "|咱们|我们|帮我|查|看看|看|里|中|上|下|内|外|到|这|那|个|台|份|家|条|位|名|张|笔|项|次|件|套|为止|还|都|也|就"
    "|没|不|要|想|知道|告诉|麻烦|各|来|去|从|由|对|向|共|处于|情况|属于|之"
)
_FILLER_LATIN = frozenset(
    {"a", "an", "the", "of", "in", "on", "at", "for", "to", "from", "by", "with", "and", "or", "is"}
    | {"are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "not", "it"}
    | {"its", "our", "we", "us", "you", "your", "this", "that", "these", "those", "there", "still"}
    | {"please", "currently", "now", "right", "so", "far", "all", "company", "whole", "across"}
    | {"overall"}
)

_NONE: Concepts = frozenset()

StoredValue = tuple[str, str, str]
"""Table, column, value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One place of a question.

    Attributes:
        concepts: What the words stand for; none for values and people.
        values: The stored values that are named, wherever they occur.
        people: Who may be meant.
        period: When.
        weight: How much of the question it is.
    """

    start: int
    end: int
    text: str
    weight: int
    concepts: Concepts = frozenset()
    values: tuple[StoredValue, ...] = ()
    people: tuple[PersonId, ...] = ()
    period: Period | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadQuestion:
    """A question as far as its words are known.

    Attributes:
        unknown: Words that say something nobody knows.
        unknown_weight: How much of the question these are.
    """

    text: str
    mentions: tuple[Mention, ...]
    signs: tuple[FoundSign, ...]
    unknown: tuple[str, ...]
    unknown_weight: int

    def has(self, *signs: Sign) -> bool:
        """Tell whether the wording asks for one of these."""
        return any(one.sign in signs for one in self.signs)


class ValueIndex:
    """Stored values by what is written of them: in full, or the first word when it is one's own."""

    def __init__(self, catalogue: Catalogue, *, closed: Iterable[str] = ()) -> None:
        """Prepare.

        Args:
            catalogue: The tables.
            closed: Tables of which not everybody sees every row: of these only categories count,
                so that nobody learns from how a question is understood what rows there are.
        """
        self._whole: dict[str, list[StoredValue]] = defaultdict(list)
        parts: dict[str, set[StoredValue]] = defaultdict(set)
        hidden = frozenset(closed)
        for table in catalogue.values():
            for column in table.columns.values():
                if column.is_people or (table.name in hidden and not column.is_category):
                    continue
                is_label = column in table.labels
                for value in column.values:
                    folded = fold_width(value).casefold()
                    self._whole[folded].append((table.name, column.name, value))
                    if is_label and (part := _first_part(folded)):
                        parts[part].add((table.name, column.name, value))
        # One row may bear its name in two languages: that is one row still.
        self._parts = {part: sorted(values) for part, values in parts.items() if len(values) == 1}

    def find(self, text: str) -> tuple[StoredValue, ...]:
        """Return the values written so."""
        return tuple(self._whole.get(text, ()))

    def find_by_part(self, text: str) -> tuple[StoredValue, ...]:
        """Return the only row that begins so."""
        return tuple(self._parts.get(text, ()))


def _first_part(value: str) -> str:
    if _HAN.match(value):
        return value[:2] if len(value) > 2 and _HAN.match(value[1]) else ""  # noqa: PLR2004
    words = value.split()
    return words[0] if len(words) > 1 and len(words[0]) >= _SHORTEST_PART else ""


def read_question(
    question: str, vocabulary: Vocabulary, values: ValueIndex, names: NameIndex, now: datetime
) -> ReadQuestion:
    """Cut a question into mentions that do not overlap, the longest first."""
    text = fold_width(question).casefold()
    if len(text) != len(question):
        question = text
    signs = tuple(find_signs(question))
    candidates = [
        *_find_periods(question, now),
        *_find_people(question, names),
        *_find_words(text, vocabulary, values),
    ]
    chosen: list[Mention] = []
    for one in sorted(candidates, key=_precedence):
        if not any(one.start < other.end and other.start < one.end for other in chosen):
            chosen.append(one)
    chosen.sort(key=lambda one: one.start)
    unknown = list(_find_unknown(text, chosen, signs))
    return ReadQuestion(
        text=question,
        mentions=tuple(chosen),
        signs=signs,
        unknown=tuple(unknown),
        unknown_weight=sum(map(weigh, unknown)),
    )


def weigh(text: str) -> int:
    """Return how much a text says: a Chinese character as much as two letters."""
    return sum(_HAN_WEIGHT if _HAN.match(letter) else letter.isalnum() for letter in text)


def _precedence(one: Mention) -> tuple[int, int, int]:
    rank = 0 if one.period else 1 if one.values else 2 if one.people else 3
    return (-(one.end - one.start), rank, one.start)


def _find_periods(question: str, now: datetime) -> Iterator[Mention]:
    for period in find_periods(question, now):
        text = question[period.from_char : period.to_char]
        yield Mention(
            start=period.from_char,
            end=period.to_char,
            text=text,
            weight=weigh(text),
            period=period,
        )


def _find_people(question: str, names: NameIndex) -> Iterator[Mention]:
    for one in names.find(question):
        yield Mention(
            start=one.start,
            end=one.end,
            text=one.text,
            weight=weigh(one.text),
            people=one.people,
        )


def _find_words(text: str, vocabulary: Vocabulary, values: ValueIndex) -> Iterator[Mention]:
    for start, letter in enumerate(text):
        if _HAN.match(letter):
            for end in range(start + 1, min(len(text), start + _LONGEST_HAN) + 1):
                phrase = text[start:end]
                yield from _read_span(start, end, phrase, vocabulary.han.get(phrase, _NONE), values)
    words = list(_LATIN.finditer(text))
    for index in range(len(words)):
        for size in range(1, min(_MOST_WORDS, len(words) - index) + 1):
            group = words[index : index + size]
            start, end = group[0].start(), group[-1].end()
            phrase = text[start:end]
            if _HAN.search(phrase):
                break
            key = tuple(stem(word.group()) for word in group)
            yield from _read_span(start, end, phrase, vocabulary.latin.get(key, _NONE), values)


def _read_span(
    start: int, end: int, phrase: str, concepts: Concepts, values: ValueIndex
) -> Iterator[Mention]:
    stored = () if phrase in _FILLER_LATIN else values.find(phrase)
    # A word of its own is no short form of a name.
    if not stored and not concepts:
        stored = values.find_by_part(phrase)
    if stored or concepts:
        yield Mention(
            start=start,
            end=end,
            text=phrase,
            weight=weigh(phrase),
            concepts=concepts,
            values=stored,
        )


def _find_unknown(
    text: str, mentions: Sequence[Mention], signs: Sequence[FoundSign]
) -> Iterator[str]:
    """Yield the words that are neither mentioned things nor wording."""
    letters = list(text)
    spans = [(one.start, one.end) for one in mentions] + [(one.start, one.end) for one in signs]
    for start, end in spans:
        letters[start:end] = " " * (end - start)
    rest = "".join(letters)
    for word in _LATIN.findall(rest):
        plain = word.lower()
        if plain not in _FILLER_LATIN and stem(plain) not in STOP_WORDS | TASK_WORDS:
            yield word
    for run in re.findall(r"[\u3400-\u9fff]+", rest):
        kept = _FILLER_HAN.sub("", run)
        if kept and kept not in STOP_WORDS | TASK_WORDS:
            yield kept

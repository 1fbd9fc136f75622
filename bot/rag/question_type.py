"""What a question asks for: the type of its answer, how it wants it, and of which time."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.rag.language import Language, detect_language
from bot.rag.moments import find_moment
from bot.rag.question_patterns import (
    AND_BEFORE,
    AS_OF,
    COMPARES,
    HISTORY,
    HISTORY_WORDS,
    IN_THE_PAST,
    MANY,
    TYPES,
)
from bot.rag.values import ValueKind, extract_values


class AnswerType(StrEnum):
    """What the answer consists of."""

    MONEY = "money"
    PERCENT = "percent"
    DURATION = "duration"
    TIME = "time"
    DATE = "date"
    NUMBER = "number"
    PERSON = "person"
    PLACE = "place"
    CODE = "code"
    COMMAND = "command"
    HOW_TO = "how_to"
    REASON = "reason"
    LIST = "list"
    DEFINITION = "definition"
    YES_NO = "yes_no"


class HistoryKind(StrEnum):
    """Which state of a page a question is about, when not today's."""

    AS_OF = "as_of"
    AT = "at"
    PREVIOUS = "previous"
    CHANGE_TIME = "change_time"
    ALL_STATES = "all_states"


# The kinds of values that answer a type; several where people mix them up.
VALUE_KINDS: dict[AnswerType, frozenset[ValueKind]] = {
    AnswerType.MONEY: frozenset({ValueKind.MONEY}),
    AnswerType.PERCENT: frozenset({ValueKind.PERCENT}),
    AnswerType.DURATION: frozenset({ValueKind.DURATION}),
    AnswerType.TIME: frozenset({ValueKind.TIME}),
    AnswerType.DATE: frozenset({ValueKind.DATE, ValueKind.TIME}),
    AnswerType.NUMBER: frozenset(ValueKind) - {ValueKind.DATE, ValueKind.TIME},
}

_TYPES = tuple(
    (AnswerType(name), re.compile(pattern, re.IGNORECASE)) for name, pattern in TYPES.items()
)
_HISTORY = tuple(
    (HistoryKind(name), re.compile(pattern, re.IGNORECASE)) for name, pattern in HISTORY.items()
)


_MOMENT_WORDS = re.compile(
    r"的时候|那会儿?|底时|\b(?:in|on|during|until)(?=\s*(?:,|$|\?))", re.IGNORECASE
)
_PARTICLES = re.compile(r"[\W呢吗的是]")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnalysis:
    """What is known of a question from its wording alone.

    Attributes:
        types: What the answer consists of, the most telling first; empty = no clue.
        is_comparison: Two or more subjects are set side by side.
        wants_all: Everything that fits is asked for, not one item.
        history: Which states of a page are asked for; empty = today's. `at` = perhaps that of a
            moment: "what was the limit in March 2025?", unless pages of today tell it.
        as_of: The moment a question looks back to, the end of the period it names.
    """

    language: Language
    types: tuple[AnswerType, ...]
    is_comparison: bool
    wants_all: bool
    history: tuple[HistoryKind, ...]
    as_of: datetime | None = None

    @property
    def value_kinds(self) -> frozenset[ValueKind]:
        """The kinds of values that may answer; empty when the answer is no value."""
        kinds: frozenset[ValueKind] = frozenset()
        for answer_type in self.types:
            kinds |= VALUE_KINDS.get(answer_type, frozenset())
        # When something changed is told by the versions, not by a date on the page.
        if HistoryKind.CHANGE_TIME in self.history:
            kinds -= VALUE_KINDS[AnswerType.DATE]
        return kinds

    @property
    def is_about_past(self) -> bool:
        """Tell whether the question is certainly about another state than today's."""
        return bool(set(self.history) - {HistoryKind.AT})

    def asks_for(self, *types: AnswerType) -> bool:
        """Tell whether one of the types is asked for."""
        return any(answer_type in self.types for answer_type in types)


def analyse_question(question: str, *, now: datetime | None = None) -> QuestionAnalysis:
    """Read a question's wording, Chinese or English.

    Args:
        question: As it was put, or with what a follow-up leaves out filled in.
        now: What "last month" and a month without a year are counted from; None = such are no
            moments.
    """
    types = [kind for kind, pattern in _TYPES if pattern.search(question)]
    history = [kind for kind, pattern in _HISTORY if pattern.search(question)]
    if AND_BEFORE.search(question) and HistoryKind.PREVIOUS not in history:
        history.append(HistoryKind.PREVIOUS)
    as_of = None
    if AS_OF.search(question):
        as_of = find_moment(question, now)
        if as_of is not None and not history:
            history.append(HistoryKind.AS_OF)
    elif not history and IN_THE_PAST.search(question):
        as_of = find_moment(question, now)
        if as_of is not None:
            history.append(HistoryKind.AT)
    return QuestionAnalysis(
        language=detect_language(question),
        types=tuple(_drop_implied(types)),
        is_comparison=bool(COMPARES.search(question)),
        wants_all=bool(MANY.search(question)),
        history=tuple(history),
        as_of=as_of,
    )


def build_search_words(question: str, analysis: QuestionAnalysis) -> str:
    """Return what to search for: the question, without what only places it in time.

    "What was the limit before it was changed?" is answered by the page that gives the limit today;
    its past is then followed from there.
    """
    if not analysis.is_about_past:
        return question
    words = " ".join(HISTORY_WORDS.sub(" ", question).split())
    named = _PARTICLES.sub("", words)
    return words if len(named) * 3 >= len(question) else question


def drop_moment(question: str) -> str:
    """Return a question without the dates in it, and without what only places it in time."""
    for value in reversed([one for one in extract_values(question) if one.date]):
        question = f"{question[: value.start]} {question[value.end :]}"
    return " ".join(HISTORY_WORDS.sub(" ", _MOMENT_WORDS.sub(" ", question)).split())


def _drop_implied(types: list[AnswerType]) -> list[AnswerType]:
    """Leave out the general type where a particular one of the same words was found."""
    particular = {AnswerType.MONEY, AnswerType.PERCENT, AnswerType.DURATION}
    if particular & set(types) and AnswerType.NUMBER in types:
        types.remove(AnswerType.NUMBER)
    if len(types) > 1 and AnswerType.DEFINITION in types:
        types.remove(AnswerType.DEFINITION)
    return types

"""Write actions as a model may ask for them: drafts, with where each value comes from."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from pydantic import JsonValue

from bot.agent.actions import Parameters
from bot.agent.caller import Caller
from bot.agent.tools import JsonSchema
from bot.rag.values import extract_values
from core.errors import ToolRetryError
from knowledge.analysis import fold


class ProposableSkill(Protocol):
    """A write skill as the agent sees it: something to draft, never to run."""

    @property
    def name(self) -> str:
        """Its name, as in `proposed_action.skill`."""
        ...

    @property
    def description(self) -> str:
        """What it does and when to use it, for a model."""
        ...

    @property
    def parameters(self) -> JsonSchema:
        """JSON Schema of its parameters, an object."""
        ...

    def is_offered_to(self, caller: Caller) -> bool:
        """Tell whether this person may use it at all; else it is neither offered nor callable."""
        ...

    def normalise(self, parameters: Mapping[str, JsonValue]) -> Parameters:
        """Return the parameters in canonical form.

        Raises:
            PermanentError: They can't be used; the message says what to mend.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A draft that waits for a person.

    Attributes:
        from_pages: Names of parameters that hold a value read on a page or in another system.
        by_model: Names of parameters that hold text neither the person nor a result has.
    """

    skill: str
    parameters: Parameters
    from_pages: frozenset[str]
    by_model: frozenset[str]


# What acts on somebody or leads somewhere; such a value is never a model's own.
_ADDRESS = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_URL = re.compile(r"\b(?:https?|ftp)://[^\s<>\"'）)】]+|\bwww\.[^\s<>\"'）)】]+", re.IGNORECASE)
_VALUE = re.compile(r"\d[\d,.:/-]*\d|\d|[A-Za-z]+[-_]?\d[\w-]*")
_PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# One to twelve, and what days, weeks, months, years, hours and shares are counted by.
_COMMON_NUMBERS = frozenset(
    map(Decimal, (*range(13), 24, 30, 31, 52, 60, 100, 360, 365, 366, 1000, 10_000, 1_000_000))
)
_GROUPS = re.compile(r"(?<=\d),(?=\d{3})")
_BLANKS = re.compile(r"\s+")
# A run of characters this long that stands in a result was read there.
_COPIED_CHARS = 16


class Origins:
    """Tells by value where what a model wrote into a draft comes from.

    What the person said themselves is theirs, wherever else it may stand.
    """

    def __init__(self, *, said: Iterable[str], found: Iterable[str]) -> None:
        """Prepare.

        Args:
            said: The person's own words, and what is known of themselves.
            found: Every text of pages and other systems that the model was shown.
        """
        self._said = _squeeze("\n".join(said))
        self._found = _squeeze("\n".join(found))

    def check_addresses(self, parameters: Mapping[str, JsonValue]) -> None:
        """Refuse addresses that neither the person nor a result has.

        Raises:
            ToolRetryError: An e-mail address or URL was made up.
        """
        for name, value in parameters.items():
            for text in _list_texts(value):
                for address in (*_ADDRESS.findall(text), *_URL.findall(text)):
                    if not self._is_said(address) and not self._is_found(address):
                        raise ToolRetryError(
                            f"{address!r} in {name!r} stands neither in the question nor in a "
                            "result; look it up, or leave it out"
                        )

    def check_numbers(self, expression: str) -> None:
        """Refuse sums over numbers that neither the question nor a result has.

        Raises:
            ToolRetryError: A number was made up; what units and shares need is known to all.
        """
        known = {value.amount for value in extract_values(f"{self._said}\n{self._found}")}
        known |= {Decimal(one) for one in _PLAIN_NUMBER.findall(f"{self._said} {self._found}")}
        for number in _PLAIN_NUMBER.findall(expression):
            amount = Decimal(number)
            if amount not in known and amount not in _COMMON_NUMBERS:
                raise ToolRetryError(
                    f"{number} stands neither in the question nor in a result; look it up first"
                )

    def find_marks(
        self, parameters: Mapping[str, JsonValue]
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names of parameters with values from results, and with a model's own."""
        from_pages, by_model = set(), set()
        for name, value in parameters.items():
            for text in _list_texts(value):
                if self._is_said(text):
                    continue
                if self._is_found(text) or self._holds_found(text):
                    from_pages.add(name)
                if not self._is_found(text):
                    by_model.add(name)
        return frozenset(from_pages), frozenset(by_model)

    def _is_said(self, text: str) -> bool:
        return _stands_in(_squeeze(text), self._said)

    def _is_found(self, text: str) -> bool:
        return _stands_in(_squeeze(text), self._found)

    def _holds_found(self, text: str) -> bool:
        """Tell whether part of a text was read: an address, a value, or a run of words."""
        pieces = (*_ADDRESS.findall(text), *_URL.findall(text), *_VALUE.findall(text))
        if any(self._is_found(one) and not self._is_said(one) for one in pieces):
            return True
        squeezed = _squeeze(text)
        runs = (
            squeezed[start : start + _COPIED_CHARS]
            for start in range(max(0, len(squeezed) - _COPIED_CHARS + 1))
        )
        return any(run in self._found and run not in self._said for run in runs)


def _stands_in(value: str, text: str) -> bool:
    """Tell whether a value stands in a text whole: 12 is not in 120."""
    start = text.find(value) if value else -1
    while start >= 0:
        end = start + len(value)
        is_cut = (
            value[0].isalnum() and value[0].isascii() and _is_word(text[start - 1 : start])
        ) or (value[-1].isalnum() and value[-1].isascii() and _is_word(text[end : end + 1]))
        if not is_cut:
            return True
        start = text.find(value, start + 1)
    return not value


def _is_word(char: str) -> bool:
    return bool(char) and char.isalnum() and char.isascii()


def _list_texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _list_texts(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _list_texts(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _squeeze(text: str) -> str:
    """Fold a text; blanks between words stay one blank, digits stand without separators."""
    return _BLANKS.sub(" ", _GROUPS.sub("", fold(text))).strip()

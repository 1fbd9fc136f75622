"""The part of CQL that is understood: conditions joined by and, or and brackets, one order."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo


class QueryError(Exception):
    """The query is none, or uses more than is understood; the real one answers 400 as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What a query looks at."""

    content_id: str
    kind: str
    space: str
    title: str
    modified: datetime


Condition = Callable[[Item], bool]

_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\]|\\.)*\")|(?P<sign>>=|<=|!=|[=<>~(),])|(?P<word>[^\s=<>~!(),\"]+))"
)
_MINUTES = "%Y-%m-%d %H:%M"


@dataclass(slots=True)
class _Parser:
    tokens: list[tuple[str, str]]
    zone: ZoneInfo
    at: int = 0

    def parse(self) -> tuple[Condition, bool]:
        condition = self._parse_any()
        is_descending = False
        if self._is_word("order"):
            self._take("order")
            self._take("by")
            if self._next().lower() != "lastmodified":
                raise QueryError("only lastmodified can be ordered by")
            if self.at < len(self.tokens):
                is_descending = self._next().lower() == "desc"
        if self.at < len(self.tokens):
            raise QueryError(f"unexpected {self.tokens[self.at][1]!r}")
        return condition, is_descending

    def _parse_any(self) -> Condition:
        conditions = [self._parse_all()]
        while self._is_word("or"):
            self._take("or")
            conditions.append(self._parse_all())
        return lambda item: any(one(item) for one in conditions)

    def _parse_all(self) -> Condition:
        conditions = [self._parse_one()]
        while self._is_word("and"):
            self._take("and")
            conditions.append(self._parse_one())
        return lambda item: all(one(item) for one in conditions)

    def _parse_one(self) -> Condition:
        if self._peek() == "(":
            self._take("(")
            inner = self._parse_any()
            self._take(")")
            return inner
        name, sign = self._next().lower(), self._next().lower()
        if sign == "in":
            return _is_among(name, frozenset(self._parse_list()))
        value = self._next()
        if name == "lastmodified":
            return self._since(sign, value)
        if sign != "=":
            raise QueryError(f"{name} {sign} is not understood")
        return _is_among(name, frozenset({value}))

    def _parse_list(self) -> Iterator[str]:
        self._take("(")
        while True:
            yield self._next()
            if self._peek() != ",":
                break
            self._take(",")
        self._take(")")

    def _since(self, sign: str, value: str) -> Condition:
        if sign not in {">=", ">"}:
            raise QueryError(f"lastmodified {sign} is not understood")
        try:
            moment = datetime.strptime(value, _MINUTES).replace(tzinfo=self.zone)
        except ValueError as error:
            raise QueryError(f"{value!r} is no time") from error
        # Times of day that a change of the clock leaves out do not exist.
        if moment.astimezone(ZoneInfo("UTC")).astimezone(self.zone) != moment:
            raise QueryError(f"{value!r} does not exist in {self.zone.key}")
        # The index knows whole minutes.
        return lambda item: item.modified.replace(second=0, microsecond=0) >= moment

    def _is_word(self, word: str) -> bool:
        return self._peek().lower() == word

    def _peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def _next(self) -> str:
        if self.at >= len(self.tokens):
            raise QueryError("the query ends too early")
        kind, value = self.tokens[self.at]
        self.at += 1
        return re.sub(r"\\(.)", r"\1", value[1:-1]) if kind == "text" else value

    def _take(self, wanted: str) -> None:
        if self._peek().lower() != wanted:
            raise QueryError(f"{wanted!r} expected, not {self._peek()!r}")
        self.at += 1


def parse_query(text: str, zone: ZoneInfo) -> tuple[Condition, bool]:
    """Return the condition, and whether the newest come first.

    Raises:
        QueryError: It is not understood.
    """
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise QueryError(f"can't read {text[position:]!r}")
        kind = match.lastgroup or ""
        tokens.append((kind, match[kind]))
        position = match.end()
    if not tokens:
        raise QueryError("the query is empty")
    return _Parser(tokens, zone).parse()


def _is_among(name: str, values: frozenset[str]) -> Condition:
    match name:
        case "space":
            return lambda item: item.space in values
        case "type":
            return lambda item: item.kind in values
        case "id":
            return lambda item: item.content_id in values
        case "title":
            return lambda item: item.title in values
        case _:
            raise QueryError(f"field {name!r} is not understood")

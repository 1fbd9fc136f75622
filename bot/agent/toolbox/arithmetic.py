"""Sums over numbers and dates, read by a small parser of our own: nothing is ever evaluated.

Numbers are decimals, so that money adds up. A date minus a date is a number of days; a date plus
or minus a number is a date.
"""

import calendar
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from decimal import (
    ROUND_HALF_UP,
    Context,
    Decimal,
    DecimalException,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    localcontext,
)

from core.errors import ToolRetryError

Value = Decimal | date

LONGEST = 1_000
DEEPEST = 40
MOST_EXPONENT = 64
MOST_PLACES = 20
_TOKEN = re.compile(
    r"\s*(?:(?P<date>\d{4}-\d{2}-\d{2})|(?P<number>\d+(?:\.\d+)?(?:\s*%(?!\s*[\d(]))?)"
    r"|(?P<name>[a-z_]+)|(?P<sign>\*\*|[-+*/%(),]))"
)
_CONTEXT = Context(prec=34, traps=[DivisionByZero, InvalidOperation, Overflow])
_HUNDRED = Decimal(100)
_MONTHS_A_YEAR = 12
_SHOWN_PLACES = 6


def calculate(expression: str) -> Value:
    """Work an expression out: + - * / % ** ( ), percentages, dates, and `FUNCTIONS`.

    Raises:
        ToolRetryError: It can't be read or worked out; the message says why.
    """
    if len(expression) > LONGEST:
        raise ToolRetryError(f"the expression is longer than {LONGEST} characters; split it")
    with localcontext(_CONTEXT):
        try:
            return _Parser(_cut(expression)).read()
        except DivisionByZero as error:
            raise ToolRetryError("the expression divides by zero") from error
        except (DecimalException, OverflowError, ValueError) as error:
            raise ToolRetryError(f"{expression!r} can't be worked out") from error


def write_value(value: Value) -> str:
    """Write a result as people do, without an exponent or trailing zeros."""
    if isinstance(value, date):
        return value.isoformat()
    # Fractions below one keep all their digits: a rate may be small.
    is_long = abs(value) >= 1 and value != value.to_integral_value()
    if is_long and value.adjusted() < _CONTEXT.prec - _SHOWN_PLACES:
        value = value.quantize(Decimal(1).scaleb(-_SHOWN_PLACES), context=_CONTEXT)
    text = f"{value:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def _cut(expression: str) -> list[tuple[str, str]]:
    tokens = []
    place = 0
    text = expression.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ToolRetryError(
                f"{text[place:][:20]!r} is no part of an expression; write numbers without units, "
                f"dates as 2026-11-30, + - * / ( ) and {', '.join(FUNCTIONS)}"
            )
        tokens.append((match.lastgroup or "", match[match.lastgroup or 0]))
        place = match.end()
    return tokens


class _Parser:
    """Recursive descent, with a bound on how deep."""

    def __init__(self, tokens: Sequence[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0

    def read(self) -> Value:
        value = self._read_sum()
        if self._place < len(self._tokens):
            raise ToolRetryError(f"{self._tokens[self._place][1]!r} is not expected there")
        return value

    def _peek(self) -> str:
        has_more = self._place < len(self._tokens)
        return self._tokens[self._place][1] if has_more else ""

    def _take(self, *signs: str) -> str:
        if self._peek() not in signs:
            return ""
        self._place += 1
        return self._tokens[self._place - 1][1]

    def _read_sum(self) -> Value:
        value = self._read_product()
        while sign := self._take("+", "-"):
            value = _add(value, self._read_product(), is_minus=sign == "-")
        return value

    def _read_product(self) -> Value:
        value = self._read_power()
        while sign := self._take("*", "/", "%"):
            left, right = _number(value), _number(self._read_power())
            value = left * right if sign == "*" else left / right if sign == "/" else left % right
        return value

    def _read_power(self) -> Value:
        value = self._read_signed()
        if not self._take("**"):
            return value
        exponent = _number(self._read_signed())
        if abs(exponent) > MOST_EXPONENT:
            raise ToolRetryError(f"exponents go up to {MOST_EXPONENT}")
        return _number(value) ** exponent

    def _read_signed(self) -> Value:
        is_negative = False
        while sign := self._take("-", "+"):
            is_negative ^= sign == "-"
        value = self._read_atom()
        return -_number(value) if is_negative else value

    def _read_atom(self) -> Value:
        if self._place >= len(self._tokens):
            raise ToolRetryError("the expression ends too early")
        kind, text = self._tokens[self._place]
        self._place += 1
        match kind:
            case "date":
                return _read_date(text)
            case "number":
                number = Decimal(text.rstrip("% "))
                return number / _HUNDRED if text.endswith("%") else number
            case "name":
                return self._read_call(text)
            case _ if text == "(":
                return self._read_nested()[0]
            case _:
                raise ToolRetryError(f"{text!r} is not expected there")

    def _read_call(self, name: str) -> Value:
        function = FUNCTIONS.get(name)
        if function is None:
            raise ToolRetryError(f"there is no function {name!r}; known are {', '.join(FUNCTIONS)}")
        if not self._take("("):
            raise ToolRetryError(f"{name!r} needs its values in ( )")
        values = self._read_nested()
        try:
            return function(*values)
        except TypeError as error:
            raise ToolRetryError(f"{name!r} can't take {len(values)} values") from error

    def _read_nested(self) -> list[Value]:
        """Return the values up to the closing bracket."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise ToolRetryError(f"brackets may be {DEEPEST} deep; split the expression")
        values = [self._read_sum()]
        while self._take(","):
            values.append(self._read_sum())
        if not self._take(")"):
            raise ToolRetryError("a bracket is not closed")
        self._depth -= 1
        return values


def _number(value: Value) -> Decimal:
    if isinstance(value, date):
        raise ToolRetryError(f"the date {value} can't be used as a number")
    return value


def _read_date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ToolRetryError(f"{text} is no day of the calendar") from error


def _add(left: Value, right: Value, *, is_minus: bool) -> Value:
    if isinstance(left, date):
        if isinstance(right, date):
            if is_minus:
                return Decimal((left - right).days)
            raise ToolRetryError("two dates can be subtracted, not added")
        return _move(left, -right if is_minus else right)
    if isinstance(right, date):
        if is_minus:
            raise ToolRetryError("a date can't be subtracted from a number")
        return _move(right, left)
    return left - right if is_minus else left + right


def _move(day: date, days: Decimal) -> date:
    return day + timedelta(days=int(days))


def _sum(*values: Value) -> Decimal:
    return sum(map(_number, values), start=Decimal(0))


def _average(*values: Value) -> Decimal:
    return _sum(*values) / len(values)


def _smallest(*values: Value) -> Decimal:
    return min(map(_number, values))


def _largest(*values: Value) -> Decimal:
    return max(map(_number, values))


def _round(value: Value, places: Value = Decimal(0)) -> Decimal:
    digits = int(_number(places))
    if not 0 <= digits <= MOST_PLACES:
        raise ToolRetryError(f"numbers are rounded to 0 to {MOST_PLACES} places")
    return _number(value).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)


def _size(value: Value) -> Decimal:
    return abs(_number(value))


def _count_days(start: Value, end: Value) -> Decimal:
    return _number(_add(end, start, is_minus=True))


def _add_months(day: Value, months: Value) -> date:
    if not isinstance(day, date):
        raise ToolRetryError("add_months takes a date and a number of months")
    count = day.year * _MONTHS_A_YEAR + day.month - 1 + int(_number(months))
    year, month = divmod(count, _MONTHS_A_YEAR)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, last))


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "sum": _sum,
    "avg": _average,
    "min": _smallest,
    "max": _largest,
    "round": _round,
    "abs": _size,
    "days_between": _count_days,
    "add_months": _add_months,
}

"""Typed values in text: amounts with their unit, money, shares, durations, dates, times.

Chinese and English spellings of one value compare equal: 3,000 = 3000 = 三千, 12 月 28 日 =
28 Dec = 12-28, 50% = 百分之五十, two weeks = 14 天.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from bot.rag.dates import DateParts, find_dates, find_times
from bot.rag.measures import (
    CURRENCY_PATTERN,
    DURATION_UNITS,
    PERCENT,
    UNIT_PATTERN,
    find_currency,
    find_unit,
)
from bot.rag.numerals import (
    CHINESE_NUMERAL,
    ENGLISH_NUMERAL,
    MULTIPLIERS,
    fold_width,
    parse_chinese,
    parse_digits,
    parse_english,
)


class ValueKind(StrEnum):
    """What a value measures."""

    NUMBER = "number"
    COUNT = "count"
    QUANTITY = "quantity"
    MONEY = "money"
    PERCENT = "percent"
    DURATION = "duration"
    DATE = "date"
    TIME = "time"


_COUNTED = frozenset({"person", "time", "item"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value found in a text.

    Attributes:
        amount: In `unit`; minutes since midnight for a time; 0 for a date.
        unit: Canonical unit or currency; empty when none is said.
        date: The parts of a date, None for other kinds.
        start, end: Where it stands in the text.
    """

    kind: ValueKind
    amount: Decimal
    unit: str = ""
    date: DateParts | None = None
    text: str
    start: int
    end: int

    def equals(self, other: "Value") -> bool:
        """Tell whether both say the same, in whatever spelling.

        A number without a unit equals the same number with one; a year equals the number.
        """
        if self.date and other.date:
            return self.date.agrees_with(other.date)
        if self.date or other.date:
            return _equals_year(self, other)
        if self.amount != other.amount:
            return _equals_per_unit(self, other)
        if (ValueKind.TIME in (self.kind, other.kind)) and self.kind is not other.kind:
            return False
        if self.unit == other.unit:
            return True
        loose = {ValueKind.NUMBER, ValueKind.COUNT}
        return self.kind in loose or other.kind in loose


def _equals_year(one: Value, other: Value) -> bool:
    date, number = (one.date, other) if one.date else (other.date, one)
    is_year = date is not None and not date.month and not date.day
    return (
        is_year
        and number.kind is ValueKind.NUMBER
        and date is not None
        and number.amount == date.year
    )


def _equals_per_unit(one: Value, other: Value) -> bool:
    """A bare number may be an amount before conversion: the `2` of a column headed "hours"."""
    if one.kind is ValueKind.NUMBER and other.kind is not ValueKind.NUMBER:
        return one.amount == _written_amount(other)
    if other.kind is ValueKind.NUMBER and one.kind is not ValueKind.NUMBER:
        return other.amount == _written_amount(one)
    return False


def _written_amount(value: Value) -> Decimal | None:
    match = re.search(r"\d[\d,]*(?:\.\d+)?", fold_width(value.text))
    return parse_digits(match.group()) if match else None


_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
# A lone m means millions of money, metres of anything else.
_LATIN_TIMES = r"(?:k|thousand|mn|million|bn|billion|trillion|(?(cur_before)m|(?!)))(?![A-Za-z])"
_CHINESE_TIMES = "(?:[十百千]?[万亿]|百|千)"
# Codes, versions and addresses hold digits that count nothing.
_CODE = re.compile(
    r"(?<![A-Za-z\d])(?:[A-Za-z]+[-_./]?\d[\w./-]*|\d+(?:\.\d+){2,}[\w.-]*|\d+[A-Za-z]{4,}\w*"
    r"|0x[0-9a-fA-F]+)"
)
_AMOUNT = re.compile(
    rf"""
    # Spares trying every form at every letter.
    (?:(?=[\d¥￥$€£人美欧英日港新一二两三四五六七八九十百千万亿零〇半])|(?<![A-Za-z])(?=[A-Za-z]))(?:
      (?:(?P<cur_before>{CURRENCY_PATTERN})\ ?)?
      (?<![\d.A-Za-z])(?P<digits>{_DIGITS})(?![\d])
      (?:\ ?(?P<times>{_CHINESE_TIMES}|{_LATIN_TIMES}))?\+?
      (?:\ ?多?(?:(?P<cur_after>{CURRENCY_PATTERN})|[-\ ]?(?P<unit>{UNIT_PATTERN})))?
    | 百分之(?P<zh_percent>{CHINESE_NUMERAL}|{_DIGITS})
    | (?<!一)半\ ?个?(?P<half_unit>小时|钟头|天|月|年)
    | half\ an?\ (?P<half_en>hour|day|year)
    | (?P<zh>{CHINESE_NUMERAL})(?:\ ?(?:(?P<zh_cur>美元|欧元|英镑|日元|港元|新元|元|块钱)
         |(?P<zh_unit>{UNIT_PATTERN})))
    | (?P<zh_bare>[一二两三四五六七八九][十百千万亿][零一二三四五六七八九十百千万亿]*
         |十[一二三四五六七八九])
    | \b(?P<en>{ENGLISH_NUMERAL})[- ]?(?P<en_times>hundred|thousand|million)?
         (?:[-\ ](?P<en_unit>{UNIT_PATTERN}))
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_MAY_HOLD_VALUES = re.compile(
    rf"\d|[一二两三四五六七八九十百千万半]|\b(?:half|{ENGLISH_NUMERAL}|January|February|April|June|July"
    r"|August|September|October|November|December)\b",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s?(?:-|–|—|~|～|到|至|to|and)\s?", re.IGNORECASE)
# "One" as an article: 一个, 一项 say nothing of a number.
_ARTICLES = frozenset({"item"})


def extract_values(text: str) -> list[Value]:
    """Find the values of a text in reading order, none overlapping another."""
    if not _MAY_HOLD_VALUES.search(text):
        return []
    folded = fold_width(text)
    values = [
        Value(
            kind=ValueKind.DATE,
            amount=Decimal(0),
            date=parts,
            text=text[start:end],
            start=start,
            end=end,
        )
        for start, end, parts in find_dates(folded)
    ]
    folded = _blank(folded, values)
    times = [
        Value(
            kind=ValueKind.TIME,
            amount=Decimal(minutes),
            text=text[start:end],
            start=start,
            end=end,
        )
        for start, end, minutes in find_times(folded)
    ]
    folded = _blank(folded, times)
    amounts = list(_find_amounts(text, _CODE.sub(_blank_code, folded)))
    return sorted([*values, *times, *_spread_units(folded, amounts)], key=lambda v: v.start)


def is_supported(value: Value, given: Sequence[Value]) -> bool:
    """Tell whether the value occurs among the given ones.

    A date may be put together: its day from one place, its year from another.
    """
    if value.date is None:
        return any(value.equals(other) for other in given)
    wanted = value.date
    years = {other.date.year for other in given if other.date and other.date.year}
    years |= {int(other.amount) for other in given if other.kind is ValueKind.NUMBER}
    is_year_known = not wanted.year or wanted.year in years
    if not wanted.month and not wanted.day:
        return is_year_known
    core = replace(wanted, year=0)
    return is_year_known and any(
        other.date is not None
        and (not wanted.year or not other.date.year or wanted.year == other.date.year)
        and _covers(other.date, core)
        for other in given
    )


def _covers(date: DateParts, wanted: DateParts) -> bool:
    return (not wanted.month or date.month == wanted.month) and (
        not wanted.day or date.day == wanted.day
    )


def _blank(text: str, values: Sequence[Value]) -> str:
    for value in values:
        text = text[: value.start] + " " * (value.end - value.start) + text[value.end :]
    return text


def _blank_code(match: re.Match[str]) -> str:
    """Blank a code, but leave a number with a currency or unit glued to it (CNY200, $5M)."""
    text = match.group()
    glued = re.fullmatch(rf"(?:{CURRENCY_PATTERN})\d[\d.,]*(?:[kKmM]|bn)?", text)
    return text if glued else " " * len(text)


def _find_amounts(original: str, folded: str) -> Iterator[Value]:
    for match in _AMOUNT.finditer(folded):
        found = {key: value for key, value in match.groupdict().items() if value}
        read = _read_amount(found)
        if read is None:
            continue
        kind, amount, unit = read
        yield Value(
            kind=kind,
            amount=amount,
            unit=unit,
            text=original[match.start() : match.end()].strip(),
            start=match.start(),
            end=match.end(),
        )


def _read_amount(found: dict[str, str]) -> tuple[ValueKind, Decimal, str] | None:
    if "digits" in found:
        return _read_digits(found)
    if "zh_percent" in found:
        text = found["zh_percent"]
        amount = parse_digits(text) if text[0].isdigit() else parse_chinese(text)
        return ValueKind.PERCENT, amount, PERCENT
    if "half_unit" in found or "half_en" in found:
        name = found.get("half_unit") or found["half_en"]
        return _apply_unit(Decimal("0.5"), "个月" if name == "月" else name)
    if "zh_bare" in found:
        return ValueKind.NUMBER, parse_chinese(found["zh_bare"]), ""
    return _read_words(found)


def _read_digits(found: dict[str, str]) -> tuple[ValueKind, Decimal, str]:
    amount = parse_digits(found["digits"])
    if times := found.get("times"):
        amount *= MULTIPLIERS[times.lower()]
    currency = found.get("cur_before") or found.get("cur_after")
    if currency:
        return ValueKind.MONEY, amount, find_currency(currency)
    if unit := found.get("unit"):
        return _apply_unit(amount, unit)
    return ValueKind.NUMBER, amount, ""


def _read_words(found: dict[str, str]) -> tuple[ValueKind, Decimal, str] | None:
    if "en" in found:
        amount = parse_english(found["en"])
        amount *= {"hundred": 100}.get(found.get("en_times", ""), 1)
        amount *= MULTIPLIERS.get(found.get("en_times", ""), 1)
        return _apply_unit(amount, found["en_unit"])
    amount = parse_chinese(found["zh"])
    if currency := found.get("zh_cur"):
        return ValueKind.MONEY, amount, find_currency(currency)
    read = _apply_unit(amount, found["zh_unit"])
    is_article = amount == 1 and read[2] in _ARTICLES
    return None if is_article else read


def _apply_unit(amount: Decimal, name: str) -> tuple[ValueKind, Decimal, str]:
    unit, factor = find_unit(name)
    if unit == PERCENT:
        return ValueKind.PERCENT, amount * factor, unit
    if unit in DURATION_UNITS:
        return ValueKind.DURATION, amount * factor, unit
    if unit in _COUNTED:
        return ValueKind.COUNT, amount * factor, unit
    return ValueKind.QUANTITY, amount * factor, unit


def _spread_units(text: str, values: Sequence[Value]) -> list[Value]:
    """Give the first number of a range (3-5 days) the unit of the second."""
    spread = list(values)
    for index in range(len(spread) - 1):
        first, second = spread[index], spread[index + 1]
        between = text[first.end : second.start]
        if first.kind is ValueKind.NUMBER and second.unit and _RANGE.fullmatch(between):
            written = _written_amount(second)
            if written:
                amount = first.amount * second.amount / written
                spread[index] = replace(first, kind=second.kind, unit=second.unit, amount=amount)
    return spread

"""Periods of time that questions name: a day, month, quarter or year, or one counted from today."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.rag.dates import DateParts, find_dates
from bot.rag.numerals import fold_width

_MONTHS_A_YEAR, _DAYS_A_YEAR = 12, 365
_QUARTER = re.compile(
    r"(?:(?P<y1>20\d\d)\s*年?\s*)?(?:Q(?P<q1>[1-4])|第?(?P<q2>[一二三四1-4])季度)"
    r"(?:\s*(?:of\s*)?(?P<y2>20\d\d))?",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"(?:(?P<y>20\d\d)\s*年?\s*)?(?P<half>[上下])半年|\bH(?P<h>[12])(?:\s*(?P<hy>20\d\d))?\b"
)
_LAST_DAYS = re.compile(
    r"(?:最近|过去|近)\s*(?P<zh>\d{1,3}|[一两二三四五六七八九十]{1,3})\s*个?(?P<zu>天|日|周|星期|月|年)"
    r"|\b(?:last|past)\s+(?P<en>\d{1,3})\s+(?P<eu>day|week|month|year)s?\b",
    re.IGNORECASE,
)
_HAN_MONTH = re.compile(
    r"(?<![个几上下])(?P<m>十[一二]?|[一二三四五六七八九])月份?(?![\d一二三四五六七八九十])"
)
_DIGITS = {c: n for n, c in enumerate("一二三四五六七八九十", 1)} | {"两": 2}
_UNIT_DAYS = {"天": 1, "日": 1, "day": 1, "周": 7, "星期": 7, "week": 7}


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """From a moment until before another, in the company's time zone.

    Attributes:
        from_char, to_char: Where the question names it.
        is_year: A whole calendar year.
    """

    start: datetime
    end: datetime
    from_char: int
    to_char: int
    is_year: bool = False


def find_periods(question: str, now: datetime) -> list[Period]:
    """Return every period named, in order; dates without a year mean the latest that has begun."""
    text = fold_width(question)
    found: list[Period] = []
    for find in (_find_parts_of_years, _find_last_days, _find_dates, _find_months, _find_relative):
        for one in find(text, now):
            if not any(
                one.from_char < other.to_char and other.from_char < one.to_char for other in found
            ):
                found.append(one)
    return sorted(found, key=lambda one: one.from_char)


def _build(span: tuple[int, int], ends: tuple[datetime, datetime], *, is_year: bool) -> Period:
    return Period(start=ends[0], end=ends[1], from_char=span[0], to_char=span[1], is_year=is_year)


def _find_parts_of_years(text: str, now: datetime) -> Iterator[Period]:
    for match in _QUARTER.finditer(text):
        year = int(match["y1"] or match["y2"] or now.year)
        name = match["q1"] or match["q2"]
        first = (_DIGITS.get(name) or int(name)) * 3 - 2
        ends = _month(now, year, first), _month(now, year, first + 3)
        yield _build(match.span(), ends, is_year=False)
    for match in _HALF.finditer(text):
        year = int(match["y"] or match["hy"] or now.year)
        first = 1 if match["half"] == "上" or match["h"] == "1" else 7
        ends = _month(now, year, first), _month(now, year, first + 6)
        yield _build(match.span(), ends, is_year=False)


def _find_last_days(text: str, now: datetime) -> Iterator[Period]:
    for match in _LAST_DAYS.finditer(text):
        ends = _count_back(match, now), now + timedelta(days=1)
        yield _build(match.span(), ends, is_year=False)


def _find_dates(text: str, now: datetime) -> Iterator[Period]:
    for from_char, to_char, parts in find_dates(text):
        ends = _period_of(parts, now)
        if ends:
            is_year = bool(parts.year and not parts.month)
            yield _build((from_char, to_char), ends, is_year=is_year)


def _find_months(text: str, now: datetime) -> Iterator[Period]:
    for match in _HAN_MONTH.finditer(text):
        month = sum(_DIGITS[letter] for letter in match["m"])
        ends = _period_of(DateParts(month=month), now)
        if ends:
            yield _build(match.span(), ends, is_year=False)


def _find_relative(text: str, now: datetime) -> Iterator[Period]:
    for pattern, build in _RELATIVE.items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            ends = build(now)
            is_year = (ends[1] - ends[0]).days >= _DAYS_A_YEAR
            yield _build(match.span(), ends, is_year=is_year)


def _period_of(parts: DateParts, now: datetime) -> tuple[datetime, datetime] | None:
    if parts.year and not parts.month:
        return _month(now, parts.year, 1), _month(now, parts.year + 1, 1)
    if not parts.month:
        return None
    year = parts.year or now.year - ((parts.month, parts.day or 1) > (now.month, now.day))
    if not parts.day:
        return _month(now, year, parts.month), _month(now, year, parts.month + 1)
    try:
        day = _day(now).replace(year=year, month=parts.month, day=parts.day)
    except ValueError:
        return None
    return day, day + timedelta(days=1)


def _count_back(match: "re.Match[str]", now: datetime) -> datetime:
    name = match["zh"] or match["en"]
    count = int(name) if name.isdigit() else sum(_DIGITS.get(letter, 0) for letter in name)
    unit = match["zu"] or match["eu"].lower()
    if unit in _UNIT_DAYS:
        return _day(now) - timedelta(days=_UNIT_DAYS[unit] * count)
    months = count * (_MONTHS_A_YEAR if unit in {"年", "year"} else 1)
    return _month(now, now.year, now.month - months)


def _day(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _month(now: datetime, year: int, month: int) -> datetime:
    """Return the beginning of a month; months beyond the year are in the next or the last."""
    ahead, index = divmod(month - 1, _MONTHS_A_YEAR)
    return _day(now).replace(year=year + ahead, month=index + 1, day=1)


def _months(ahead: int, count: int = 1) -> Callable[[datetime], tuple[datetime, datetime]]:
    def build(now: datetime) -> tuple[datetime, datetime]:
        first = now.month + ahead
        return _month(now, now.year, first), _month(now, now.year, first + count)

    return build


def _quarters(ahead: int) -> Callable[[datetime], tuple[datetime, datetime]]:
    def build(now: datetime) -> tuple[datetime, datetime]:
        first = (now.month - 1) // 3 * 3 + 1 + 3 * ahead
        return _month(now, now.year, first), _month(now, now.year, first + 3)

    return build


def _years(ahead: int) -> Callable[[datetime], tuple[datetime, datetime]]:
    return lambda now: (_month(now, now.year + ahead, 1), _month(now, now.year + ahead + 1, 1))


def _weeks(ahead: int) -> Callable[[datetime], tuple[datetime, datetime]]:
    def build(now: datetime) -> tuple[datetime, datetime]:
        monday = _day(now) - timedelta(days=now.weekday() - 7 * ahead)
        return monday, monday + timedelta(days=7)

    return build


def _days(ahead: int) -> Callable[[datetime], tuple[datetime, datetime]]:
    return lambda now: (_day(now) + timedelta(days=ahead), _day(now) + timedelta(days=ahead + 1))


_RELATIVE: Mapping[str, Callable[[datetime], tuple[datetime, datetime]]] = {
    r"前年|\bthe year before last\b": _years(-2),
    r"去年|\blast year\b": _years(-1),
    r"今年|本年度?|\bthis year\b|\byear to date\b": _years(0),
    r"明年|\bnext year\b": _years(1),
    r"上个?季度|\blast quarter\b": _quarters(-1),
    r"(?:本|这个?)季度|\bthis quarter\b": _quarters(0),
    r"下个?季度|\bnext quarter\b": _quarters(1),
    r"上上个?月": _months(-2),
    r"上个?月|\blast month\b": _months(-1),
    r"(?:本|这个?)月|\bthis month\b": _months(0),
    r"下个?月|\bnext month\b": _months(1),
    r"上个?(?:周|星期|礼拜)|\blast week\b": _weeks(-1),
    r"(?:本|这个?)(?:周|星期|礼拜)|\bthis week\b": _weeks(0),
    r"下个?(?:周|星期|礼拜)|\bnext week\b": _weeks(1),
    r"前天|\bday before yesterday\b": _days(-2),
    r"昨天|昨日|\byesterday\b": _days(-1),
    r"今天|今日|\btoday\b": _days(0),
    r"明天|明日|\btomorrow\b": _days(1),
}

"""The moment in the past that a question names, as a date or counted from today."""

import calendar
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.rag.dates import DateParts
from bot.rag.numerals import parse_chinese
from bot.rag.values import extract_values
from knowledge.analysis import fold

_MONTHS_A_YEAR = 12
_UNITS: Mapping[str, str] = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "月": "month",
    "年": "year",
}
_AGO = re.compile(
    r"(?P<zh>\d{1,3}|[一二两三四五六七八九十]{1,3})\s*(?P<zh_unit>个?月|天|日|周|个?星期|年)(?:之前|以前|前)"
    r"|\b(?P<en>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve)\s+"
    r"(?P<en_unit>day|week|month|year)s?\s+ago\b"
)
_EN_NUMBERS: Mapping[str, int] = {
    name: number
    for number, name in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 1
    )
} | {"a": 1, "an": 1, "twelve": 12}


def find_moment(question: str, now: datetime | None = None) -> datetime | None:
    """Return the last moment of the period a question names; None when it names none of the past.

    Args:
        question: In Chinese or English.
        now: Needed for dates without a year, which mean the latest one, and for "last month".
    """
    text = fold(question)
    for value in extract_values(question):
        moment = _end_of_date(value.date, now) if value.date else None
        if moment is not None:
            return moment
    return None if now is None else _find_relative(text, now)


def _end_of_date(date: DateParts, now: datetime | None) -> datetime | None:
    if date.year:
        return _end_of(date)
    if now is None or not date.month:
        return None
    # What is still ahead this year was meant of last year.
    is_ahead = (date.month, date.day or 1) > (now.month, now.day)
    return _end_of(replace(date, year=now.year - is_ahead))


def _end_of(date: DateParts) -> datetime:
    """Return the last second of a day, month or year, in UTC."""
    month = date.month or _MONTHS_A_YEAR
    last = calendar.monthrange(date.year, month)[1]
    day = min(date.day or last, last)
    return datetime(date.year, month, day, 23, 59, 59, tzinfo=UTC)


def _find_relative(text: str, now: datetime) -> datetime | None:
    for pattern, build in _PERIODS:
        if pattern.search(text):
            return build(now)
    ago = _AGO.search(text)
    if ago is None:
        return None
    if ago["zh"]:
        unit, count = _UNITS[ago["zh_unit"].removeprefix("个")], _read_chinese(ago["zh"])
    else:
        unit, count = ago["en_unit"], _EN_NUMBERS.get(ago["en"]) or int(ago["en"])
    return _go_back(now, unit, count) if count else None


def _read_chinese(number: str) -> int:
    return int(number) if number.isdigit() else int(parse_chinese(number))


def _go_back(now: datetime, unit: str, count: int) -> datetime:
    match unit:
        case "day":
            return now - timedelta(days=count)
        case "week":
            return now - timedelta(weeks=count)
        case "month":
            return _months_before(now, count)
        case _:
            return _months_before(now, count * _MONTHS_A_YEAR)


def _months_before(now: datetime, count: int) -> datetime:
    month = now.year * _MONTHS_A_YEAR + now.month - 1 - count
    year, month = divmod(month, _MONTHS_A_YEAR)
    last = calendar.monthrange(year, month + 1)[1]
    return now.replace(year=year, month=month + 1, day=min(now.day, last))


def _end_of_last_year(now: datetime) -> datetime:
    return _end_of(DateParts(year=now.year - 1))


def _end_of_year_before(now: datetime) -> datetime:
    return _end_of(DateParts(year=now.year - 2))


def _end_of_last_month(now: datetime) -> datetime:
    before = _months_before(now, 1)
    return _end_of(DateParts(year=before.year, month=before.month))


def _end_of_last_week(now: datetime) -> datetime:
    return _end_of_day(now - timedelta(days=now.weekday() + 1))


def _end_of_last_quarter(now: datetime) -> datetime:
    first = (now.month - 1) // 3 * 3 + 1
    before = _months_before(now.replace(day=1, month=first), 1)
    return _end_of(DateParts(year=before.year, month=before.month))


def _end_of_yesterday(now: datetime) -> datetime:
    return _end_of_day(now - timedelta(days=1))


def _end_of_day(moment: datetime) -> datetime:
    return _end_of(DateParts(year=moment.year, month=moment.month, day=moment.day))


_PERIODS: tuple[tuple[re.Pattern[str], Callable[[datetime], datetime]], ...] = (
    (re.compile(r"前年|\bthe year before last\b"), _end_of_year_before),
    (re.compile(r"去年|\blast year\b"), _end_of_last_year),
    (re.compile(r"上个?季度|\blast quarter\b"), _end_of_last_quarter),
    (re.compile(r"上个?月|\blast month\b"), _end_of_last_month),
    (re.compile(r"上个?(?:周|星期|礼拜)|\blast week\b"), _end_of_last_week),
    (re.compile(r"昨天|\byesterday\b"), _end_of_yesterday),
)

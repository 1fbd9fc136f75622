"""Days and times of day as people say them, as ISO: in both languages, also counted from today."""

import calendar
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta

from bot.rag.dates import DateParts, find_dates, find_times
from bot.rag.numerals import fold_width, parse_chinese

_NAMED: Mapping[str, int] = {
    "大后天": 3,
    "后天": 2,
    "明天": 1,
    "明日": 1,
    "今天": 0,
    "今日": 0,
    "昨天": -1,
    "昨日": -1,
    "前天": -2,
    "the day after tomorrow": 2,
    "tomorrow": 1,
    "today": 0,
    "the day before yesterday": -2,
    "yesterday": -1,
    "now": 0,
    "现在": 0,
}
_NUMBER = (
    r"(?P<count>\d{1,4}|[一二两三四五六七八九十]{1,3}|an?|one|two|three|four|five|six|seven|ten)"
)
_ENGLISH_NUMBERS: Mapping[str, int] = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "ten": 10,
}
_LATER = re.compile(
    rf"^(?:in\s+)?{_NUMBER}\s*(?P<unit>个?月|天|日|周|个?星期|days?|weeks?|months?)\s*"
    r"(?P<way>以后|之后|后|以前|之前|前|ago|from now|later)?$"
)
_WEEKDAYS = "一二三四五六日"
_WEEKDAY_ZH = re.compile(
    r"^(?P<which>上|下|这|本)?(?:个)?(?:周|星期|礼拜)(?P<day>[一二三四五六日天])$"
)
_ENGLISH_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY_EN = re.compile(rf"^(?P<which>last|next|this)?\s*(?P<day>{'|'.join(_ENGLISH_DAYS)})$")
_MONTH_ENDS = re.compile(r"^(?:本|这个?|当)?月(?:底|末)$|^(?:the )?end of (?:this |the )?month$")
_NEXT_MONTH_ENDS = re.compile(r"^下个?月(?:底|末)$|^(?:the )?end of next month$")
_YEAR_ENDS = re.compile(r"^(?:今年|本年)?年(?:底|末)$|^(?:the )?end of (?:this |the )?year$")
_WORD = re.compile(r"\b[a-z]{3,}")
_WEEK = 7
_MONTHS_A_YEAR = 12
_MOST_UNITS = 5000


def read_day(text: str, now: datetime) -> str | None:
    """Return the one day a text names, as 2026-11-30; None when it names none for certain."""
    day = _find_day(" ".join(fold_width(text).lower().split()), now)
    return None if day is None else day.isoformat()


def read_moment(text: str, now: datetime) -> str | None:
    """Return the one day and time of day a text names, as 2026-11-30T09:00; else None."""
    folded = fold_width(text)
    try:
        return datetime.fromisoformat(folded.strip()).isoformat(timespec="minutes")
    except ValueError:
        pass
    times = list(find_times(folded))
    if len(times) != 1:
        return None
    start, end, minutes = times[0]
    rest = f"{folded[:start]} {folded[end:]}".strip(" ,，的")
    day = _find_day(" ".join(rest.lower().split()), now) if rest else now.date()
    if day is None or minutes >= 24 * 60:
        return None
    return f"{day.isoformat()}T{minutes // 60:02}:{minutes % 60:02}"


def _find_day(text: str, now: datetime) -> date | None:
    today = now.date()
    if text in _NAMED:
        return today + timedelta(days=_NAMED[text])
    # Our own words are lower case, the names of months begin with a capital.
    found = list(find_dates(_WORD.sub(lambda match: match.group().capitalize(), text)))
    if len(found) == 1:
        return _build_day(found[0][2], today)
    return None if found else _find_relative(text, today)


def _build_day(parts: DateParts, today: date) -> date | None:
    """Build a day; without a year the one nearest to today is meant."""
    if not parts.day:
        return None
    month = parts.month or today.month
    years = [parts.year] if parts.year else [today.year - 1, today.year, today.year + 1]
    days = []
    for year in years:
        try:
            days.append(date(year, month, parts.day))
        except ValueError:
            continue
    return min(days, key=lambda day: abs((day - today).days), default=None)


def _find_relative(text: str, today: date) -> date | None:
    if _MONTH_ENDS.match(text):
        return _end_of_month(today)
    if _NEXT_MONTH_ENDS.match(text):
        return _end_of_month(_add_months(today.replace(day=1), 1))
    if _YEAR_ENDS.match(text):
        return date(today.year, _MONTHS_A_YEAR, 31)
    return _find_weekday(text, today) or _find_later(text, today)


def _find_weekday(text: str, today: date) -> date | None:
    monday = today - timedelta(days=today.weekday())
    if match := _WEEKDAY_ZH.match(text):
        day = _WEEKDAYS.index(match["day"].replace("天", "日"))
        weeks = {"上": -1, "下": 1}.get(match["which"] or "", 0)
        return monday + timedelta(days=day + _WEEK * weeks)
    if match := _WEEKDAY_EN.match(text):
        day = _ENGLISH_DAYS.index(match["day"])
        ahead = (day - today.weekday()) % _WEEK
        if match["which"] == "last":
            return today - timedelta(days=(today.weekday() - day) % _WEEK or _WEEK)
        return today + timedelta(days=(ahead or _WEEK) if match["which"] == "next" else ahead)
    return None


def _find_later(text: str, today: date) -> date | None:
    match = _LATER.match(text)
    if match is None or not (match["way"] or text.startswith("in ")):
        return None
    said = match["count"]
    count = int(said) if said.isdigit() else _ENGLISH_NUMBERS.get(said) or int(parse_chinese(said))
    if count > _MOST_UNITS:
        return None
    is_before = (match["way"] or "") in {"前", "之前", "以前", "ago"}
    count = -count if is_before else count
    unit = match["unit"].removeprefix("个")
    if unit.startswith(("月", "month")):
        return _add_months(today, count)
    return today + timedelta(days=count * (_WEEK if unit.startswith(("周", "星期", "week")) else 1))


def _add_months(day: date, count: int) -> date:
    year, month = divmod(day.year * _MONTHS_A_YEAR + day.month - 1 + count, _MONTHS_A_YEAR)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, last))


def _end_of_month(day: date) -> date:
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])

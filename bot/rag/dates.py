"""Dates and times of day as people write them, Chinese and English."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.rag.numerals import parse_chinese

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
# Month names that are no other word when they stand alone.
_LONE_MONTH = r"(?:January|February|April|June|July|August|September|October|November|December)\b"
_HAN = "一二三四五六七八九十"
_PART_OF_DAY = "凌晨|清晨|早上|上午|中午|下午|晚上|傍晚"
_DATE = re.compile(
    rf"""
    (?=[\d{_HAN}JFMASOND])(?:  # spares trying every form at every letter
      (?<![\d.-])(?P<iso_y>(?:1[5-9]|20)\d\d)(?P<sep>[-/.])(?P<iso_m>[01]?\d)(?P=sep)
        (?P<iso_d>[0-3]?\d)(?![\d]|[-.]\d)
    | (?<![\d.-])(?P<zh_y>(?:1[5-9]|20)?\d\d)\ ?年\ ?(?P<zh_m>[01]?\d)\ ?月
        (?:份|(?:\ ?(?P<zh_d>[0-3]?\d)\ ?[日号]))?
    | (?<![\d.-])(?P<zhmd_m>1[0-2]|0?[1-9])\ ?月
        (?:份|\ ?(?P<zhmd_d>[0-3]?\d)\ ?[日号]?(?!\d))?(?!度)
    | (?<![\d.-])(?P<zhy_y>(?:1[5-9]|20)\d\d)\ ?年(?!级|前|后|内)
    | (?P<num_y>[一二][〇零一二三四五六七八九]{{3}})年(?:(?P<num_m>[{_HAN}]{{1,2}})月)?
        (?:(?P<num_d>[{_HAN}]{{1,3}})[日号])?
    | (?P<nummd_m>[{_HAN}]{{1,2}})月(?P<nummd_d>[{_HAN}]{{1,3}})[日号]
    | (?P<en_dm_d>\b[0-3]?\d)(?:st|nd|rd|th)?\ (?:of\ )?(?P<en_dm_m>{_MONTH})
        (?:,?\ (?P<en_dm_y>(?:1[5-9]|20)\d\d)\b)?
    | \b(?P<en_md_m>{_MONTH})\ (?P<en_md_d>[0-3]?\d)(?:st|nd|rd|th)?(?![\d:])
        (?:,?\ (?P<en_md_y>(?:1[5-9]|20)\d\d)\b)?
    | \b(?P<en_my_m>{_MONTH}),?\ (?:of\ )?(?P<en_my_y>(?:1[5-9]|20)\d\d)\b
    | \b(?P<en_m>{_LONE_MONTH})
    | (?<![\d.-])(?P<ym_y>(?:1[5-9]|20)\d\d)-(?P<ym_m>0[1-9]|1[0-2])(?![\d-])
    | (?<![\d.\w-])(?P<md_m>0[1-9]|1[0-2])-(?P<md_d>0[1-9]|[12]\d|3[01])(?![\d\w-])
    | (?<![\d.])(?P<day_d>[0-3]?\d)\ ?[日号](?![\u4e00-\u9fff]?[楼线])
    | (?<![\d.,/:A-Za-z-])(?P<year_y>(?:19|20)\d\d)(?![\d:%A-Za-z]|[,.-]\d
        |\ ?(?:元|万|人|个|名|次|台))
    )""",
    re.VERBOSE,
)
_HALF = "半"
_CENTURY = 100
_TIME = re.compile(
    rf"""
    (?=[\d凌清早上中下晚傍])(?:
      (?:(?P<zh_part>{_PART_OF_DAY})\ ?)?(?P<h>\d{{1,2}})[:：](?P<m>[0-5]\d)
        (?::[0-5]\d)?(?:\ ?(?P<ap>[ap])\.?m\b\.?)?(?![\d:])
    | \b(?P<h12>1[0-2]|0?[1-9])\ ?(?P<ap12>[ap])\.?m\b\.?
    | (?P<part>{_PART_OF_DAY})\ ?(?P<zh_h>\d{{1,2}}|[两{_HAN}]{{1,2}})
        \ ?[点时](?P<zh_m>半|\ ?[0-5]?\d\ ?分)?
    | (?<![\d.])(?P<bare_h>[01]?\d|2[0-4])\ ?点(?P<bare_m>半|整|钟|\ ?[0-5]?\d\ ?分)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_AFTERNOON = frozenset({"下午", "晚上", "傍晚"})
_NOON = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class DateParts:
    """A date as far as it is written; 0 = not said."""

    year: int = 0
    month: int = 0
    day: int = 0

    def agrees_with(self, other: "DateParts") -> bool:
        """Tell whether both may mean one day: no part that both give differs, one is shared."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        given = [(mine, theirs) for mine, theirs in pairs if mine and theirs]
        return bool(given) and all(mine == theirs for mine, theirs in given)


def find_dates(text: str) -> Iterator[tuple[int, int, DateParts]]:
    """Yield start, end and parts of every date in text of folded width, in order."""
    for match in _DATE.finditer(text):
        parts = _read_date({key: value for key, value in match.groupdict().items() if value})
        if parts.month <= 12 and parts.day <= 31:  # noqa: PLR2004 - the calendar's own numbers
            yield match.start(), match.end(), parts


def find_times(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and minutes since midnight of every time of day, in order."""
    for match in _TIME.finditer(text):
        minutes = _read_time({key: value for key, value in match.groupdict().items() if value})
        if minutes <= 24 * 60:
            yield match.start(), match.end(), minutes


def _read_date(found: dict[str, str]) -> DateParts:
    year = month = day = 0
    for key, value in found.items():
        if key == "sep":
            continue
        number = _read_number(value)
        match key.rsplit("_", 1)[-1]:
            case "y":
                year = number
            case "d":
                day = number
            case _:
                month = number
    has_short_year = 0 < year < _CENTURY
    return DateParts(year=year + 20 * _CENTURY if has_short_year else year, month=month, day=day)


def _read_number(text: str) -> int:
    if text.isdigit():
        return int(text)
    month = _MONTHS.get(text[:3].lower())
    return int(parse_chinese(text)) if month is None else month


def _read_time(found: dict[str, str]) -> int:
    hour_text = found.get("h") or found.get("h12") or found.get("zh_h") or found.get("bare_h") or ""
    hour = int(hour_text) if hour_text.isdigit() else int(parse_chinese(hour_text))
    minute_text = found.get("m") or found.get("zh_m") or found.get("bare_m") or ""
    digits = re.sub(r"\D", "", minute_text)
    minute = int(digits) if digits else 30 if minute_text == _HALF else 0
    mark = (found.get("ap") or found.get("ap12") or "").lower()
    part = found.get("zh_part") or found.get("part") or ""
    is_afternoon = mark == "p" or part in _AFTERNOON or (part == "中午" and hour < _NOON - 1)
    if is_afternoon and hour < _NOON:
        hour += _NOON
    if mark == "a" and hour == _NOON:
        hour = 0
    return hour * 60 + minute

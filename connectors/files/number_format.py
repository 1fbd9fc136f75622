"""Values of spreadsheet cells as the sheet shows them, as far as a fact needs it. Pure."""

import math
import re
from datetime import date, datetime, time, timedelta
from functools import lru_cache

_MAX_WHOLE = 1e15
_MIN_PLAIN = 1e-9
_SECTION = re.compile(r';(?=(?:[^"]*"[^"]*")*[^"]*$)')
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|[_*].')
_BRACKET = re.compile(r"\[(?:\$([^\]-]*)(?:-[^\]]*)?|[^\]]*)\]")
_DIGITS = re.compile(r"[#0?][#0?,.]*")


def format_value(value: object, number_format: str = "General") -> str:
    """Write a cell's value: dates as ISO, numbers with the format's decimals, signs and units."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (datetime, date, time, timedelta)):
        return _format_time(value, number_format)
    if isinstance(value, (int, float)):
        return _format_number(value, number_format)
    return "" if value is None else str(value)


def format_float(value: float) -> str:
    """Write a number as people read it: no binary noise, no exponent for everyday sizes."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < _MAX_WHOLE:
        return str(int(value))
    text = f"{value:.15g}"
    is_small = "e-" in text and abs(value) >= _MIN_PLAIN
    return f"{value:.15f}".rstrip("0") if is_small else text


def _format_time(value: datetime | date | time | timedelta, number_format: str) -> str:
    match value:
        case datetime():
            return _format_moment(value, number_format)
        case date():
            return value.isoformat()
        case time():
            return value.strftime("%H:%M:%S" if value.second else "%H:%M")
        case _:
            return _format_duration(value)


def _format_moment(value: datetime, number_format: str) -> str:
    folded = number_format.lower()
    has_day = "d" in folded or "y" in folded or folded == "general"
    if not has_day and "h" in folded:
        return value.strftime("%H:%M:%S" if value.second else "%H:%M")
    if "y" in folded and "d" not in folded and "m" in folded and "h" not in folded:
        return value.strftime("%Y-%m")
    if value.hour or value.minute or value.second:
        return value.strftime("%Y-%m-%d %H:%M:%S" if value.second else "%Y-%m-%d %H:%M")
    return value.date().isoformat()


def _format_duration(value: timedelta) -> str:
    seconds = int(value.total_seconds())
    sign = "-" if seconds < 0 else ""
    hours, rest = divmod(abs(seconds), 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{sign}{hours}:{minutes:02d}" + (f":{seconds:02d}" if seconds else "")


def _format_number(value: float, number_format: str) -> str:
    section, is_negative_section = _choose_section(value, number_format)
    pattern = _parse(section)
    if pattern is None:
        return format_float(value)
    prefix, digits, suffix, scale = pattern
    number = abs(value) if is_negative_section else value
    number = number * 100 if "%" in prefix + suffix else number / 1000**scale
    written = _write_digits(abs(number), digits)
    # A section of its own for negative numbers brings its sign or its brackets along.
    is_negative = value < 0 and any(one not in "0.," for one in written)
    before, after = prefix.strip("("), suffix.strip(")")
    if is_negative:
        return f"-{before.replace('-', '')}{written}{after}".strip()
    return f"{before}{written}{after}".strip()


def _choose_section(value: float, number_format: str) -> tuple[str, bool]:
    sections = _SECTION.split(number_format)
    if value < 0 and len(sections) > 1:
        return sections[1], True
    for section in sections[2:3] if value == 0 else ():
        if _DIGITS.search(_strip(section)):
            return section, False
    return sections[0], False


@lru_cache(maxsize=512)
def _parse(section: str) -> tuple[str, str, str, int] | None:
    """Split a format into what stands before, the digits, what stands after, and the scale."""
    text = _strip(section)
    if text.strip().lower() in {"general", "@", "", "standard"} or "/" in text or "E+" in text:
        return None
    match = _DIGITS.search(text)
    if match is None:
        return None
    digits = match.group()
    scale = len(digits) - len(digits.rstrip(","))
    return text[: match.start()].strip(), digits.rstrip(","), text[match.end() :].rstrip(), scale


def _strip(section: str) -> str:
    """Take out colours, conditions and fill characters; keep currency signs and quoted units."""
    text = _BRACKET.sub(lambda match: match[1] or "", section)
    return _LITERAL.sub(lambda match: match[1] or match[2] or "", text)


def _write_digits(number: float, digits: str) -> str:
    whole, _, fraction = digits.partition(".")
    needed = fraction.count("0")
    places = sum(1 for one in fraction if one in "0#?")
    text = f"{number:,.{places}f}" if "," in whole else f"{number:.{places}f}"
    if places > needed:
        kept = len(text) - (places - needed)
        text = text[:kept] + text[kept:].rstrip("0")
        text = text.rstrip(".")
    width = whole.count("0")
    integer, dot, rest = text.partition(".")
    return f"{integer.zfill(width) if ',' not in whole else integer}{dot}{rest}"

"""Numbers of a Word file's lists and headings, which its text does not contain."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from lxml import etree

from connectors.files.office_xml import W

_MAX_LEVEL = 8
_MAX_WRITTEN = 10_000
_DIGITS = "零一二三四五六七八九"
_FORMAL = "零壹贰叁肆伍陆柒捌玖"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How one level of a list is numbered; `text` holds `%1` for the first level's number."""

    format: str = "decimal"
    text: str = "%1."
    start: int = 1
    is_legal: bool = False


@dataclass(slots=True)
class Numbering:
    """Counts a document's lists in reading order."""

    levels: dict[str, dict[int, Level]] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    _counters: dict[str, dict[int, int]] = field(default_factory=dict)
    _started: set[str] = field(default_factory=set)
    _overrides: dict[str, dict[int, int]] = field(default_factory=dict)

    def get_label(self, number_id: str, level: int) -> str | None:
        """Count one paragraph and return its label; "•" for bullets, None for no list at all."""
        levels = self.levels.get(number_id)
        if levels is None or level not in levels:
            return None
        counters = self._counters.setdefault(self.shared.get(number_id, number_id), {})
        if number_id not in self._started:
            self._started.add(number_id)
            for one, start in self._overrides.get(number_id, {}).items():
                counters[one] = start - 1
        counters[level] = counters.get(level, levels[level].start - 1) + 1
        for deeper in [one for one in counters if one > level]:
            del counters[deeper]
        if levels[level].format == "bullet":
            return "•"
        return _write_label(levels, level, counters)


def parse_numbering(root: etree._Element | None) -> Numbering:
    """Read a file's list definitions."""
    numbering = Numbering()
    if root is None:
        return numbering
    abstract = {_get(one, "abstractNumId"): one for one in root.findall(f"{W}abstractNum")}
    linked = {
        _value(one.find(f"{W}styleLink")): one
        for one in abstract.values()
        if one.find(f"{W}styleLink") is not None
    }
    for number in root.findall(f"{W}num"):
        number_id, abstract_id = _get(number, "numId"), _value(number.find(f"{W}abstractNumId"))
        definition = abstract.get(abstract_id)
        if definition is None:
            continue
        link = _value(definition.find(f"{W}numStyleLink"))
        levels = _read_levels(linked.get(link, definition) if link else definition)
        for override in number.findall(f"{W}lvlOverride"):
            levels |= _read_levels(override)
            start = _value(override.find(f"{W}startOverride"))
            if start.isdecimal():
                at = numbering._overrides.setdefault(number_id, {})  # noqa: SLF001 - filled here
                at[int(_get(override, "ilvl") or 0)] = int(start)
        numbering.levels[number_id] = levels
        numbering.shared[number_id] = abstract_id
    return numbering


def _read_levels(parent: etree._Element) -> dict[int, Level]:
    levels: dict[int, Level] = {}
    for one in parent.findall(f"{W}lvl"):
        level = _get(one, "ilvl")
        start = _value(one.find(f"{W}start"))
        text = one.find(f"{W}lvlText")
        if level.isdecimal() and int(level) <= _MAX_LEVEL:
            levels[int(level)] = Level(
                format=_value(one.find(f"{W}numFmt")) or "decimal",
                text=_value(text) if text is not None else "",
                start=int(start) if start.isdecimal() else 1,
                is_legal=one.find(f"{W}isLgl") is not None,
            )
    return levels


def _write_label(levels: dict[int, Level], level: int, counters: dict[int, int]) -> str:
    own = levels[level]

    def write(match: re.Match[str]) -> str:
        at = int(match[1]) - 1
        one = levels.get(at, Level())
        number = counters.get(at, one.start)
        return format_number(number, "decimal" if own.is_legal else one.format)

    return re.sub(r"%([1-9])", write, own.text).strip()


def format_number(number: int, name: str) -> str:
    """Write a number in one of Word's formats; unknown formats count in digits."""
    writer = _FORMATS.get(name)
    return writer(number) if writer else str(number)


def _write_letters(number: int) -> str:
    if number < 1:
        return str(number)
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)


def _write_roman(number: int) -> str:
    text = ""
    for value, sign in (
        (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
        (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
    ):  # fmt: skip
        text += sign * (number // value)
        number %= value
    return text


def _write_chinese(number: int, digits: str = _DIGITS, units: str = "十百千") -> str:
    if not 0 < number < _MAX_WRITTEN:
        return str(number)
    text, is_gap = "", False
    for power in (3, 2, 1, 0):
        digit = number // 10**power % 10
        if digit:
            text += (
                (digits[0] if is_gap else "") + digits[digit] + (units[power - 1] if power else "")
            )
            is_gap = False
        elif text:
            is_gap = True
    return text.removeprefix("一") if text.startswith("一十") else text


def _pick(signs: str) -> Callable[[int], str]:
    return lambda number: signs[number - 1] if 0 < number <= len(signs) else str(number)


_FORMATS: dict[str, Callable[[int], str]] = {
    "lowerLetter": _write_letters,
    "upperLetter": lambda number: _write_letters(number).upper(),
    "lowerRoman": _write_roman,
    "upperRoman": lambda number: _write_roman(number).upper(),
    "chineseCounting": _write_chinese,
    "chineseCountingThousand": _write_chinese,
    "japaneseCounting": _write_chinese,
    "taiwaneseCountingThousand": _write_chinese,
    "ideographDigital": lambda number: "".join(_DIGITS[int(one)] for one in str(number)),
    "chineseLegalSimplified": lambda number: _write_chinese(number, _FORMAL, "拾佰仟"),
    "ideographTraditional": _pick("甲乙丙丁戊己庚辛壬癸"),
    "ideographZodiac": _pick("子丑寅卯辰巳午未申酉戌亥"),
    "decimalEnclosedCircle": _pick("①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"),
    "decimalEnclosedCircleChinese": _pick("①②③④⑤⑥⑦⑧⑨⑩"),
    "decimalZero": lambda number: f"{number:02d}",
    "none": lambda _number: "",
}


def _get(element: etree._Element, name: str) -> str:
    return str(element.get(f"{W}{name}") or "")


def _value(element: etree._Element | None) -> str:
    return _get(element, "val") if element is not None else ""

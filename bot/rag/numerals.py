"""Numbers as people write them: digits, Chinese numerals, English number words."""

import re
from decimal import Decimal

_CHINESE_DIGITS = {
    **{char: value for value, char in enumerate("零一二三四五六七八九")},
    "〇": 0,
    "两": 2,
}
_CHINESE_STEPS = {"十": 10, "百": 100, "千": 1000}
_CHINESE_MYRIADS = {"万": 10**4, "亿": 10**8}
_ONES = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    "|fifteen|sixteen|seventeen|eighteen|nineteen"
)
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_ENGLISH = {word: value for value, word in enumerate(_ONES.split("|"))}
_ENGLISH |= {word: 10 * value for value, word in enumerate(_TENS.split("|"), 2)}
MULTIPLIERS = {
    "k": 10**3,
    "thousand": 10**3,
    "m": 10**6,
    "mn": 10**6,
    "million": 10**6,
    "bn": 10**9,
    "billion": 10**9,
    "trillion": 10**12,
    "百": 10**2,
    "千": 10**3,
    "万": 10**4,
    "十万": 10**5,
    "百万": 10**6,
    "千万": 10**7,
    "亿": 10**8,
    "十亿": 10**9,
    "百亿": 10**10,
    "千亿": 10**11,
    "万亿": 10**12,
}

CHINESE_NUMERAL = "[零〇一二两三四五六七八九十百千万亿]+(?:点[零〇一二三四五六七八九]+)?"
ENGLISH_NUMERAL = rf"(?:(?:{_TENS})(?:[- ](?:{_ONES}))?|{_ONES})"
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}


def fold_width(text: str) -> str:
    """Turn full-width letters, digits and signs into ASCII; positions stay as they are."""
    return text.translate(_FULL_WIDTH)


def parse_digits(text: str) -> Decimal:
    """Parse digits with thousands separators and a decimal point, such as `1,200.50`."""
    return Decimal(text.replace(",", ""))


def parse_chinese(text: str) -> Decimal:
    """Parse a Chinese numeral such as 三千二百, 十五, 两万 or 二〇二六.

    Digits in a row are read one by one. What is no well-formed numeral still gives some number.
    """
    whole, _, fraction = text.partition("点")
    if fraction:
        digits = "".join(str(_CHINESE_DIGITS[char]) for char in fraction)
        return parse_chinese(whole) + Decimal(f"0.{digits}")
    if not any(char in _CHINESE_STEPS or char in _CHINESE_MYRIADS for char in whole):
        return Decimal("".join(str(_CHINESE_DIGITS[char]) for char in whole) or 0)
    total, group, digit = 0, 0, 0
    for char in whole:
        if char in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[char]
        elif char in _CHINESE_STEPS:
            group += (digit or 1) * _CHINESE_STEPS[char]
            digit = 0
        elif char == "万":
            total += (group + digit or 1) * _CHINESE_MYRIADS[char]
            group, digit = 0, 0
        else:
            # 亿 counts all that stands before it: 一万亿 is a thousand billion.
            total = (total + group + digit or 1) * _CHINESE_MYRIADS[char]
            group, digit = 0, 0
    return Decimal(total + group + digit)


def parse_english(text: str) -> Decimal:
    """Parse an English number word up to ninety-nine."""
    return Decimal(sum(_ENGLISH[word] for word in re.split(r"[- ]", text.lower())))

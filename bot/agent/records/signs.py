"""Wordings that tell what is to be done with records: counted, summed up, ranked, listed. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.rag.numerals import fold_width

_NUMBER = r"\d{1,2}|[一二两三四五六七八九十]|one|two|three|four|five|six|seven|eight|nine|ten"
_COUNTERS = "个|台|份|家|条|位|名|张|笔|项|单|次|人|件|套|部|辆|所|间"


class Sign(StrEnum):
    """What a wording asks for."""

    COUNT = "count"
    SUM = "sum"
    AVERAGE = "average"
    TOP = "top"
    BOTTOM = "bottom"
    LIST = "list"
    HOW_MUCH = "how much"
    DURATION = "duration"
    EACH = "each"
    OWN = "own"
    RULE = "rule"
    EXPLAIN = "explain"


_SIGNS: Mapping[Sign, Sequence[str]] = {
    Sign.COUNT: (
        rf"(?:多少|几)(?:{_COUNTERS})|有(?:多少|几)|几(?=人)|数量",
        r"\bhow many\b|\bnumber of\b|\bcount of\b",
    ),
    Sign.SUM: (
        r"总(?:金额|额|值|价值|数|计|和|共|收入)?|合计|一共|总共|共计|加起来|累计",
        r"\b(?:in )?total\b|\bsum\b|\baltogether\b|\bcombined\b",
    ),
    Sign.AVERAGE: (r"平均|均值", r"\b(?:on )?average\b|\bmean\b"),
    Sign.TOP: (
        rf"(?:前|最多的?|最大的?|最高的?)(?P<n>{_NUMBER})(?:{_COUNTERS}|大|名)?",
        r"最多|最大|最高|最贵|最长",
        rf"\btop (?P<n>{_NUMBER})\b",
        rf"\b(?P<n>{_NUMBER}) (?:largest|biggest|highest|most)\b",
        r"\b(?:the )?most(?! of)\b|\bhighest\b|\blargest\b|\bbiggest\b|\btop\b",
    ),
    Sign.BOTTOM: (
        r"最少|最小|最低|最便宜|最短",
        r"\bfewest\b|\bleast\b|\blowest\b|\bsmallest\b",
    ),
    Sign.LIST: (
        rf"哪些|有哪|哪几?(?:{_COUNTERS})?|列出|列一下|都有谁|是谁|谁",
        r"\bwhich\b|\blist\b|\bwhat are\b|\bwho\b|\bwhose\b|\bshow me\b",
    ),
    Sign.HOW_MUCH: (
        r"多少|几(?=天|小时|分钟)|多大|是什么|什么|怎么样|哪一?步|哪里|哪儿|到哪|何时|什么时候|哪天",
        r"\bhow much\b|\bwhat (?:is|was|were)\b|\bwhere\b|\bwhen\b|\bat which\b",
    ),
    Sign.DURATION: (
        r"多久|用时|耗时|时长",
        r"\btime to\b|\bhow long\b|\btime until\b|\btime it took\b",
    ),
    Sign.EACH: (
        r"每(?:个|台|家|位|人|月|年)|各(?:个|自)?|按|分别",
        r"\bper\b|\bby (?=each)?\b|\bfor each\b|\beach\b",
    ),
    Sign.OWN: (r"我(?:的|们的)?(?!们)|本人", r"\bmy\b|\bmine\b|\bi\b"),
    Sign.RULE: (
        r"必须|应当|应该|须在|可以|可否|能|是否可以|允许|要求|规定|标准|上限|限额|规则|制度|流程|政策",
        r"多久内|几天内",
        r"\bmust\b|\bshould\b|\ballowed\b|\bmay\b|\bcan (?:i|we|one|people|they|it)\b",
        r"\bpolic(?:y|ies)\b|\brules?\b|\blimit\b|\bcap\b|\bhave to\b",
    ),
    Sign.EXPLAIN: (
        r"怎么(?!样)|如何|为什么|为何|步骤|是什么意思",
        r"\bhow (?:do|can|should|to|does)\b|\bwhy\b|\bmeans?\b|\bwhat happens\b",
    ),
}
_PATTERNS = {
    sign: [re.compile(text, re.IGNORECASE) for text in texts] for sign, texts in _SIGNS.items()
}
_WORDS = (
    {
        name: number
        for number, name in enumerate(
            ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 1
        )
    }
    | {letter: number for number, letter in enumerate("一二三四五六七八九十", 1)}
    | {"两": 2}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSign:
    """Where a question says so; `number` of "top three", else 0."""

    sign: Sign
    start: int
    end: int
    number: int = 0


def find_signs(question: str) -> list[FoundSign]:
    """Return what the wording asks for, in order; places may overlap."""
    text = fold_width(question)
    found: list[FoundSign] = []
    for sign, patterns in _PATTERNS.items():
        for pattern in patterns:
            for match in pattern.finditer(text):
                name = (match.groupdict().get("n") or "").lower()
                number = int(name) if name.isdigit() else _WORDS.get(name, 0)
                found.append(
                    FoundSign(sign=sign, start=match.start(), end=match.end(), number=number)
                )
    # "Top three" before the "top" in it.
    return sorted(found, key=lambda one: (one.start, -one.end))

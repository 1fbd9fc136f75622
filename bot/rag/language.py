"""Which of our two languages a text is in."""

import re
from typing import Literal

Language = Literal["zh", "en"]

_FOREIGN_SHARE = 0.2

_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]+")
_QUOTED = re.compile(r"[「『《“\"].*?[」』》”\"]|`[^`]*`")
# Words that make a sentence Chinese however many English terms it borrows.
_CHINESE_GRAMMAR = re.compile(
    r"[的吗呢吧么谁哪几怎]|什么|多少|如何|是否|为何|请问|可以|需要|在|是|有|了|把|给|帮"
)


def detect_language(text: str) -> Language:
    """Tell the language a question is asked in.

    What is quoted or set as code does not count: an English question about a Chinese term is
    English. Text without letters of either script counts as English.
    """
    bare = _QUOTED.sub(" ", text)
    han = len(_HAN.findall(bare))
    words = len(_LATIN_WORD.findall(bare))
    if han == 0:
        has_only_quotes = words == 0 and _HAN.search(text) is not None
        return "zh" if has_only_quotes else "en"
    if _CHINESE_GRAMMAR.search(bare):
        return "zh"
    return "zh" if han > words else "en"


def is_chinese(text: str) -> bool:
    """Tell whether running text is mostly Chinese: a Han character weighs as half a word."""
    return len(_HAN.findall(text)) >= 2 * len(_LATIN_WORD.findall(text))


def is_foreign(text: str, language: Language) -> bool:
    """Tell whether running text is hardly in the language at all, as mixed text is not."""
    han = len(_HAN.findall(text))
    words = 2 * len(_LATIN_WORD.findall(text))
    share = han / (han + words) if han + words else 1.0 if language == "zh" else 0.0
    return share < _FOREIGN_SHARE if language == "zh" else share > 1 - _FOREIGN_SHARE

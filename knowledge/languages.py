"""Which of our two languages a text is in. Pure."""

import re
from enum import StrEnum

_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
# Names of products and commands stand in any Chinese text.
_WORDS_QUOTED = 8


class Language(StrEnum):
    """What a text is mostly written in; other than Chinese means words between spaces."""

    CHINESE = "zh"
    OTHER = "other"

    @property
    def foreign(self) -> "Language":
        """The other one."""
        return Language.OTHER if self is Language.CHINESE else Language.CHINESE


def is_all_foreign(text: str, language: Language) -> bool:
    """Tell whether a text has next to nothing in a language: no bilingual table, no quotation."""
    han, words = len(_HAN.findall(text)), len(_LATIN_WORD.findall(text))
    return not han if language is Language.CHINESE else _WORDS_QUOTED * words <= han


def detect_language(text: str) -> Language:
    """Tell what prevails in a text; a Han character counts as half a word."""
    is_chinese = len(_HAN.findall(text)) > 2 * len(_LATIN_WORD.findall(text))
    return Language.CHINESE if is_chinese else Language.OTHER

"""Wordings by which a sentence shows that it gives a reason, a way, a person, a place."""

import re
from collections.abc import Mapping

from bot.rag.question_type import AnswerType

_WEEKDAYS = (
    r"[周每]\s*[一二三四五六日天末周月年]|星期|(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\bevery\b"
    r"|\b(?:daily|weekly|monthly|yearly|quarterly)\b"
)
_SIGNS: Mapping[AnswerType, str] = {
    AnswerType.REASON: (
        r"因为|由于|原因|所以|因此|以便|避免|导致|because|since|due to|so that|therefore"
        r"|in order to|reason|as a result"
    ),
    AnswerType.HOW_TO: (
        r"可以|通过|使用|执行|步骤|先|然后|请|需要|click|run|use|go to|navigate|submit|request"
        r"|please|select|you can|should|must|reach out"
    ),
    AnswerType.TIME: _WEEKDAYS,
    AnswerType.DATE: _WEEKDAYS,
    AnswerType.DEFINITION: r"是|指|即|\bis\b|\bare\b|refers? to|means?",
    AnswerType.PLACE: (
        r"位于|在.{1,12}(?:省|市|县|区|国|州|岛|路|镇|山|河|处|地|楼|室)|分布|出生|located|room|office"
        r"|(?-i:\b(?:in|at|from|near) [A-Z])"
    ),
    AnswerType.CODE: r"`[^`]+`|(?-i:\b[A-Z]{2,}[-_]?\d+)|\b[A-Za-z]+[-_][\w-]+",
    AnswerType.COMMAND: r"`[^`]+`|^```|\b[A-Za-z]+[-_][\w-]+",
    AnswerType.LIST: (
        r"、|，.*，.*，|以下|包括|分别|, .*, .* and |includ|following|such as|^\s*[-*]\s"
    ),
    AnswerType.PERSON: (
        r"[\u4e00-\u9fff]+·[\u4e00-\u9fff]+|先生|女士|经理|部长|主席|总统|教授|负责|由"
        r"|(?-i:(?<![.!?]\s)(?<!^)\b[A-Z][a-z]+(?: [A-Z][a-z'’.]+)+)|@\w"
    ),
}
_PATTERNS = {kind: re.compile(p, re.IGNORECASE | re.MULTILINE) for kind, p in _SIGNS.items()}


def shows_sign(text: str, types: tuple[AnswerType, ...]) -> bool:
    """Tell whether the text is worded like an answer of one of the types."""
    return any(kind in _PATTERNS and _PATTERNS[kind].search(text) for kind in types)

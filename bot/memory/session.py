"""Follow-ups: a question that leans on the one before is given its subject back, by rules."""

import re
from collections.abc import Sequence

from bot.memory.turns import Turn
from bot.rag.language import detect_language

# "那权限呢？", "and for contractors?": what is asked changes, the matter stays.
_ELLIPSIS_ZH = re.compile(
    r"^\s*(?:那么?|还有|另外|再问|以及)?[，,\s]*(?P<rest>.{1,20}?)(?:呢|又?怎么样|又?如何)[?？。!！\s]*$"
)
_LEADS_ON_ZH = re.compile(r"^\s*(?:那么?|那边|然后|接着|还有|另外|以及|同样)[，,\s]?")
_REFERS_ZH = re.compile(
    r"它们?|他们?的?|她们?|这个|那个|这些|那些|这种|那种|这里|那里|这样|上面|前面|刚才|其中|此时|该(?=[\u4e00-\u9fff])"
)
_ELLIPSIS_EN = re.compile(
    r"^\s*(?:and|or|(?:and )?what about|(?:and )?how about)\b[\s,]*(?P<rest>.+?)[?!.\s]*$",
    re.IGNORECASE,
)
_REFERS_EN = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|there|he|she|his|her|the same|one|ones)\b",
    re.IGNORECASE,
)
# A demonstrative before a clause ("that we use") points at nothing said before.
_BOUND_EN = re.compile(
    r"\b(?:that|this)(?= (?:we|you|i|they|are|is|was|were|has|have|can)\b)", re.I
)
_LEADS_ON_EN = re.compile(r"^\s*(?:and|also|then|so|but)\b", re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z0-9][\w'’./-]*")
# A question this short cannot name a matter and what is asked of it.
_SHORT_HAN = 7
_SHORT_WORDS = 4
_END = "?？。.!！ \t\n"
# L4, K7-031: of one kind when the letters are the same.
_CODE = re.compile(r"(?<![A-Za-z0-9])(?P<kind>[A-Za-z]+)[-_]?\d[A-Za-z0-9_-]*")


def resolve_follow_up(question: str, turns: Sequence[Turn]) -> str:
    """Return the question with its matter filled in from the turn before.

    A question that stands on its own comes back as it is. The earlier question is put in front
    whole: recall then has the words of both, and what is asked now stands last. Where only another
    code of the same kind is named ("and L5?"), it takes the place of the earlier one.
    """
    if not turns or not leans_on_earlier(question):
        return question
    if exchanged := _exchange_code(question, turns[-1].question):
        return exchanged
    earlier = turns[-1].question.strip().rstrip(_END)
    gap = "，" if detect_language(question) == "zh" else ". "
    return f"{earlier}{gap}{question.strip()}"


def _exchange_code(question: str, earlier: str) -> str | None:
    """Ask the earlier question of another code; None when more than the code is another."""
    text = question.strip()
    ellipsis = _ELLIPSIS_ZH.match(text) or _ELLIPSIS_EN.match(text)
    code = _CODE.fullmatch(ellipsis["rest"].strip()) if ellipsis else None
    if code is None:
        return None
    alike = [
        match
        for match in _CODE.finditer(earlier)
        if match["kind"].casefold() == code["kind"].casefold()
    ]
    if len(alike) != 1:
        return None
    return f"{earlier[: alike[0].start()]}{code.group()}{earlier[alike[0].end() :]}"


def leans_on_earlier(question: str) -> bool:
    """Tell whether a question needs the one before it to be understood."""
    text = question.strip()
    if detect_language(text) == "zh":
        return bool(
            _ELLIPSIS_ZH.match(text)
            or _LEADS_ON_ZH.match(text)
            or _REFERS_ZH.search(text)
            or len(_HAN.findall(text)) + len(_WORD.findall(text)) <= _SHORT_HAN
        )
    loose = _BOUND_EN.sub(" ", text)
    return bool(
        _ELLIPSIS_EN.match(text)
        or _LEADS_ON_EN.match(text)
        or _REFERS_EN.search(loose)
        or len(_WORD.findall(text)) <= _SHORT_WORDS
    )

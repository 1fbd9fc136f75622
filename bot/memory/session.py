"""Follow-ups: a question that leans on the one before is given its subject back, by rules."""

import re
from collections.abc import Sequence

from bot.memory.swapping import swap_part
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
# "它的有效期", "that policy": one that can be put in the place of the matter itself.
_PRONOUN_ZH = re.compile(r"^(?:那么?|那)?[，,\s]*(?P<word>它们?|这个|那个|这种|那种)(?P<of>的)?")
# What comes before the first of these is what a Chinese question is about.
_TOPIC_END_ZH = re.compile(
    r"的|怎么|如何|怎样|是(?!否)|有(?!效)|要|能|可以|可否|需要|需|应该|多少|多久|多长|几|什么|哪|谁|在|最多|最少|最晚|最迟"
    r"|由|归|得|会|什|为什么|何时|[？?]"
)
_MOST_TOPIC = 14


def resolve_follow_up(question: str, turns: Sequence[Turn]) -> str:
    """Return the question with its matter filled in from the turn before.

    A question that stands on its own comes back as it is. Where one part of the earlier question
    is plainly replaced ("and in Berlin?", "那病假呢？"), it is asked again with the other one;
    where a pronoun stands for its matter, the matter takes its place. Else the earlier question
    is put in front whole: recall then has the words of both, and what is asked now stands last.
    """
    if not turns or not leans_on_earlier(question):
        return question
    earlier = turns[-1].question.strip()
    text = question.strip()
    ellipsis = _ELLIPSIS_ZH.match(text) or _ELLIPSIS_EN.match(text)
    if ellipsis:
        rest = ellipsis["rest"]
        swapped = swap_part(rest, earlier, refers=_refers(rest))
        if swapped is not None:
            return swapped
    if (named := _name_matter(text, earlier)) is not None:
        return named
    gap = "，" if detect_language(question) == "zh" else ". "
    return f"{earlier.rstrip(_END)}{gap}{text}"


def _refers(rest: str) -> bool:
    """Tell whether what is named leans on something else itself."""
    return bool(_REFERS_ZH.search(rest) or _REFERS_EN.search(_BOUND_EN.sub(" ", rest)))


def _name_matter(question: str, earlier: str) -> str | None:
    """Put what the earlier question is about in the place of a pronoun that begins this one."""
    pronoun = _PRONOUN_ZH.match(question)
    end = _TOPIC_END_ZH.search(earlier)
    if pronoun is None or end is None:
        return None
    topic = earlier[: end.start()].strip(" ，,")
    if not 1 < len(topic) <= _MOST_TOPIC or _REFERS_ZH.search(topic):
        return None
    rest = question[pronoun.end() :]
    return f"{topic}{'的' if pronoun['of'] else ''}{rest}"


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

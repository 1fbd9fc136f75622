"""Follow-ups: a question that leans on the one before is given its subject back, by rules."""

import re
from dataclasses import dataclass

from bot.memory.leaning import (
    ASKS_EN,
    ELLIPSIS_EN,
    ELLIPSIS_ZH,
    REFERS_ZH,
    TOPIC_END_ZH,
    leans_on_earlier,
    refers_back,
)
from bot.memory.swapping import swap_part
from bot.rag.language import detect_language

_END = "?？。.!！ \t\n"
# "它的有效期", "that policy": one that can be put in the place of the matter itself.
_PRONOUN_ZH = re.compile(r"^(?:那么?|那)?[，,\s]*(?P<word>它们?|这个|那个|这种|那种)(?P<of>的)?")
_MOST_TOPIC = 14
_MOST_PART = 24
_MOST_EARLIER = 120
_ENDS = 2
_JOINT = re.compile(r"[，,?？。]\s*|\. ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A question as rules understand it.

    Attributes:
        is_whole: It stood on its own, and is as it was.
        is_sure: What it leans on took its place in it; else both stand side by side.
    """

    question: str
    is_whole: bool = False
    is_sure: bool = True


def resolve_follow_up(question: str, before: str) -> Resolved:
    """Fill in the matter of a question from the one before it, empty = there is none.

    A question that stands on its own comes back as it is. Where one part of the earlier question
    is plainly replaced ("and in Berlin?", "那病假呢？"), it is asked again with the other one;
    where a pronoun stands for its matter, the matter takes its place. Else the earlier question
    is put in front whole: recall then has the words of both, and what is asked now stands last.
    """
    earlier, text = before.strip(), question.strip()
    if not earlier or not leans_on_earlier(text):
        return Resolved(question=question, is_whole=True)
    if rest := _find_part(text):
        swapped = swap_part(rest, earlier, refers=refers_back(rest))
        if swapped is not None:
            return Resolved(question=swapped, is_sure=not refers_back(rest))
    if (named := _name_matter(text, earlier)) is not None:
        return Resolved(question=named)
    gap = "，" if detect_language(question) == "zh" else ". "
    return Resolved(question=f"{_shorten(earlier).rstrip(_END)}{gap}{text}", is_sure=False)


def _find_part(text: str) -> str:
    """Return what takes the place of a part of the earlier question; empty = nothing said so."""
    ellipsis = ELLIPSIS_ZH.match(text) or ELLIPSIS_EN.match(text)
    if ellipsis:
        return ellipsis["rest"]
    bare = text.rstrip(_END)
    is_part = not (ASKS_EN.match(bare) or TOPIC_END_ZH.search(bare) or bare.endswith("吗"))
    return bare if is_part and len(bare) <= _MOST_PART else ""


def _shorten(earlier: str) -> str:
    """Keep the beginning and the end of what follow-up after follow-up has made long."""
    parts = [one for one in _JOINT.split(earlier) if one.strip()]
    if len(earlier) <= _MOST_EARLIER or len(parts) <= _ENDS:
        return earlier
    return f"{parts[0]}{'，' if detect_language(earlier) == 'zh' else '. '}{parts[-1]}"


def _name_matter(question: str, earlier: str) -> str | None:
    """Put what the earlier question is about in the place of a pronoun that begins this one."""
    pronoun = _PRONOUN_ZH.match(question)
    end = TOPIC_END_ZH.search(earlier)
    if pronoun is None or end is None:
        return None
    topic = earlier[: end.start()].strip(" ，,")
    if not 1 < len(topic) <= _MOST_TOPIC or REFERS_ZH.search(topic):
        return None
    rest = question[pronoun.end() :]
    return f"{topic}{'的' if pronoun['of'] else ''}{rest}"

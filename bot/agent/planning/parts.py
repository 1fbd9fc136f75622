"""A message of several parts: what is asked first, what follows from it, and on which condition."""

import re
from dataclasses import dataclass

from bot.agent.planning.requests import find_request

_ENDS = re.compile(r"(?<=[?？。!！;；])\s*|(?<=[a-z\d])\.\s+(?=[A-Z])")
_LEANS = re.compile(
    r"[，,]\s*(?=(?:归谁|由谁|谁|用哪|要用|分别|它|该|那么|找谁)\S)"
    r"|,?\s+and\s+(?=(?:who|which|what|where|when|how)\b)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:如果|要是|假如|若是|若)(?P<zh>[^，,。；;]+?)(?:的话)?(?:[，,]|(?=就|帮|请))"
    r"|(?P<zh_end>[^，,。；;？?]+?)的话[，,]?"
    r"|\bif\s+(?P<en>[^,.]+),",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"还没|没有|尚未|没|未|\bnot\b|\bn't\b|\byet to\b", re.IGNORECASE)
_ARRIVED = re.compile(
    r"(?:到达|走到|轮到|到了|到|进入|通过)(?P<zh>\S+)"
    r"|(?:reached|arrived at|got to|passed|with|at)\s+(?:the\s+)?(?P<en>[\w& ]+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What has to hold before something is done: a matter has arrived somewhere, or not.

    Attributes:
        place: Where, such as `finance`.
    """

    place: str
    is_negated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message cut into parts.

    Attributes:
        questions: In order; later ones lean on what earlier ones found.
        request: The part that asks for something to be done; empty = none does.
        condition: None = there is none, or it was not understood.
    """

    questions: tuple[str, ...]
    request: str
    condition: Condition | None


def cut_message(text: str) -> Message:
    """Cut a message into its questions and the request at its end."""
    questions: list[str] = []
    request = ""
    condition = None
    for sentence in filter(None, (part.strip() for part in _ENDS.split(text) if part)):
        found = _CONDITION.search(sentence)
        if found is not None and find_request(sentence):
            request = sentence[found.end() :].strip(" ，,")
            condition = _read_condition(next(filter(None, found.groups()), ""))
        else:
            questions += [part.strip() for part in _LEANS.split(sentence) if part.strip()]
    return Message(questions=tuple(questions), request=request, condition=condition)


def _read_condition(text: str) -> Condition | None:
    arrived = _ARRIVED.search(text)
    if arrived is None:
        return None
    place = (arrived["zh"] or arrived["en"] or "").strip().removesuffix("了")
    return Condition(place=place, is_negated=_NEGATION.search(text) is not None) if place else None

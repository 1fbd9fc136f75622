"""Whether a person's own words ask for something to be done, and what. Pure.

Only these words count: nothing that a page says can make a question a request.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

_POLITE_EN = r"(?:^|[.!?;,]\s+)(?:please[, ]+|(?:could|can|would) you (?:please )?|and )?"
_MAIL_ZH = re.compile(
    r"(?:发|写|寄|回)(?:一)?(?:封|个|份|条)?[^，。,;；]{0,6}(?:邮件|e-?mail|mail|信)"
    r"|(?:邮件|e-?mail|mail)(?:给|告诉|通知|提醒|告知)|用?邮件(?:通知|提醒|告诉|催)",
    re.IGNORECASE,
)
_MAIL_EN = re.compile(
    _POLITE_EN
    + r"(?:(?:e-?mail|mail)(?= \S)|write (?:an? (?:e-?mail|mail|note) )?to |(?:send|drop) (?:an? )?"
    r"(?:e-?mail|mail|note|message) to |send (?=\S))",
    re.IGNORECASE,
)
_TICKET_ZH = re.compile(
    r"(?:提|开|建|报|创建|登记)(?:一?(?:个|张|条))?(?:\S{0,8})?(?:工单|单子|单(?![位个日价元据号]))"
    r"|报修|报障"
)
_TICKET_EN = re.compile(
    r"\b(?:file|open|raise|create|log|submit)\b(?: me| us)?(?: (?:an?|the|another))?(?: \w+){0,3}"
    r" (?:ticket|issue|request)s?\b"
    r"|(?:^|[.!?;]\s+)(?:please )?(?:file|raise|log) (?:it|this|that|what)\b",
    re.IGNORECASE,
)
_REMIND = re.compile(
    r"催(?:一下|一催|促)?|提醒(?!我)|\b(?:remind|nudge|chase)\b(?! me\b)", re.IGNORECASE
)
# Told, not asked for: "how do I file a ticket", "who sends the mail".
_ASKED_HOW = re.compile(
    r"怎么|如何|怎样|什么时候|哪里|哪儿|在哪|谁(?:负责|来)|可以.{0,12}吗|能.{0,12}吗"
    r"|\bhow (?:do|can|to|does|should)\b|\bwhere (?:do|can|should)\b|\bwhen (?:do|can|should)\b"
    r"|\bwho (?:sends|writes|files|opens)\b"
    r"|\b(?:should|must|do) (?:i|we) (?:e-?mail|mail|file|open|raise|send)\b",
    re.IGNORECASE,
)
_IF = re.compile(r"如果|要是|假如|若是|的话|\bif\b|\bunless\b|\bin case\b", re.IGNORECASE)


class RequestKind(StrEnum):
    """What is asked for."""

    EMAIL = "email"
    TICKET = "ticket"
    REMINDER = "reminder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, and where in the text its verb stands."""

    kind: RequestKind
    start: int
    end: int


def find_request(text: str) -> Request | None:
    """Return what somebody asks to be done; None when they only want to know something."""
    for kind, patterns in (
        (RequestKind.EMAIL, (_MAIL_ZH, _MAIL_EN)),
        (RequestKind.TICKET, (_TICKET_ZH, _TICKET_EN)),
        (RequestKind.REMINDER, (_REMIND,)),
    ):
        for pattern in patterns:
            match = pattern.search(text)
            if match is not None and not _ASKED_HOW.search(_sentence_at(text, match.start())):
                return Request(kind=kind, start=match.start(), end=match.end())
    return None


def asks_for_action(text: str) -> bool:
    """Tell whether a person's own words ask for something to be done."""
    return find_request(text) is not None


def is_conditional(text: str) -> bool:
    """Tell whether something is to be done only if something else holds."""
    return _IF.search(text) is not None


def _sentence_at(text: str, place: int) -> str:
    begin = max((text.rfind(mark, 0, place) for mark in "。！？!?；;\n"), default=-1) + 1
    ends = [found for mark in "。！？!?；;\n" if (found := text.find(mark, place)) >= 0]
    return text[begin : min(ends, default=len(text)) + 1]

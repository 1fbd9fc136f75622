"""A request for an e-mail cut into whom it goes to and what it says. Pure."""

import re
from dataclasses import dataclass

from bot.agent.planning.requests import Request

_ADDRESS = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_TO_ZH = re.compile(
    r"(?:给|向|通知|告诉|告知|提醒|催|请|邮件给)(?P<who>[^，。,；;：:]{1,30}?)"
    r"(?=(?:发|写|寄|回)(?:一)?(?:封|个|份|条)?|邮件|，|,|：|:|。|说|一下|$)"
)
_SAYS = (
    r"(?:说(?:一下|明|是)?|告诉(?:他|她|他们|她们|对方)?|内容(?:是|为)|通知(?:他|她|他们)?"
    r"|请(?:他|她)(?:们)?|写明|写上|注明)?[：:，,]?\s*"
)
_SAYS_ZH = re.compile(
    rf"(?:邮件|信|mail)[^，。,：:]{{0,8}}?[，,：:]?\s*{_SAYS}(?P<what>.+)$",
    re.DOTALL | re.IGNORECASE,
)
_SAYS_LATER = re.compile(rf"[，,：:。]\s*{_SAYS}(?P<what>.+)$", re.DOTALL)
_EN = re.compile(
    r"^(?P<who>.+?)(?:\s+(?:to say |saying |telling (?:him|her|them) )?that\s+|\s*:\s+"
    r"|\s+to say\s+|\s+saying\s+|\s+about\s+"
    r"|,\s+(?:saying|telling (?:him|her|them))\s+(?:that\s+)?"
    r"|\s+(?=the\b|an?\b|our\b|my\b))(?P<what>.+)$",
    re.DOTALL | re.IGNORECASE,
)
_TRIM = " \t\n，,。.：:;；!！"
_MANNER_ZH = re.compile(r"^(?:催一?[下催]|提醒一?下|说一?下|问一?下|吧|一下)[，,。\s]*")
_MANNER_ONLY = re.compile(r"^(?:催|提醒|通知|问|催促)(?:一下|一声)?(?:他|她|他们)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailWords:
    """What a request says of an e-mail.

    Attributes:
        who: The words that name the recipients; may be empty.
        addresses: Written out in the request.
        what: What it is to say; may be empty.
        before: What was said before the request, which may be what it is about.
    """

    who: str
    addresses: tuple[str, ...]
    what: str
    before: str


def read_email_request(text: str, request: Request) -> EmailWords:
    """Cut a request; what can't be made out is left empty."""
    addresses = tuple(dict.fromkeys(_ADDRESS.findall(text)))
    plain = re.sub(r"\s*[（(]?" + _ADDRESS.pattern + r"[)）]?", "", text)
    if re.search(r"[\u3400-\u9fff]", plain[: request.end]) or "给" in plain:
        who, what, before = _read_chinese(plain, request)
    else:
        who, what, before = _read_english(plain, request)
    return EmailWords(who=who.strip(_TRIM), addresses=addresses, what=what, before=before)


def _read_chinese(text: str, request: Request) -> tuple[str, str, str]:
    recipients = list(_TO_ZH.finditer(text))
    near = [one for one in recipients if one.start() <= request.end]
    given = [one for one in near if one.group().startswith(("给", "向"))]
    chosen = next(iter((*reversed(given), *reversed(near), *recipients)), None)
    who = chosen["who"] if chosen else ""
    # "发邮件给林夏，…": what it says comes after whom it goes to.
    from_char = max(request.start, chosen.end() - 1 if chosen else 0)
    said = _SAYS_ZH.search(text, request.start) if from_char < request.end else None
    said = said or _SAYS_LATER.search(text, from_char)
    what = said["what"] if said else ""
    what = _MANNER_ZH.sub("", what.strip(_TRIM)).strip(_TRIM)
    begin = min([request.start, *([chosen.start()] if chosen else [])])
    before = re.sub(r"(?:请|麻烦|帮我|帮忙|替我)+$", "", text[:begin].strip(_TRIM)).strip(_TRIM)
    return who, "" if _MANNER_ONLY.match(what) else what, before


def _read_english(text: str, request: Request) -> tuple[str, str, str]:
    rest = text[request.end :].strip()
    before = text[: request.start].strip(_TRIM)
    match = _EN.match(rest)
    if match is None:
        return rest, "", before
    return match["who"], match["what"].strip(), before

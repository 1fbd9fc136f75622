"""Runs of text to inline Markdown. Pure but for what it collects."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from connectors.notion.ids import find_id_in_url
from connectors.notion.payloads import DateValue, RichText

HIDDEN_TITLE = "[…]"
"""Stands for the title of a page that not every reader of this one may see."""


@dataclass(slots=True, kw_only=True)
class References:
    """What a text says of other objects, and how it may say it.

    Attributes:
        find_title: The title of a page or database that every reader of this text may see, else
            None.
        people: Names by user id.
        shown: Pages whose title the text may show, asked for while writing.
        links: Text by id of the linked page, first mention first.
        notes: What could not be read.
    """

    find_title: Callable[[str], str | None] = lambda _id: None
    people: Mapping[str, str] = field(default_factory=dict)
    shown: dict[str, None] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)

    def name(self, target: str) -> str:
        """Return how an object may be named here, and note that the text depends on it."""
        self.shown.setdefault(target)
        title = self.find_title(target)
        self.links.setdefault(target, title or "")
        return HIDDEN_TITLE if title is None else title

    def name_person(self, user_id: str, fallback: str = "") -> str:
        """Return a person's name."""
        return self.people.get(user_id) or fallback.lstrip("@") or "?"


def write_rich_text(spans: Sequence[RichText], references: References) -> str:
    """Write runs of text; line breaks within them stay.

    Neighbours with the same look are written as one, or their marks would stand back to back.
    """
    written: list[str] = []
    pending, sign = "", ""
    for span in spans:
        text, own_sign = _write_span(span, references), _choose_sign(span)
        if own_sign == sign:
            pending += text
            continue
        written.append(_mark(pending, sign))
        pending, sign = text, own_sign
    written.append(_mark(pending, sign))
    return "".join(written)


def write_plain(spans: Sequence[RichText]) -> str:
    """Return the text exactly as it stands, for code."""
    return "".join(span.plain_text for span in spans)


def write_date(date: DateValue) -> str:
    """Write a date or a span; times keep their offset."""
    start, end = _shorten(date.start), _shorten(date.end)
    text = f"{start} → {end}" if end else start
    return f"{text} ({date.time_zone})" if date.time_zone else text


def _shorten(moment: str) -> str:
    """Return a moment as people write it: without a T, seconds or a zero offset."""
    day, _, clock = moment.partition("T")
    if not clock:
        return day
    return f"{day} {clock[:5]}{_offset(clock)}"


def _offset(clock: str) -> str:
    for sign in "+-":
        if sign in clock:
            offset = clock[clock.index(sign) :]
            return "" if offset == "+00:00" else offset
    return ""


def _choose_sign(span: RichText) -> str:
    looks = span.annotations
    if span.type == "equation":
        return ""
    if looks.code:
        return "`"
    return ("~~" if looks.strikethrough else "") + ("**" if looks.bold else "")


def _mark(text: str, sign: str) -> str:
    stripped = text.strip()
    if not sign or not stripped or "\n" in stripped:
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{sign}{stripped}{sign[::-1]}{after}"


def _write_span(span: RichText, references: References) -> str:
    if span.type == "equation":
        expression = span.equation.expression if span.equation else ""
        return f"${expression or span.plain_text}$"
    if span.type == "mention" and span.mention is not None:
        return _write_mention(span, references)
    return _write_link(span, references)


def _write_mention(span: RichText, references: References) -> str:
    mention = span.mention
    if mention is None:
        return span.plain_text
    if mention.target:
        return references.name(mention.target)
    if mention.user is not None:
        return references.name_person(mention.user.id, span.plain_text)
    if mention.date is not None:
        return write_date(mention.date) or span.plain_text
    preview = mention.link_preview or mention.link_mention
    if preview is not None:
        url = preview.url or preview.href
        return _write_outside(preview.title or span.plain_text, url)
    return span.plain_text


def _write_link(span: RichText, references: References) -> str:
    if not span.href:
        return span.plain_text
    if target := find_id_in_url(span.href):
        references.links.setdefault(target, " ".join(span.plain_text.split()))
        return span.plain_text
    return _write_outside(span.plain_text, span.href)


def _write_outside(text: str, url: str) -> str:
    """Write a link out of Notion; its address is shown, never fetched."""
    label = " ".join(text.split())
    if not url.startswith(("http://", "https://")) or label in {"", url}:
        return label or url
    is_plain = "[" not in label and not set("()<> ") & set(url)
    return f"[{label}]({url})" if is_plain else text

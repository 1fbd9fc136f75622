"""Units: blocks with the sentence that leads into them, the smallest pieces kept together."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from knowledge.documents import PassageKind
from knowledge.markdown.blocks import Block, BlockKind
from knowledge.sentences import cut_sentences

_KINDS = {
    BlockKind.HEADING: PassageKind.PROSE,
    BlockKind.PARAGRAPH: PassageKind.PROSE,
    BlockKind.QUOTE: PassageKind.PROSE,
    BlockKind.STEPS: PassageKind.STEPS,
    BlockKind.LIST: PassageKind.LIST,
    BlockKind.TABLE: PassageKind.TABLE,
    BlockKind.CODE: PassageKind.CODE,
}
_LED = frozenset({BlockKind.STEPS, BlockKind.LIST, BlockKind.TABLE, BlockKind.CODE})
_MAX_LEAD_CHARS = 160
_MAX_LAST_SENTENCE_CHARS = 300
# A line that is a title though it is no heading: bold alone, `一、总则`, `（二）范围`.
_TITLE_LINE = re.compile(
    r"(?:\*\*[^*\n]{1,80}\*\*|__[^_\n]{1,80}__)[ ]?[:：]?$"
    r"|(?:[一二三四五六七八九十]{1,3}、|[（(][一二三四五六七八九十]{1,3}[)）])[^。；！？\n]{1,40}$"
    r"|#{1,6} [^\n]+$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A block or part of one.

    Attributes:
        lead: The sentence or title that leads into the body; repeated when the body is split.
        joint: White space between this unit and the one before it.
    """

    kind: BlockKind
    body: str
    line: int
    lead: str = ""
    joint: str = "\n\n"

    @property
    def text(self) -> str:
        """Lead and body as Markdown."""
        return f"{self.lead}\n\n{self.body}" if self.lead else self.body


def build_units(blocks: Iterable[Block]) -> list[Unit]:
    """Turn blocks into units: titles go with what follows, lead-ins with their list or table."""
    units: list[Unit] = []
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            text = f"{'#' * block.level} {block.text}"
            unit = Unit(kind=BlockKind.PARAGRAPH, body=text, line=block.line)
        else:
            unit = Unit(kind=block.kind, body=block.text, line=block.line)
        if units and units[-1].kind is BlockKind.PARAGRAPH:
            units.extend(_attach(units.pop(), unit))
        else:
            units.append(unit)
    return units


def _attach(previous: Unit, unit: Unit) -> list[Unit]:
    """Give a unit what leads into it; the rest of the paragraph before it stays before it."""
    if unit.kind not in _LED:
        if _TITLE_LINE.match(previous.body) is None:
            return [previous, unit]
        body = f"{previous.body}\n\n{unit.body}"
        return [replace(unit, body=body, line=previous.line, joint=previous.joint)]
    lead = _find_lead(previous.body)
    if not lead:
        return [previous, unit]
    rest = previous.body[: -len(lead)]
    if not rest:
        line, joint = previous.line, previous.joint
        return [Unit(kind=unit.kind, body=unit.body, line=line, lead=lead, joint=joint)]
    kept = rest.rstrip()
    line = previous.line + rest.count("\n")
    return [
        replace(previous, body=kept),
        replace(unit, lead=lead, line=line, joint=rest[len(kept) :]),
    ]


def is_title(text: str) -> bool:
    """Tell whether a text begins with a line that is a title."""
    return _TITLE_LINE.match(text.partition("\n")[0]) is not None


def _find_lead(paragraph: str) -> str:
    """Return the end of a paragraph that leads into the block below it, or nothing."""
    title, _, rest = paragraph.partition("\n\n")
    if rest and _TITLE_LINE.match(title) and _find_lead(rest) == rest:
        return paragraph
    sentences = cut_sentences(paragraph)
    if len(sentences) == 1 and len(paragraph) <= _MAX_LEAD_CHARS:
        return paragraph
    last = sentences[-1]
    is_lead = len(last) <= _MAX_LAST_SENTENCE_CHARS and last.rstrip("*_ ").endswith((":", "："))
    return last if is_lead else ""


def join_units(units: Sequence[Unit]) -> str:
    """Join units as they stood in the source."""
    if len(units) == 1:
        return units[0].text
    parts = [units[0].text]
    for unit in units[1:]:
        parts.append(unit.joint)
        parts.append(unit.text)
    return "".join(parts)


def judge_kind(units: Sequence[Unit]) -> PassageKind:
    """Return the kind that most of the text is of; prose where none prevails."""
    if len(units) == 1:
        return _KINDS[units[0].kind]
    sizes: dict[PassageKind, int] = {}
    for unit in units:
        kind = _KINDS[unit.kind]
        sizes[kind] = sizes.get(kind, 0) + len(unit.body)
    kind = max(sizes, key=lambda each: sizes[each])
    return kind if 2 * sizes[kind] >= sum(sizes.values()) else PassageKind.PROSE

"""Lines of a block to paragraphs and headings: wrapped lines joined, words put together again.

Pure.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from connectors.files.pdf_chars import is_cjk
from connectors.files.pdf_layout import MARK, Block
from connectors.files.pdf_text import Line

_BULLET = re.compile(rf"^(?:{MARK.pattern}|[–—*-](?=\s))\s*(?=\S)")
_NUMBERED = re.compile(
    r"^(?:\d{1,3}[.)、](?!\d)|[(（](?:\d{1,3}|[a-zA-Z]|[ivxIVX]+|[一二三四五六七八九十]+)[)）]"
    r"|[①-⑳]|[a-z][.)]\s|[一二三四五六七八九十]{1,3}、)"
)
_CLAUSE = re.compile(r"^(?:\d+(?:\.\d+)+\s|第[一二三四五六七八九十百零\d]+[章节条款篇])")
_TERMINAL = tuple(".。!！?？:：;；…」”\"'’)）]")
_NOT_HEADING = tuple("。；;，,、")
_MAX_HEADING_CHARS = 160
_MAX_HEADING_LINES = 4
_HEAVIER = 1.5
_OTHER_SIZE = 0.7
_INDENT_EM = 0.8
_SHORT_EM = 2.0


@dataclass(slots=True)
class Paragraph:
    """A paragraph, or a heading when `level` is not 0."""

    text: str
    size: float
    level: int = 0
    is_item: bool = False
    ends_short: bool = True
    starts_indented: bool = False


@dataclass(slots=True)
class Typography:
    """What is usual in a document: by it headings are told.

    Attributes:
        sizes: Characters by size of type, in half points.
        min_heading: How much larger than the body a heading is at least.
    """

    sizes: Counter[float] = field(default_factory=Counter)
    weights: Counter[int] = field(default_factory=Counter)
    min_heading: float = 1.12

    def count(self, lines: Iterable[Line]) -> None:
        """Take lines into account."""
        for line in lines:
            self.sizes[round_size(line.size)] += len(line.text)
            self.weights[round(line.weight)] += len(line.text)

    @property
    def body(self) -> float:
        """The size most text is in; 0 when there is none."""
        return max(self.sizes.items(), key=lambda one: one[1])[0] if self.sizes else 0.0

    def is_heavy(self, line: Line) -> bool:
        """Tell whether a line is set in heavier type than most text."""
        usual = max(self.weights.items(), key=lambda one: one[1])[0] if self.weights else 2
        return line.weight >= usual + _HEAVIER

    def may_be_heading(self, line: Line) -> bool:
        """Tell whether a line is set like a heading."""
        is_larger = round_size(line.size) >= self.min_heading * self.body
        is_bold = self.is_heavy(line) and line.size >= 0.95 * self.body
        letters = sum(char.isalpha() for char in line.text)
        return (is_larger or is_bold) and letters > 1 and letters >= 0.4 * len(line.text)


def round_size(size: float) -> float:
    """Round a size of type to half points."""
    return round(size * 2) / 2


def build_paragraphs(block: Block, typography: Typography) -> list[Paragraph]:
    """Split a block into headings and paragraphs."""
    paragraphs: list[Paragraph] = []
    group: list[Line] = []
    is_heading = False
    for number, line in enumerate(block.lines):
        before = block.lines[number - 1] if number else None
        heads = typography.may_be_heading(line)
        starts = (
            before is None
            or heads != is_heading
            or (
                _starts_heading(before, line)
                if heads
                else _starts_paragraph(before, line, group, block)
            )
        )
        if starts and group:
            paragraphs.append(_join(group, block, is_heading=is_heading))
            group = []
        group.append(line)
        is_heading = heads
    if group:
        paragraphs.append(_join(group, block, is_heading=is_heading))
    # Marks and rules alone say nothing.
    return [one for one in paragraphs if any(char.isalnum() for char in one.text)]


def _starts_heading(before: Line, line: Line) -> bool:
    is_other_type = (
        abs(before.size - line.size) > _OTHER_SIZE or abs(before.weight - line.weight) > 1
    )
    is_numbered = bool(_CLAUSE.match(line.text) or _NUMBERED.match(line.text))
    return is_other_type or is_numbered or line.top - before.bottom > 0.9 * line.size


def _starts_paragraph(before: Line, line: Line, group: Sequence[Line], block: Block) -> bool:
    em = line.size
    is_short = before.x1 < block.x1 - _SHORT_EM * em
    has_ended = is_short or before.text.endswith(_TERMINAL)
    is_item = bool(group) and bool(_BULLET.match(group[0].text) or _NUMBERED.match(group[0].text))
    is_marked = bool(_NUMBERED.match(line.text) or _CLAUSE.match(line.text))
    if _BULLET.match(line.text) or (is_marked and (has_ended or is_item)):
        return True
    gaps = [
        after.top - one.bottom for one, after in zip(block.lines, block.lines[1:], strict=False)
    ]
    usual = sorted(gaps)[len(gaps) // 2] if gaps else 0.0
    if line.top - before.bottom > usual + 0.5 * em or abs(before.weight - line.weight) > _HEAVIER:
        return True
    if line.x0 > before.x0 + _INDENT_EM * em and not (is_item and len(group) == 1):
        # The first lines beside a drop cap or a picture are indented too, but nothing ended there.
        return has_ended
    is_indented = line.x0 > block.x0 + _INDENT_EM * em
    if is_indented and len(group) == 1 and not is_item and is_short:
        return True
    return is_short and before.text.endswith(_TERMINAL) and not line.text[:1].islower()


def _join(lines: Sequence[Line], block: Block, *, is_heading: bool) -> Paragraph:
    text = join_lines(lines)
    bullet = _BULLET.match(text)
    is_numbered = bool(_NUMBERED.match(text)) and not is_heading
    is_title = (
        is_heading
        and len(lines) <= _MAX_HEADING_LINES
        and len(text) <= _MAX_HEADING_CHARS
        and not text.endswith(_NOT_HEADING)
        and not bullet
    )
    if bullet and bullet.end() < len(text):
        text = f"- {text[bullet.end() :].lstrip()}"
    last = lines[-1]
    return Paragraph(
        text=text,
        size=max(line.size for line in lines),
        level=1 if is_title else 0,
        is_item=bool(bullet) or is_numbered,
        ends_short=last.x1 < block.x1 - _SHORT_EM * last.size,
        starts_indented=lines[0].x0 > block.x0 + _INDENT_EM * lines[0].size,
    )


def join_lines(lines: Sequence[Line]) -> str:
    """Join wrapped lines: a hyphen at the end goes, Chinese gets no blank."""
    text = ""
    for number, line in enumerate(lines):
        part = line.text.replace("\u00ad", "-" if line.text.endswith("\u00ad") else "")
        text = join_texts(text, part, had_space=number > 0 and lines[number - 1].ends_with_space)
    return text


def join_texts(before: str, after: str, *, had_space: bool = False) -> str:
    """Join two pieces of one sentence that a line, column or page parted."""
    if not before or not after:
        return before + after
    last, first = before[-1], after[0]
    if last in "-‐\ufffe" and first.islower() and re.search(r"[^\W\d_]{2,}[-‐\ufffe]$", before):
        return before[:-1] + after
    if last in "-‐" and not had_space and first.isalnum() and before[-2:-1].isalnum():
        return before + after
    if is_cjk(last) and is_cjk(first):
        return before + after
    if _is_hangul(last) and _is_hangul(first) and not had_space:
        return before + after
    is_mixed = is_cjk(last) != is_cjk(first)
    return before + after if is_mixed and not had_space else f"{before} {after}"


def goes_on(before: Paragraph, after: Paragraph) -> bool:
    """Tell whether a column or page break stands within a paragraph."""
    if before.level or after.level or after.is_item or abs(before.size - after.size) > _OTHER_SIZE:
        return False
    if before.text.endswith(_TERMINAL) or before.ends_short:
        return False
    first = after.text[0]
    return first.islower() or ((is_cjk(first) or _is_hangul(first)) and not after.starts_indented)


def set_levels(paragraphs: Iterable[Paragraph], body: float) -> None:
    """Give headings their level: the largest type is level 1, bold of the body's size the last.

    A heading at the very beginning is the title, however large it is set.
    """
    everything = list(paragraphs)
    headings = [one for one in everything if one.level]
    keys = sorted({max(round(one.size), body) for one in headings}, reverse=True)
    levels = {key: number for number, key in enumerate(keys, start=1)}
    first = everything[0] if everything else None
    shift = 1 if first and first.level and levels[max(round(first.size), body)] > 1 else 0
    for one in headings:
        one.level = min(levels[max(round(one.size), body)] + shift, 6)
    if first is not None and shift:
        first.level = 1


def _is_hangul(char: str) -> bool:
    return "\uac00" <= char <= "\ud7a3"

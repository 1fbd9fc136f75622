"""Lines to blocks, and blocks to the order in which a person reads them. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from connectors.files.pdf_text import Line

_MAX_GAP_EM = 1.1
_MAX_SIZE_RATIO = 1.19
_MAX_ORDERED = 250
_BAND_EM = 3.0
_DROP_CAP_EM = 1.8
_MARK_REACH_EM = 4.0
MARK = re.compile(r"[•●▪■□◆◇○➢►‣⁃∙·❖✓❑☐☑☒\uf000-\uf0ff\x00-\x1f\x7f-\x9f]")
"""Characters that begin an item of a list; those of symbol fonts come as control characters."""


@dataclass(slots=True)
class Block:
    """Lines that stand together, or a table's rows.

    Attributes:
        rows: Cells of a table, header first; None for text.
    """

    x0: float
    x1: float
    top: float
    bottom: float
    lines: list[Line] = field(default_factory=list)
    rows: list[list[str]] | None = None
    header_rows: int = 1

    def add(self, line: Line) -> None:
        """Add a line below."""
        self.lines.append(line)
        self.x0, self.x1 = min(self.x0, line.x0), max(self.x1, line.x1)
        self.top, self.bottom = min(self.top, line.top), max(self.bottom, line.bottom)


def build_blocks(lines: Sequence[Line]) -> list[Block]:
    """Stack lines that lie close below one another, in one column and in one size of type."""
    ordered = sorted(_join_leading(list(lines)), key=lambda line: (round(line.top), line.x0))
    blocks: list[Block] = []
    for number, line in enumerate(ordered):
        claims = [block for block in blocks if _follows(block, line)]
        target = claims[0] if len(claims) == 1 else None
        if target is not None and not _is_claimed_twice(target, line, ordered[number + 1 :]):
            target.add(line)
        else:
            blocks.append(Block(line.x0, line.x1, line.top, line.bottom, [line]))
    return blocks


def _follows(block: Block, line: Line) -> bool:
    last = block.lines[-1]
    gap = line.top - last.bottom
    if not -0.5 * line.size <= gap <= _MAX_GAP_EM * max(last.size, line.size):
        return False
    if max(last.size, line.size) > _MAX_SIZE_RATIO * min(last.size, line.size):
        return False
    shared = min(block.x1, line.x1) - max(block.x0, line.x0)
    return shared > 0.3 * min(block.x1 - block.x0, line.x1 - line.x0)


def _is_claimed_twice(block: Block, line: Line, later: Sequence[Line]) -> bool:
    """A line over two columns ends its block: neither column goes on with it."""
    for other in later:
        if other.top > line.bottom:
            return False
        is_beside = other.x0 >= line.x1 or other.x1 <= line.x0
        if is_beside and _follows(block, other):
            return True
    return False


def _join_leading(lines: list[Line]) -> list[Line]:
    """Put large first letters and marks of lists in front of the line they begin."""
    kept: list[Line] = []
    for line in lines:
        target = None
        if len(line.text) == 1:
            is_letter = line.text.isalpha()
            reach = line.size if is_letter else _MARK_REACH_EM * line.size
            target = next(
                (
                    other
                    for other in sorted(lines, key=lambda one: one.top)
                    if other is not line
                    and len(other.text) > 1
                    and (line.size >= _DROP_CAP_EM * other.size or MARK.match(line.text))
                    and line.top - (other.size if is_letter else 0) <= other.middle <= line.bottom
                    and -0.5 * line.size <= other.x0 - line.x1 <= reach
                ),
                None,
            )
        if target is None:
            kept.append(line)
        elif line.text.isalpha():
            target.text = line.text + target.text
        else:
            target.text, target.x0 = f"{line.text} {target.text}", line.x0
    return kept


def order_blocks(blocks: Sequence[Block]) -> list[Block]:
    """Sort blocks into reading order.

    A wide empty band across the page parts what is read before from what is read after. Within a
    part a block comes before one below it that shares some of its width; and before one to its
    right unless something that spans both stands between them. What this leaves open goes from the
    top down. Source: T. Breuel, High performance document layout analysis, 2003, section 4.
    """
    ordered: list[Block] = []
    for part in _cut_bands(sorted(blocks, key=lambda block: (block.top, block.x0))):
        ordered += _order_part(part)
    return ordered


def _cut_bands(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    sizes = [line.size for block in blocks for line in block.lines]
    least = _BAND_EM * (median(sizes) if sizes else 0.0)
    part: list[Block] = []
    bottom = 0.0
    for block in blocks:
        if part and sizes and block.top - bottom >= least:
            yield part
            part = []
        part.append(block)
        bottom = max(bottom, block.bottom)
    if part:
        yield part


def _order_part(pending: Sequence[Block]) -> list[Block]:
    count = len(pending)
    if count > _MAX_ORDERED:
        return list(pending)
    before = [
        [one for one in range(count) if one != number and _precedes(pending, one, number)]
        for number in range(count)
    ]
    ordered: list[Block] = []
    visited = [False] * count

    def visit(number: int) -> None:
        if visited[number]:
            return
        visited[number] = True
        for one in before[number]:
            visit(one)
        ordered.append(pending[number])

    for number in range(count):
        visit(number)
    return ordered


def _precedes(blocks: Sequence[Block], one: int, other: int) -> bool:
    return _comes_before(blocks[one], blocks[other], blocks)


def _comes_before(a: Block, b: Block, blocks: Sequence[Block]) -> bool:
    if _shares_width(a, b):
        return a.top < b.top
    if a.x0 >= b.x0:
        return False
    low, high = min(a.top, b.top), max(a.top, b.top)
    return not any(
        low < (c.top + c.bottom) / 2 < high and _shares_width(c, a) and _shares_width(c, b)
        for c in blocks
        if c is not a and c is not b
    )


def _shares_width(a: Block, b: Block) -> bool:
    shared = min(a.x1, b.x1) - max(a.x0, b.x0)
    return shared > 0.1 * min(a.x1 - a.x0, b.x1 - b.x0)

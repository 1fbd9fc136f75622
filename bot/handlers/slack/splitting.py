"""Cuts Markdown into messages: at blocks where that is possible, and never losing a character.

Slack takes about 12,000 characters and one table a message.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

TABLE_ROWS, TABLE_COLUMNS = 99, 20
_FENCE = re.compile(r"^(?P<indent> {0,3})(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$")
_RULE = re.compile(r"^\s*\|?\s*:?-{1,}:?\s*(\|\s*:?-{1,}:?\s*)*\|?\s*$")
_CELL_BREAK = re.compile(r"(?<!\\)\|")
_SENTENCE_END = re.compile(r"(?<=[。！？；])|(?<=[.!?;])(?=\s)")


@dataclass(frozen=True, slots=True)
class _Block:
    """A stretch of lines that is better left together.

    Attributes:
        head: Lines to repeat when the block goes on in another message.
        tail: Lines to close it with before.
    """

    lines: tuple[str, ...]
    is_table: bool = False
    head: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join((*self.head, *self.lines, *self.tail))


def split_markdown(text: str, limit: int) -> list[str]:
    """Return the text in pieces of at most `limit` characters with at most one table each.

    Paragraphs, lists, table rows and code lines stay whole while they fit; a table repeats its
    header and code its fence in every piece. A table with more columns than Slack shows becomes
    one list a row. Empty text gives no piece.
    """
    pieces: list[str] = []
    current: list[str] = []
    has_table = False
    for block in _fit_blocks(text, limit):
        size = sum(map(len, current)) + 2 * len(current) + len(block.text)
        if current and (size > limit or (block.is_table and has_table)):
            pieces.append("\n\n".join(current))
            current, has_table = [], False
        current.append(block.text)
        has_table = has_table or block.is_table
    return [*pieces, "\n\n".join(current)] if current else pieces


def _fit_blocks(text: str, limit: int) -> Iterator[_Block]:
    for block in _read_blocks(text):
        if block.is_table and _count_columns(block.head[0]) > TABLE_COLUMNS:
            yield from _cut(_list_rows(block), limit)
        else:
            yield from _cut(block, limit)


def _read_blocks(text: str) -> Iterator[_Block]:
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        end = _find_end(lines, at)
        yield _build_block(lines[at:end])
        at = end


def _find_end(lines: list[str], at: int) -> int:
    """Return where the block that begins at a line ends."""
    if opening := _FENCE.match(lines[at]):
        fence = opening["fence"]
        for index in range(at + 1, len(lines)):
            if lines[index].strip().startswith(fence) and not lines[index].strip(f" {fence[0]}"):
                return index + 1
        return len(lines)
    index = at + 1
    starts_table = _is_table(lines[at : at + 2])
    while index < len(lines) and lines[index].strip() and not _FENCE.match(lines[index]):
        is_next_table = _is_table(lines[index : index + 2])
        if (not starts_table and is_next_table) or (starts_table and "|" not in lines[index]):
            break
        index += 1
    return index


def _build_block(lines: list[str]) -> _Block:
    if opening := _FENCE.match(lines[0]):
        is_closed = len(lines) > 1 and _FENCE.match(lines[-1]) is not None
        body = lines[1:-1] if is_closed else lines[1:]
        return _Block(tuple(body), head=(lines[0],), tail=(opening["indent"] + opening["fence"],))
    if _is_table(lines[:2]):
        return _Block(tuple(lines[2:]), is_table=True, head=tuple(lines[:2]))
    return _Block(tuple(lines))


def _is_table(lines: list[str]) -> bool:
    return (
        len(lines) == 2  # noqa: PLR2004 - header and rule
        and "|" in lines[0]
        and "|" in lines[1]
        and _RULE.match(lines[1]) is not None
    )


def _cut(block: _Block, limit: int) -> Iterator[_Block]:
    """Yield the block in parts that fit, each with the block's head and tail."""
    room = limit - sum(len(line) + 1 for line in (*block.head, *block.tail))
    if room <= 0:
        # The header alone is too long: it goes on as plain lines.
        yield from _cut(_Block((*block.head, *block.lines, *block.tail)), limit)
        return
    most = TABLE_ROWS if block.is_table else len(block.lines) + 1
    part: list[str] = []
    size = 0
    for line in (piece for whole in block.lines for piece in _cut_line(whole, room)):
        if part and (size + len(line) + 1 > room or len(part) >= most):
            yield _Block(tuple(part), block.is_table, block.head, block.tail)
            part, size = [], 0
        part.append(line)
        size += len(line) + 1
    if part or block.head:
        yield _Block(tuple(part), block.is_table, block.head, block.tail)


def _cut_line(line: str, limit: int) -> Iterator[str]:
    """Yield a line, cut after sentences, blanks or anywhere when it is longer than a message."""
    while len(line) > limit:
        ends = [match.end() for match in _SENTENCE_END.finditer(line, 0, limit)]
        at = max((end for end in ends if end > 0), default=0)
        at = at or line.rfind(" ", 1, limit) + 1 or limit
        yield line[:at]
        line = line[at:]
    yield line


def _count_columns(header: str) -> int:
    return len(_read_cells(header))


def _read_cells(row: str) -> list[str]:
    return [cell.strip() for cell in _CELL_BREAK.split(row.strip().strip("|"))]


def _list_rows(block: _Block) -> _Block:
    header = _read_cells(block.head[0])
    lines: list[str] = []
    for row in block.lines:
        cells = _read_cells(row)
        names = header + [""] * (len(cells) - len(header))
        first, *rest = zip(names, cells, strict=False)
        lines.append("- " + ": ".join(filter(None, first)))
        lines += ["  - " + ": ".join(filter(None, pair)) for pair in rest]
    return _Block(tuple(lines))

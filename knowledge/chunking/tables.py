"""Long tables: between rows with the header repeated; a giant row between its cells."""

import re

from knowledge.chunking.meter import Room, TokenMeter, balance
from knowledge.chunking.prose import slice_text
from knowledge.markdown.lines import TABLE_RULE

_CELL_BORDER = re.compile(r"(?<!\\)\|")
_HEADER_LINES = 2


def split_table(table: str, room: Room, meter: TokenMeter) -> list[tuple[str, int]]:
    """Split a table into tables of whole rows, each under the header.

    Returns:
        Text and line offset of each piece. A row that does not fit under the header comes as a
        list of `- header: value`, which begins with the row's first cell in every piece.
    """
    rows = table.split("\n")
    has_header = len(rows) > 1 and TABLE_RULE.match(rows[1]) is not None
    header = rows[:_HEADER_LINES] if has_header else []
    first = len(header)
    body = rows[first:]
    header_cost = meter.measure("\n".join(header)) + 1 if header else 0
    inner = room.shrink(header_cost)
    # Under a wide header the rows may go beyond the target until they weigh as much as it.
    target = min(inner.limit, max(inner.target, header_cost))
    costs = [meter.measure(row) for row in body]
    pieces: list[tuple[str, int]] = []
    starts = balance(costs, target)
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        cost = sum(costs[start:end]) + end - start
        if cost <= max(inner.limit, target) and inner.limit > 1:
            piece = "\n".join([*header, *body[start:end]])
            meter.remember(piece, header_cost + cost)
            pieces.append((piece, first + start))
            continue
        names = _split_cells(header[0]) if header else []
        for index in range(start, end):
            cells = _split_cells(body[index])
            cells += [""] * (len(names) - len(cells))
            texts = _split_row(names, cells, room, meter, keeps_empty=index == 0)
            pieces.extend((text, first + index) for text in texts)
    return pieces or [(table, 0)]


def _split_cells(row: str) -> list[str]:
    cells = [cell.strip() for cell in _CELL_BORDER.split(row)]
    start = 1 if row.startswith("|") else 0
    end = len(cells) - 1 if len(cells) > 1 and row.endswith("|") else len(cells)
    return cells[start:end]


def _split_row(
    names: list[str], cells: list[str], room: Room, meter: TokenMeter, *, keeps_empty: bool
) -> list[str]:
    """Write a row as one or more lists; empty cells are named once, lest a header be lost."""
    lines: list[str] = []
    for index, cell in enumerate(cells):
        name = names[index] if index < len(names) else ""
        label = f"- {name}: " if name else "- "
        inner = room.shrink(meter.measure(label) + 1)
        if cell or (name and keeps_empty):
            parts = slice_text(cell, inner.target, meter)
            lines.extend(f"{label}{part.strip()}".rstrip() for part in parts)
    if not lines:
        return []
    key = lines[0]
    key_cost = meter.measure(key) + 1
    is_repeated = key_cost <= room.target // 4
    costs = [meter.measure(line) for line in lines]
    starts = balance(costs, room.shrink(key_cost if is_repeated else 0).target)
    pieces = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        shown = [key] if is_repeated and start else []
        pieces.append("\n".join([*shown, *lines[start:end]]))
    return pieces

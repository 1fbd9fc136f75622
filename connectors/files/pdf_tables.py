"""Ruled tables of a PDF page. Pure but for pdfplumber's own work on the page."""

from collections.abc import Sequence
from typing import Any

from connectors.files.pdf_layout import Block, build_blocks
from connectors.files.pdf_paragraphs import join_lines
from connectors.files.pdf_text import build_lines
from connectors.files.tables import Cell, build_grid

_MAX_EDGES = 4000
_MIN_FILLED = 0.4
_MAX_CELL_SHARE = 0.5
_MIN_BOX_CHARS = 400
_MIN_COVERED = 0.9
_NEAR = 2.0
_MIN_LINES = 2


def find_tables(page: Any, chars: Sequence[dict[str, Any]]) -> list[Block]:  # noqa: ANN401 - pdfplumber has no types
    """Return a page's tables as blocks with rows.

    Frames around text, charts and drawings have ruled cells too; they are told by their many
    empty cells, or by one that holds most of the page.
    """
    if len(page.edges) > _MAX_EDGES:
        return []
    blocks: list[Block] = []
    for table in page.find_tables():
        block = _build_block(_close_sides(page, table), chars)
        if block is not None and not any(_overlaps(block, other) for other in blocks):
            blocks.append(block)
    return blocks


def drop_chars(chars: Sequence[dict[str, Any]], blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """Return the characters outside all tables."""
    return [char for char in chars if not any(_is_inside(char, block) for block in blocks)]


def _close_sides(page: Any, table: Any) -> Any:  # noqa: ANN401
    """Find the cells at the sides of a table that is drawn without its outer lines."""
    x0, top, x1, bottom = table.bbox
    area = sum((box[2] - box[0]) * (box[3] - box[1]) for box in table.cells)
    if area > _MIN_COVERED * (x1 - x0) * (bottom - top):
        return table
    found = page.crop((x0 - 1, top - 1, x1 + 1, bottom + 1), strict=False).find_tables(
        {"explicit_vertical_lines": [x0, x1], "explicit_horizontal_lines": [top, bottom]}
    )
    return max(found, key=lambda one: len(one.cells), default=table)


def _build_block(table: Any, chars: Sequence[dict[str, Any]]) -> Block | None:  # noqa: ANN401
    boxes = [box for box in table.cells if box is not None]
    xs = _merge_near(sorted({edge for box in boxes for edge in (box[0], box[2])}))
    ys = _merge_near(sorted({edge for box in boxes for edge in (box[1], box[3])}))
    if min(len(xs), len(ys)) <= _MIN_LINES:
        return None
    x0, top, x1, bottom = table.bbox
    inside = [char for char in chars if _is_inside(char, Block(x0, x1, top, bottom))]
    rows: list[list[tuple[int, Cell]]] = [[] for _ in ys[:-1]]
    longest = 0
    for box in sorted(boxes, key=lambda one: (one[1], one[0])):
        text = _read_cell(box, inside)
        longest = max(longest, len(text))
        left, right = _index(xs, box[0]), _index(xs, box[2])
        upper, lower = _index(ys, box[1]), _index(ys, box[3])
        if right > left and lower > upper:
            rows[upper].append((left, Cell(text=text, rows=lower - upper, columns=right - left)))
    grid = build_grid([[cell for _, cell in sorted(row, key=lambda one: one[0])] for row in rows])
    cells = [text for row in grid.rows for text in row]
    filled = sum(1 for text in cells if text)
    total = sum(len(cell.text) for row in rows for _, cell in row)
    is_box = longest > _MIN_BOX_CHARS and longest > _MAX_CELL_SHARE * total
    if not cells or filled < _MIN_FILLED * len(cells) or is_box:
        return None
    if not _has_several(grid.rows) or not _has_several(list(zip(*grid.rows, strict=True))):
        return None
    header = 1
    while header < len(rows) - 1 and any(cell.rows > 1 for _, cell in rows[header - 1]):
        header += 1
    return Block(x0, x1, top, bottom, rows=grid.rows, header_rows=min(header, 3))


def _has_several(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether at least two rows hold text."""
    return sum(1 for row in rows if any(row)) > 1


def _read_cell(box: tuple[float, float, float, float], chars: Sequence[dict[str, Any]]) -> str:
    inside = [char for char in chars if _is_inside(char, Block(box[0], box[2], box[1], box[3]))]
    parts = [join_lines(block.lines) for block in build_blocks(build_lines(inside))]
    return " ".join(parts)


def _is_inside(char: dict[str, Any], block: Block) -> bool:
    x, y = (char["x0"] + char["x1"]) / 2, (char["top"] + char["bottom"]) / 2
    return bool(
        block.x0 - 0.5 <= x <= block.x1 + 0.5 and block.top - 0.5 <= y <= block.bottom + 0.5
    )


def _overlaps(a: Block, b: Block) -> bool:
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.bottom, b.bottom) - max(a.top, b.top)
    return width > _NEAR and height > _NEAR


def _merge_near(edges: Sequence[float]) -> list[float]:
    merged: list[float] = []
    for edge in edges:
        if not merged or edge - merged[-1] > _NEAR:
            merged.append(edge)
    return merged


def _index(edges: Sequence[float], value: float) -> int:
    return min(range(len(edges)), key=lambda number: abs(edges[number] - value))

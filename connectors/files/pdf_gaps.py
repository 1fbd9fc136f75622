"""Tables without ruled lines: rows whose pieces stand under one another. Pure."""

from collections.abc import Iterator, Sequence

from connectors.files.pdf_layout import Block
from connectors.files.pdf_text import Line
from connectors.files.tables import is_number

_MIN_ROWS = 3
_MAX_COLUMNS = 15
_MIN_FILLED = 0.55
_MAX_CELL_CHARS = 80
_Cell = tuple[float, float, str]


def cut_gap_tables(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks with such tables cut out of the text around them."""
    for block in blocks:
        if block.rows is not None:
            yield block
        else:
            yield from _cut(block)


def _cut(block: Block) -> Iterator[Block]:
    text: list[Line] = []
    run: list[Line] = []
    for line in [*block.lines, None]:
        if line is not None and (len(line.cells) > 1 or (run and _goes_on(run, line))):
            run.append(line)
            continue
        table = _build_table(run)
        if table is None:
            text += run
        else:
            yield from _build_text(text)
            yield table
            text = []
        run = []
        text += [line] if line is not None else []
    yield from _build_text(text)


def _goes_on(run: Sequence[Line], line: Line) -> bool:
    """Tell whether a line goes on with a cell of the row above: under it and not at the margin."""
    above = [cell for one in run for cell in one.cells]
    start = min(cell[0] for cell in above)
    is_under = any(cell[0] - 1 <= line.x0 and line.x1 <= cell[1] + line.size for cell in above)
    return is_under and line.x0 > start + line.size


def _build_table(run: Sequence[Line]) -> Block | None:
    wide = [line for line in run if len(line.cells) > 1]
    if len(wide) < _MIN_ROWS:
        return None
    columns = _find_columns([cell for line in run for cell in line.cells])
    if not 1 < len(columns) <= _MAX_COLUMNS:
        return None
    rows: list[list[str]] = []
    for line in run:
        row = [""] * len(columns)
        for cell in line.cells:
            at = next(number for number, one in enumerate(columns) if one[0] <= cell[0] < one[1])
            row[at] = f"{row[at]} {cell[2]}".strip()
        if len(line.cells) == 1 and rows:
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
    cells = [text for row in rows for text in row]
    filled = sum(1 for text in cells if text)
    if filled < _MIN_FILLED * len(cells) or max(map(len, cells)) > _MAX_CELL_CHARS:
        return None
    header = 0 if any(is_number(text) for text in rows[0]) else 1
    return Block(
        x0=min(line.x0 for line in run),
        x1=max(line.x1 for line in run),
        top=run[0].top,
        bottom=run[-1].bottom,
        rows=rows,
        header_rows=header,
    )


def _find_columns(cells: Sequence[_Cell]) -> list[tuple[float, float]]:
    """Return the stretches of the width that cells cover, from the left."""
    columns: list[tuple[float, float]] = []
    for x0, x1, _ in sorted(cells):
        if columns and x0 < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], x1))
        else:
            columns.append((x0, x1))
    return columns


def _build_text(lines: Sequence[Line]) -> Iterator[Block]:
    if lines:
        block = Block(lines[0].x0, lines[0].x1, lines[0].top, lines[0].bottom)
        for line in lines:
            block.add(line)
        yield block

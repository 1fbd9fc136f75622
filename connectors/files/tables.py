"""Rows of cells to Markdown tables. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"[-+(]?[¥$€£￥]?\s*\d[\d,.\s]*\d?%?\)?\s*[^\W\d_]{0,3}|[-–—]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell as it is laid out: its text and how many rows and columns it covers."""

    text: str
    rows: int = 1
    columns: int = 1
    is_header: bool = False


@dataclass(slots=True)
class Grid:
    """A table with its spans filled in, and where the filled cells come from.

    A cell over several rows or columns says its text in each of them, so that every row can be
    read alone; one over a whole row, a caption within the table, says it once.
    """

    rows: list[list[str]]
    header_rows: int = 0


def build_grid(rows: Iterable[Sequence[Cell]]) -> Grid:
    """Fill in the spans of a table given row by row, each cell once."""
    filled: list[dict[int, str]] = []
    captions: set[int] = set()
    header_rows = 0
    pending: dict[tuple[int, int], str] = {}
    width = 0
    for number, cells in enumerate(rows):
        row = {column: text for (at, column), text in pending.items() if at == number}
        column = 0
        for cell in cells:
            while column in row:
                column += 1
            for offset in range(max(1, min(cell.columns, 1000))):
                row[column + offset] = cell.text
                for below in range(1, max(1, min(cell.rows, 10_000))):
                    pending[(number + below, column + offset)] = cell.text
            column += max(1, min(cell.columns, 1000))
        width = max(width, *(one + 1 for one in row), 0)
        if cells and all(cell.is_header for cell in cells) and header_rows == number:
            header_rows = number + 1
        filled.append(row)
        if len(cells) == 1 and cells[0].columns > 1 and len(row) == cells[0].columns:
            captions.add(number)
    grid = [[row.get(column, "") for column in range(width)] for row in filled]
    for number in captions:
        grid[number] = [grid[number][0], *[""] * (width - 1)]
    return Grid(rows=grid, header_rows=header_rows)


def write_table(rows: Sequence[Sequence[str]], header_rows: int = 1) -> str:
    """Return a Markdown table; several header rows become one, joined from the top down.

    Empty rows and columns are left out. A table of one column becomes a list of paragraphs.
    """
    cells = [[_clean(text) for text in row] for row in rows]
    width = max((len(row) for row in cells), default=0)
    cells = [[*row, *[""] * (width - len(row))] for row in cells]
    header_rows -= sum(1 for row in cells[:header_rows] if not any(row))
    cells = [row for row in cells if any(row)]
    kept = [column for column in range(width) if any(row[column] for row in cells)]
    cells = [[row[column] for column in kept] for row in cells]
    if not cells:
        return ""
    if len(kept) == 1:
        return "\n\n".join(row[0] for row in cells)
    header = merge_header(cells[:header_rows]) if header_rows > 0 else [""] * len(kept)
    lines = [_line(header), "|" + " --- |" * len(kept)]
    lines += [_line(row) for row in cells[max(0, header_rows) :]]
    return "\n".join(lines)


def merge_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """Join the header rows of each column, top down, what repeats said once."""
    return [
        " / ".join(dict.fromkeys(text for text in column if text))
        for column in zip(*rows, strict=True)
    ]


def is_number(text: str) -> bool:
    """Tell whether a cell holds a value rather than a name."""
    return _NUMBER.fullmatch(text.strip()) is not None


def _clean(text: str) -> str:
    return " ".join(text.replace("\xa0", " ").split()).replace("\\|", "|").replace("|", "\\|")


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"

"""Tables of the storage format: spans filled in, each cell on one line. Pure."""

import re
from collections.abc import Callable, Iterator

from bs4 import Tag

from connectors.confluence.storage_parse import children_of
from connectors.confluence.storage_text import Findings
from connectors.files.tables import build_grid, write_table
from connectors.files.web_cell import build_cell

WriteBlocks = Callable[[Tag, Findings], Iterator[str]]

_LEAD = re.compile(r"^(#+|-|>|\d+\.|`{3,}[\w+#.-]*)(\s+|$)")


def write_tables(tag: Tag, findings: Findings, write_blocks: WriteBlocks) -> Iterator[str]:
    """Yield a table; one of a single column is taken apart into its blocks."""
    rows = [row for row in tag.find_all("tr") if row.find_parent("table") is tag]
    cells = [[cell for cell in children_of(row) if cell.name in {"td", "th"}] for row in rows]
    if max((len(row) for row in cells), default=0) <= 1:
        for row in cells:
            for cell in row:
                yield from write_blocks(cell, findings)
        return
    grid = build_grid(
        [
            [build_cell(cell, _flatten(write_blocks(cell, findings))) for cell in row]
            for row in cells
        ]
    )
    table = write_table(grid.rows, grid.header_rows)
    if table:
        yield table


def _flatten(blocks: Iterator[str]) -> str:
    """Write a cell on one line: items and paragraphs separated, an inner table row by row."""
    parts: list[str] = []
    for block in blocks:
        for line in block.split("\n"):
            text = line.strip()
            if re.fullmatch(r"\|(?: --- \|)+", text):
                continue
            if text.startswith("|"):
                text = " ".join(text.replace("\\|", "/").replace("|", " ").split())
            text = _LEAD.sub("", text)
            if text:
                parts.append(text)
    return "; ".join(parts)

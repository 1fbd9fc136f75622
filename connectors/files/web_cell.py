"""Cells of tables in HTML, and in formats that look like it. Pure."""

from bs4 import Tag

from connectors.files.tables import Cell


def build_cell(tag: Tag, text: str) -> Cell:
    """Return a cell with its spans; what is no number there covers one row or column."""
    return Cell(
        text=text,
        rows=_read_span(tag, "rowspan"),
        columns=_read_span(tag, "colspan"),
        is_header=tag.name == "th" or tag.find_parent("thead") is not None,
    )


def _read_span(tag: Tag, name: str) -> int:
    value = str(tag.get(name) or "1").strip()
    return int(value) if value.isdecimal() and int(value) > 0 else 1

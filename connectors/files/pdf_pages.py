"""Pages of lines and tables to one Markdown text. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from connectors.files.pdf_furniture import drop_furniture
from connectors.files.pdf_gaps import cut_gap_tables
from connectors.files.pdf_layout import Block, build_blocks, order_blocks
from connectors.files.pdf_paragraphs import (
    Paragraph,
    Typography,
    build_paragraphs,
    goes_on,
    join_texts,
    set_levels,
)
from connectors.files.pdf_text import Line
from connectors.files.tables import write_table
from knowledge.documents import page_mark

_OCR_HEADING = 1.35
_MAX_SHIFT = 12.0


@dataclass(slots=True, kw_only=True)
class PageText:
    """What was found on one page; `number` counts from 1."""

    number: int
    width: float
    height: float
    lines: list[Line] = field(default_factory=list)
    tables: list[Block] = field(default_factory=list)
    is_ocr: bool = False


@dataclass(slots=True)
class _Element:
    page: int
    paragraph: Paragraph | None = None
    table: Block | None = None


def write_pages(pages: Sequence[PageText], *, marks_pages: bool = True) -> str:
    """Return the Markdown of all pages; `marks_pages` puts a line before each that says so."""
    kept = drop_furniture([page.lines for page in pages], [page.height for page in pages])
    typography = Typography()
    for lines in kept:
        typography.count(lines)
    is_ocr = sum(page.is_ocr for page in pages) > len(pages) / 2
    if is_ocr:
        typography.min_heading = _OCR_HEADING
    elements: list[_Element] = []
    for page, lines in zip(pages, kept, strict=True):
        blocks = order_blocks([*build_blocks(lines), *page.tables])
        elements.extend(_iterate(page.number, list(cut_gap_tables(blocks)), typography))
    elements = _join_parted(elements)
    set_levels((one.paragraph for one in elements if one.paragraph), typography.body)
    return _write(elements, marks_pages=marks_pages)


def _iterate(page: int, blocks: Sequence[Block], typography: Typography) -> Iterator[_Element]:
    for block in blocks:
        if block.rows is not None:
            yield _Element(page, table=block)
            continue
        for paragraph in build_paragraphs(block, typography):
            yield _Element(page, paragraph=paragraph)


def _join_parted(elements: Sequence[_Element]) -> list[_Element]:
    """Put together paragraphs and tables that a column or page break parted."""
    joined: list[_Element] = []
    for element in elements:
        last = joined[-1] if joined else None
        if last is None:
            joined.append(element)
        elif last.paragraph and element.paragraph and goes_on(last.paragraph, element.paragraph):
            last.paragraph.text = join_texts(last.paragraph.text, element.paragraph.text)
            last.paragraph.ends_short = element.paragraph.ends_short
        elif last.table and element.table and _is_same_table(last, element):
            _append_rows(last.table, element.table)
        else:
            joined.append(element)
    return joined


def _is_same_table(above: _Element, below: _Element) -> bool:
    if above.table is None or below.table is None or below.page != above.page + 1:
        return False
    widths = len((above.table.rows or [[]])[0]), len((below.table.rows or [[]])[0])
    shift = abs(above.table.x0 - below.table.x0) + abs(above.table.x1 - below.table.x1)
    is_aligned = shift < _MAX_SHIFT
    return widths[0] == widths[1] and is_aligned


def _append_rows(above: Block, below: Block) -> None:
    rows, more = above.rows or [], below.rows or []
    header = above.header_rows
    above.rows = [*rows, *(more[header:] if more[:header] == rows[:header] else more)]


def _write(elements: Sequence[_Element], *, marks_pages: bool) -> str:
    text, page, item_kind = "", 0, ""
    for element in elements:
        if element.page != page and marks_pages:
            page, item_kind = element.page, ""
            text += f"\n\n{page_mark(page)}"
        if element.table is not None:
            text += "\n\n" + write_table(element.table.rows or [], element.table.header_rows)
            item_kind = ""
        elif element.paragraph is not None:
            written = _write_paragraph(element.paragraph)
            kind = _find_item_kind(written)
            text += ("\n" if kind and kind == item_kind else "\n\n") + written
            item_kind = kind
    return text.strip()


def _find_item_kind(written: str) -> str:
    """Tell bullets from numbers: items of one kind form a list."""
    match = _LIST.match(written)
    return match.group().strip()[-1] if match else ""


def _write_paragraph(paragraph: Paragraph) -> str:
    text = " ".join(_CONTROL.sub("", paragraph.text).split())
    if paragraph.level:
        return f"{'#' * paragraph.level} {text}"
    if text.startswith("#"):
        return "\\" + text
    # A label Markdown has no list for goes behind a mark it has.
    return f"- {text}" if paragraph.is_item and not _LIST.match(text) else text


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
_LIST = re.compile(r"(?:-|\d{1,3}[.)])\s")

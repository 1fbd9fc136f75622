"""DOCX to Markdown: headings, numbered lists, tables, text boxes, notes, charts.

Headers and footers are other parts of the file and stay out. Works on the file's XML and not on a
library's view of it, which knows neither list numbers nor text boxes nor form fields.
"""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from connectors.files.archive import open_archive
from connectors.files.converted import Converted, Job, clean_author, clean_title
from connectors.files.markdown import take_title
from connectors.files.office_xml import W, read_properties, read_relations, read_xml
from connectors.files.tables import Cell, build_grid, write_table
from connectors.files.word_charts import read_chart
from connectors.files.word_numbering import Numbering, parse_numbering
from connectors.files.word_styles import Styles, parse_styles
from connectors.files.word_text import Inline, read_inline, unify_boxes
from core.errors import UnsupportedContentError

_DOCUMENT = "word/document.xml"
_PLAIN_NUMBER = re.compile(r"(\d+)[.)、．]?")
_MARKER = re.compile(r"[(（]?\w{1,6}[.)）、．]|[①-⑳]|\W")
_BOX = re.compile(r"\[[x ]\] ")
_INDENT = 3


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of Markdown; `level` counts from 0 for items of lists and is None for the rest."""

    text: str
    level: int | None = None


@dataclass(slots=True, kw_only=True)
class _Reader:
    """What the whole document is read with."""

    archive: zipfile.ZipFile
    name: str
    styles: Styles
    numbering: Numbering
    relations: dict[str, tuple[str, bool]]
    notes: dict[str, etree._Element]
    footnotes: list[str] = field(default_factory=list)


def convert_word(job: Job) -> Converted:
    """Convert a DOCX file."""
    with open_archive(job) as archive:
        root = read_xml(archive, _DOCUMENT, job.name)
        body = root.find(f"{W}body") if root is not None else None
        if body is None:
            raise UnsupportedContentError(f"{job.name!r} is damaged: it has no text part")
        properties = read_properties(archive, job.name)
        reader = _Reader(
            archive=archive,
            name=job.name,
            styles=parse_styles(read_xml(archive, "word/styles.xml", job.name), body),
            numbering=parse_numbering(read_xml(archive, "word/numbering.xml", job.name)),
            relations=read_relations(archive, _DOCUMENT, job.name),
            notes=_read_notes(archive, job.name),
        )
        markdown = _join(list(_read_blocks(body, reader)))
    if reader.footnotes:
        markdown += "\n\n" + "\n\n".join(reader.footnotes)
    title, markdown = take_title("", markdown)
    keywords = re.split(r"[,，;；]", properties["keywords"])
    return Converted(
        markdown=markdown.strip(),
        title=title or clean_title(properties["title"], job.name),
        author=clean_author(properties["creator"]),
        labels=tuple(word.strip() for word in keywords if word.strip()),
    )


def _read_notes(archive: zipfile.ZipFile, name: str) -> dict[str, etree._Element]:
    notes: dict[str, etree._Element] = {}
    for kind in ("foot", "end"):
        root = read_xml(archive, f"word/{kind}notes.xml", name)
        for note in root.iter(f"{W}{kind}note") if root is not None else ():
            notes[f"{kind}:{note.get(f'{W}id')}"] = note
    return notes


def _join(blocks: list[_Block]) -> str:
    """Join blocks by empty lines; the items of one list stand close, indented from its first."""
    text, base = "", 0
    for before, block in zip([None, *blocks], blocks, strict=False):
        is_in_list = before is not None and before.level is not None and block.level is not None
        if before is not None:
            text += "\n" if is_in_list else "\n\n"
        if block.level is None:
            text += block.text
            continue
        base = min(base, block.level) if is_in_list else block.level
        indent = " " * (_INDENT * (block.level - base))
        text += "\n".join(indent + line for line in block.text.split("\n"))
    return text


def _read_blocks(parent: etree._Element, reader: _Reader) -> Iterator[_Block]:
    for child in parent:
        if child.tag == f"{W}p":
            yield from _read_paragraph(child, reader)
        elif child.tag == f"{W}tbl":
            yield from _read_table(child, reader)
        elif child.tag == f"{W}sdt":
            content = child.find(f"{W}sdtContent")
            if content is not None and not _is_contents_list(child):
                yield from _read_blocks(content, reader)
        elif child.tag in {f"{W}ins", f"{W}customXml", f"{W}smartTag"}:
            yield from _read_blocks(child, reader)


def _is_contents_list(control: etree._Element) -> bool:
    gallery = control.find(f"{W}sdtPr/{W}docPartObj/{W}docPartGallery")
    return gallery is not None and "Table of Contents" in str(gallery.get(f"{W}val"))


def _read_paragraph(paragraph: etree._Element, reader: _Reader) -> Iterator[_Block]:
    look = reader.styles.find_look(paragraph)
    if look.is_contents:
        return
    inline = read_inline(paragraph, reader.relations)
    _take_footnotes(inline, reader)
    text = _tidy(inline.text)
    label = None
    if look.number_id and text:
        label = reader.numbering.get_label(look.number_id, look.list_level)
    if text and look.heading:
        heading = " ".join(f"{label or ''} {text}".split()).removeprefix("• ")
        yield _Block(f"{'#' * look.heading} {heading}")
    elif text and label:
        yield _write_item(label, text, look.list_level)
    elif _BOX.match(text):
        yield _Block(f"- {text}", level=0)
    elif text:
        yield _Block(text)
    for box in inline.boxes:
        yield from _read_blocks(box, reader)
    for chart in inline.charts:
        target, _ = reader.relations.get(chart, ("", False))
        table = read_chart(read_xml(reader.archive, target, reader.name)) if target else ""
        if table:
            yield _Block(table)


def _write_item(label: str, text: str, level: int) -> _Block:
    """Write a list item; labels Markdown has no list for are kept in the text."""
    plain = _PLAIN_NUMBER.fullmatch(label)
    if label == "•":
        mark = "- "
    elif plain:
        mark = f"{plain[1]}. "
    elif _MARKER.fullmatch(label):
        mark = f"- {label} "
    else:
        return _Block(f"{label} {text}")
    lines = text.split("\n")
    rest = [f"{' ' * len(mark)}{line}" for line in lines[1:]]
    return _Block("\n".join([mark + lines[0], *rest]), level=level)


def _take_footnotes(inline: Inline, reader: _Reader) -> None:
    """Number a paragraph's notes on from the document's, and put their text aside."""
    for own, note_id in enumerate(inline.notes, start=1):
        note = reader.notes.get(note_id)
        parts = note.iter(f"{W}p") if note is not None else ()
        text = " ".join(_tidy(read_inline(part, {}).text) for part in parts).strip()
        if text:
            reader.footnotes.append(f"[{len(reader.footnotes) + 1}] {text}")
        number = f"[{len(reader.footnotes)}]" if text else ""
        inline.text = inline.text.replace(f"[^{own}]", number, 1)


def _tidy(text: str) -> str:
    lines = (" ".join(line.split()) for line in unify_boxes(text).split("\n"))
    return "\n".join(line for line in lines if line)


def _read_table(table: etree._Element, reader: _Reader) -> Iterator[_Block]:
    rows = list(_iterate(table, "tr"))
    cells = [list(_iterate(row, "tc")) for row in rows]
    if max((len(row) for row in cells), default=0) <= 1:
        for row in cells:
            for cell in row:
                yield from _read_blocks(cell, reader)
        return
    grid = build_grid(_layout(rows, cells, reader))
    written = write_table(grid.rows, _count_header_rows(table, rows))
    if written:
        yield _Block(written)


def _iterate(parent: etree._Element, name: str) -> Iterator[etree._Element]:
    """Yield rows or cells, also those wrapped in a control or a tracked insertion."""
    for child in parent:
        if child.tag == f"{W}{name}":
            is_deleted = child.find(f"{W}trPr/{W}del") is not None
            if not is_deleted:
                yield child
        elif child.tag in {f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}customXml"}:
            yield from _iterate(child, name)


def _layout(
    rows: list[etree._Element], cells: list[list[etree._Element]], reader: _Reader
) -> list[list[Cell]]:
    """Turn cells that continue the one above into a span of that one."""
    placed = [
        [(column, cell) for column, cell in _place(row, own)]
        for row, own in zip(rows, cells, strict=True)
    ]
    laid: list[list[Cell]] = []
    for number, row in enumerate(placed):
        out: list[Cell] = [Cell(text="")] * _skipped(rows[number], "gridBefore")
        for column, cell in row:
            if _merge(cell) == "continue" and _has_start(placed, number, column):
                continue
            span = 1
            while number + span < len(placed) and _continues(placed[number + span], column):
                span += 1
            text = _read_cell(cell, reader)
            out.append(Cell(text=text, rows=span if _merge(cell) else 1, columns=_span(cell)))
        laid.append(out)
    return laid


def _place(
    row: etree._Element, cells: list[etree._Element]
) -> Iterator[tuple[int, etree._Element]]:
    column = _skipped(row, "gridBefore")
    for cell in cells:
        yield column, cell
        column += _span(cell)


def _skipped(row: etree._Element, name: str) -> int:
    found = row.find(f"{W}trPr/{W}{name}")
    value = str(found.get(f"{W}val") or "0") if found is not None else "0"
    return min(int(value), 100) if value.isdecimal() else 0


def _span(cell: etree._Element) -> int:
    found = cell.find(f"{W}tcPr/{W}gridSpan")
    value = str(found.get(f"{W}val") or "1") if found is not None else "1"
    return max(1, min(int(value), 1000)) if value.isdecimal() else 1


def _merge(cell: etree._Element) -> str:
    found = cell.find(f"{W}tcPr/{W}vMerge")
    return str(found.get(f"{W}val") or "continue") if found is not None else ""


def _continues(row: list[tuple[int, etree._Element]], column: int) -> bool:
    return any(at == column and _merge(cell) == "continue" for at, cell in row)


def _has_start(rows: list[list[tuple[int, etree._Element]]], number: int, column: int) -> bool:
    """A broken file may continue what never began; its text must not be lost."""
    for row in reversed(rows[:number]):
        cell = next((cell for at, cell in row if at == column), None)
        if cell is None or not _merge(cell):
            return False
        if _merge(cell) == "restart":
            return True
    return False


def _read_cell(cell: etree._Element, reader: _Reader) -> str:
    """Write a cell on one line, paragraphs set apart."""
    text = ""
    for block in _read_blocks(cell, reader):
        part = re.sub(r"^(#+|-) ", "", " ".join(block.text.replace("| --- |", "").split()))
        separator = " " if not text or text.endswith(tuple("。；;.!?！？：:，,、")) else "; "
        text = f"{text}{separator}{part}" if text else part
    return text


def _count_header_rows(table: etree._Element, rows: list[etree._Element]) -> int:
    flagged = 0
    for row in rows:
        if row.find(f"{W}trPr/{W}tblHeader") is None:
            break
        flagged += 1
    look = table.find(f"{W}tblPr/{W}tblLook")
    has_first = look is None or look.get(f"{W}firstRow") != "0"
    return flagged or (1 if has_first and len(rows) > 1 else 0)

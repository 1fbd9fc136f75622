"""XLSX to Markdown: every table of every sheet, its values as the sheet shows them.

Rows are streamed, so that a used range of a million empty rows costs nothing.
"""

import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import openpyxl
from lxml import etree
from openpyxl.cell.read_only import EmptyCell
from openpyxl.utils.cell import range_boundaries

from connectors.files.archive import open_archive
from connectors.files.converted import Converted, Job, clean_author, clean_title
from connectors.files.number_format import format_value
from connectors.files.office_xml import R, read_properties, read_relations, read_xml
from connectors.files.sheet_headers import Area, Position
from connectors.files.sheet_tables import write_sheet
from core.errors import UnsupportedContentError

_WORKBOOK = "xl/workbook.xml"
_MAX_MERGED = 10_000
_NAME = re.compile(r"\{[^}]*\}")


@dataclass(slots=True)
class _Sheet:
    """What the streamed rows do not tell."""

    merged: list[Area] = field(default_factory=list)
    uncomputed: int = 0


def convert_spreadsheet(job: Job) -> Converted:
    """Convert an XLSX file."""
    with open_archive(job) as archive:
        members = _find_members(archive, job.name)
        properties = read_properties(archive, job.name)
        extras = {title: _read_extras(archive, member, job) for title, member in members.items()}
    blocks: list[str] = []
    notes: list[str] = []
    for title, written in _write_sheets(job, extras, notes):
        blocks += [f"## {title}", *written] if written else []
        job.report()
    keywords = re.split(r"[,，;；]", properties["keywords"])
    return Converted(
        markdown="\n\n".join(blocks),
        title=clean_title(properties["title"], job.name),
        author=clean_author(properties["creator"]),
        labels=tuple(word.strip() for word in keywords if word.strip()),
        notes=tuple(notes),
    )


def _write_sheets(
    job: Job, extras: dict[str, _Sheet], notes: list[str]
) -> Iterator[tuple[str, list[str]]]:
    try:
        with warnings.catch_warnings():
            # Drop-down lists and conditional formats it does not know are of no interest here.
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(job.data), read_only=True, data_only=True)
            for sheet in book.worksheets:
                if sheet.sheet_state != "visible":
                    notes.append(f"hidden sheet {sheet.title!r} was left out")
                    continue
                extra = extras.get(sheet.title, _Sheet())
                cells = _read_cells(sheet, job, notes)
                if extra.uncomputed:
                    notes.append(
                        f"sheet {sheet.title!r}: {extra.uncomputed} formulas have no stored "
                        "result; open and save the file in a spreadsheet program"
                    )
                yield sheet.title, list(write_sheet(cells, extra.merged))
            book.close()
    except (ValueError, KeyError, TypeError, AttributeError, OSError, etree.LxmlError) as error:
        raise UnsupportedContentError(
            f"{job.name!r} is no sound Excel file ({type(error).__name__}: {error}); save it again"
        ) from error


def _read_cells(sheet: Any, job: Job, notes: list[str]) -> dict[Position, str]:  # noqa: ANN401 - a read-only sheet has no type
    """Read a sheet's filled cells, up to the limit of rows."""
    cells: dict[Position, str] = {}
    filled_rows = 0
    sheet.reset_dimensions()  # the stored range is often wrong
    for number, row in enumerate(sheet.iter_rows(), start=1):
        found = False
        for cell in row:
            if isinstance(cell, EmptyCell) or cell.value is None:
                continue
            text = format_value(cell.value, cell.number_format or "General").strip()
            if text:
                cells[(number, cell.column)] = text
                found = True
        filled_rows += found
        if filled_rows % 1000 == 0:
            job.report()
        if filled_rows >= job.limits.max_table_rows:
            notes.append(
                f"sheet {sheet.title!r}: only the first {filled_rows} rows were read "
                "(max_table_rows)"
            )
            break
    return cells


def _find_members(archive: zipfile.ZipFile, name: str) -> dict[str, str]:
    """Return the archive's member of each sheet, by title."""
    root = read_xml(archive, _WORKBOOK, name)
    relations = read_relations(archive, _WORKBOOK, name)
    members: dict[str, str] = {}
    for element in root.iter() if root is not None else ():
        if isinstance(element.tag, str) and _NAME.sub("", element.tag) == "sheet":
            target, _ = relations.get(str(element.get(f"{R}id")), ("", False))
            members[str(element.get("name"))] = target
    return members


def _read_extras(archive: zipfile.ZipFile, member: str, job: Job) -> _Sheet:
    """Read merged areas and count formulas without a result, in one pass over a sheet's XML."""
    sheet = _Sheet()
    try:
        stream = archive.open(member)
    except KeyError:
        return sheet
    try:
        with stream:
            for _, element in etree.iterparse(
                stream, events=("end",), resolve_entities=False, no_network=True, huge_tree=False
            ):
                _note(element, sheet)
    except etree.XMLSyntaxError as error:
        raise UnsupportedContentError(
            f"{job.name!r} is damaged: {member!r} is not valid XML ({error}); save it again"
        ) from error
    job.report()
    return sheet


def _note(element: etree._Element, sheet: _Sheet) -> None:
    name = _NAME.sub("", str(element.tag))
    if name == "mergeCell" and len(sheet.merged) < _MAX_MERGED:
        left, top, right, bottom = range_boundaries(str(element.get("ref")))
        if left and top and right and bottom:
            sheet.merged.append(Area(top, left, bottom, right))
    elif name == "c":
        children = {_NAME.sub("", str(child.tag)): child for child in element}
        value = children.get("v")
        has_result = "is" in children or (value is not None and bool(value.text))
        sheet.uncomputed += "f" in children and not has_result
    elif name == "row":
        element.clear()
        parent = element.getparent()
        while parent is not None and element.getprevious() is not None:
            del parent[0]

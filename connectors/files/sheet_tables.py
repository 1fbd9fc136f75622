"""Finds the tables of a sheet: several may lie on it, with gaps, titles and headers of two rows.

Pure: works on a sparse grid of written cells.
"""

from collections.abc import Iterator, Mapping

from connectors.files.sheet_headers import (
    MAX_HEADER_ROWS,
    Area,
    Position,
    count_header,
    is_value,
)
from connectors.files.tables import write_table

Rows = dict[int, set[int]]
"""Columns of the written cells by row."""
_MIN_JOINED_ROWS = 2
_MIN_SIDE = 2
_MAX_GAP = 2
_MAX_MERGED_CELLS = 10_000


def write_sheet(cells: Mapping[Position, str], merged: list[Area]) -> Iterator[str]:
    """Yield a sheet's blocks in reading order: titles and remarks as text, the rest as tables.

    Args:
        cells: Written cells, empty ones left out.
        merged: Merged areas; their upper left cell holds the text.
    """
    filled = _fill(cells, merged)
    rows: Rows = {}
    for row, column in filled:
        rows.setdefault(row, set()).add(column)
    for area in _join_continued(_find_areas(rows, filled), filled, cells):
        yield from _write_area(area, filled, cells)


def _fill(cells: Mapping[Position, str], merged: list[Area]) -> dict[Position, str]:
    """Say a merged cell's text in each of its cells, so that a row or column can stand alone."""
    filled = dict(cells)
    for area in merged:
        text = cells.get((area.top, area.left))
        if text and area.height * area.width <= _MAX_MERGED_CELLS:
            for row in range(area.top, area.bottom + 1):
                for column in range(area.left, area.right + 1):
                    filled[(row, column)] = text
    return filled


def _find_areas(rows: Rows, filled: Mapping[Position, str]) -> list[Area]:
    """Cut at empty rows, then at empty columns, until nothing more comes apart."""
    found: list[Area] = []
    for band in _join_headers(list(_cut_rows(rows)), filled):
        parts = _join_unlabelled(list(_cut_columns(band)), filled)
        if len(parts) == 1:
            found.append(_bound(parts[0]))
        else:
            for part in parts:
                found.extend(_find_areas(part, filled))
    return found


def _join_headers(bands: list[Rows], filled: Mapping[Position, str]) -> list[Rows]:
    """Join a header to its values where one empty row stands between them."""
    joined: list[Rows] = []
    for band in bands:
        above = joined[-1] if joined else {}
        is_header = (
            0 < len(above) <= MAX_HEADER_ROWS
            and min(band) - max(above) == _MAX_GAP
            and len(band) > 1
            and not any(is_value(filled[(row, one)]) for row, own in above.items() for one in own)
            and any(is_value(filled[(min(band), one)]) for one in band[min(band)])
        )
        if is_header:
            above |= band
        else:
            joined.append(dict(band))
    return joined


def _join_unlabelled(parts: list[Rows], filled: Mapping[Position, str]) -> list[Rows]:
    """Join what an empty column cut off: values without names, in the rows of names to the left."""
    joined: list[Rows] = []
    for part in parts:
        left = joined[-1] if joined else None
        if left is not None and _lacks_names(left, part, filled):
            for row, own in part.items():
                left[row] = left.get(row, set()) | own
        else:
            joined.append(dict(part))
    return joined


def _lacks_names(left: Rows, right: Rows, filled: Mapping[Position, str]) -> bool:
    """Tell whether the right part holds values only and the left part has a name for each row."""
    values = {row for row, own in right.items() if any(is_value(filled[(row, one)]) for one in own)}
    if len(values) < _MIN_JOINED_ROWS:
        return False
    body = [row for row in right if row >= min(values)]
    if any(not is_value(filled[(row, one)]) for row in body for one in right[row]):
        return False
    first = min(min(own) for own in left.values())
    names = [filled.get((row, first), "") for row in values]
    return all(name and not is_value(name) for name in names)


def _cut_rows(rows: Rows) -> Iterator[Rows]:
    band: Rows = {}
    for row in sorted(rows):
        if band and row - 1 not in band:
            yield band
            band = {}
        band[row] = rows[row]
    if band:
        yield band


def _cut_columns(band: Rows) -> Iterator[Rows]:
    columns = sorted(set().union(*band.values()))
    start = columns[0]
    for before, after in zip(columns, [*columns[1:], None], strict=False):
        if after is not None and after == before + 1:
            continue
        kept = {
            row: inside
            for row, own in band.items()
            if (inside := {column for column in own if start <= column <= before})
        }
        yield kept
        if after is not None:
            start = after


def _bound(part: Rows) -> Area:
    return Area(
        top=min(part),
        left=min(min(own) for own in part.values()),
        bottom=max(part),
        right=max(max(own) for own in part.values()),
    )


def _join_continued(
    areas: list[Area], filled: Mapping[Position, str], cells: Mapping[Position, str]
) -> Iterator[Area]:
    """Join what an empty row cut out of one table: the same columns, and no header of its own."""
    waiting: list[Area] = []
    for area in areas:
        joined = next((one for one in waiting if _continues(one, area, filled, cells)), None)
        if joined is None:
            waiting.append(area)
        else:
            position = waiting.index(joined)
            waiting[position] = Area(joined.top, joined.left, area.bottom, joined.right)
    yield from waiting


def _continues(
    above: Area, below: Area, filled: Mapping[Position, str], cells: Mapping[Position, str]
) -> bool:
    if min(above.width, above.height, below.width) < _MIN_SIDE:
        return False
    if not 0 < below.top - above.bottom <= _MAX_GAP:
        return False
    if below.left < above.left or below.right > above.right:
        return False
    if _count_titles(below, cells):
        return False
    first = [filled.get((below.top, column), "") for column in range(below.left, below.right + 1)]
    return any(is_value(text) for text in first) and count_header(above, filled, cells) > 0


def _write_area(
    area: Area, filled: Mapping[Position, str], cells: Mapping[Position, str]
) -> Iterator[str]:
    titles = _count_titles(area, cells)
    for row in range(area.top, area.top + titles):
        columns = range(area.left, area.right + 1)
        text = next((cells[(row, one)] for one in columns if (row, one) in cells), "")
        if text:
            yield " ".join(text.split())
    rest = Area(area.top + titles, area.left, area.bottom, area.right)
    if rest.height < 1:
        return
    header = count_header(rest, filled, cells)
    rows = [
        [filled.get((row, column), "") for column in range(rest.left, rest.right + 1)]
        for row in range(rest.top, rest.bottom + 1)
    ]
    for number, own in enumerate(rows):
        if number >= header and _is_caption(rest, rest.top + number, filled, cells):
            rows[number] = [own[0], *[""] * (len(own) - 1)]
    written = write_table(rows, header)
    if written:
        yield written


def _is_caption(
    area: Area, row: int, filled: Mapping[Position, str], cells: Mapping[Position, str]
) -> bool:
    """Tell whether one merged cell fills the whole row, as a caption within a table does."""
    columns = range(area.left, area.right + 1)
    own = sum(1 for column in columns if (row, column) in cells)
    return own == 1 and area.width > 1 and len({filled.get((row, one)) for one in columns}) == 1


def _count_titles(area: Area, cells: Mapping[Position, str]) -> int:
    """Count leading rows that hold one single cell although the area is wider."""
    titles = 0
    if area.width == 1:
        return 0
    for row in range(area.top, area.bottom + 1):
        own = [column for column in range(area.left, area.right + 1) if (row, column) in cells]
        if len(own) > 1:
            break
        titles += 1
    return titles

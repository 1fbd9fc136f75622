"""Which rows of a table on a sheet name its columns. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from connectors.files.tables import is_number

Position = tuple[int, int]
"""Row and column, from 1."""
MAX_HEADER_ROWS = 4
_MIN_ROWS = 2
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2}(?::\d{2})?)?|\d{1,2}:\d{2}(?::\d{2})?")
# "2026 人数", "2026 budget": a year in front of words names a column.
_YEAR_OF_SOMETHING = re.compile(r"(?:19|20)\d{2}\s*[^\W\d_].*")
_PERIOD = re.compile(r"(?:19|20)\d{2}(?:-\d{2}){0,2}")


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, borders included."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.right - self.left + 1

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.bottom - self.top + 1


def count_header(area: Area, filled: Mapping[Position, str], cells: Mapping[Position, str]) -> int:
    """Count the rows that name the columns: those before the first one with a value.

    None when the first row holds values already. Where nothing is a value, or rows of words stand
    before the values, it is the first row, and the next while the one above leaves gaps over it.
    """
    if area.height < _MIN_ROWS:
        return 0
    number = 1
    while number <= min(area.height - 1, MAX_HEADER_ROWS):
        if not _names_columns(_read_row(area, area.top + number - 1, filled)):
            return number - 1
        if not _leaves_gaps(area, area.top + number - 1, filled, cells):
            return number
        number += 1
    return min(number, area.height - 1, MAX_HEADER_ROWS)


def _read_row(area: Area, row: int, filled: Mapping[Position, str]) -> list[str]:
    return [filled.get((row, column), "") for column in range(area.left, area.right + 1)]


def _leaves_gaps(
    area: Area, row: int, filled: Mapping[Position, str], cells: Mapping[Position, str]
) -> bool:
    """Tell whether the row below has names of its own under merged or empty cells of this one."""
    if not any(_read_row(area, row, filled)):
        return True
    below = _read_row(area, row + 1, filled)
    if not any(below):
        return True
    for column in range(area.left + 1, area.right + 1):
        has_own = (row, column) in cells and not _is_spread(row, column, filled, cells)
        if not has_own and (row + 1, column) in filled:
            return True
    return False


def _is_spread(
    row: int, column: int, filled: Mapping[Position, str], cells: Mapping[Position, str]
) -> bool:
    """Tell whether a cell's text is also that of the next one, by a merge over columns."""
    after = (row, column + 1)
    return after in filled and after not in cells and filled[after] == cells.get((row, column))


def _names_columns(row: list[str]) -> bool:
    """Tell whether a row names columns; years and dates do when all but the first cell are such."""
    values = [
        text for text in row if is_value(text) and not _YEAR_OF_SOMETHING.fullmatch(text.strip())
    ]
    if not values:
        return True
    others = [text for text in row[1:] if text]
    return len(others) > 1 and all(_PERIOD.fullmatch(text) for text in others)


def is_value(text: str) -> bool:
    """Tell whether a cell holds a number or a date rather than a name."""
    return is_number(text) or _DATE.fullmatch(text.strip()) is not None

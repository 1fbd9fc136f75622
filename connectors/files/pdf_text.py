"""Characters of a PDF page to lines of text, cut where columns part. Pure.

Coordinates are in points from the upper left corner.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

from connectors.files.pdf_chars import CJK_SPACE_EM, REGULAR_WEIGHT, Word, build_rows, is_cjk

_MIN_GUTTER_EM = 0.75
_MIN_GUTTER_ROWS = 4
_CELL_GAP_EM = 1.2
_MIN_COLUMN_EM = 5.0


@dataclass(slots=True)
class Line:
    """A run of text on one baseline, within one column.

    Attributes:
        size: Size of the type most of it is in.
        weight: How heavy its type is on the average: 1 light, 2 regular, 3 medium, 4 bold.
        cells: Start, end and text of each piece, where wide gaps part the line.
    """

    x0: float
    x1: float
    top: float
    bottom: float
    size: float
    text: str
    weight: float = REGULAR_WEIGHT
    ends_with_space: bool = False
    cells: tuple[tuple[float, float, str], ...] = ()

    @property
    def middle(self) -> float:
        """Height of the line's middle."""
        return (self.top + self.bottom) / 2


@dataclass(slots=True)
class _Gutter:
    """A white strip between columns while it is being followed down the page."""

    x0: float
    x1: float
    first: int
    last: int
    rows: list[int] = field(default_factory=list)


def build_lines(chars: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Group characters as pdfplumber reports them; upright ones only, from the top down."""
    rows = build_rows(chars)
    if not rows:
        return []
    em = median(word.size for row in rows for word in row)
    gutters = _find_gutters(rows, em)
    lines: list[Line] = []
    for number, row in enumerate(rows):
        lines.extend(_cut_row(row, [gutter for gutter in gutters if number in gutter.rows]))
    return lines


def _find_gutters(rows: Sequence[Sequence[Word]], em: float) -> list[_Gutter]:
    """Follow white strips down the page; those with wide text on both sides part columns."""
    least = _MIN_GUTTER_EM * em
    active: list[_Gutter] = []
    done: list[_Gutter] = []
    for number, row in enumerate(rows):
        gaps = [
            (before.x1, after.x0)
            for before, after in pairwise(row)
            if after.x0 - before.x1 >= least
        ]
        free = [(float("-inf"), row[0].x0), *gaps, (row[-1].x1, float("inf"))]
        still: list[_Gutter] = []
        for gutter in active:
            x0, x1 = max(
                ((max(gutter.x0, a), min(gutter.x1, b)) for a, b in free),
                key=lambda one: one[1] - one[0],
            )
            if x1 - x0 < least:
                done.append(gutter)
                continue
            gutter.x0, gutter.x1, gutter.last = x0, x1, number
            if any(a <= x0 and x1 <= b for a, b in gaps):
                gutter.rows.append(number)
            still.append(gutter)
        active = still
        for a, b in gaps:
            # Columns are even on the left: strips that end alike are the same one.
            if not any(abs(b - one.x1) < em and one.x0 < b for one in active):
                active.append(_Gutter(a, b, number, number, [number]))
    return [one for one in (*done, *active) if _parts_columns(one, rows, em)]


def _parts_columns(gutter: _Gutter, rows: Sequence[Sequence[Word]], em: float) -> bool:
    """Tell columns from list marks, table cells and chance: wide text on both sides, many rows."""
    left: list[float] = []
    right: list[float] = []
    for number in range(gutter.first, gutter.last + 1):
        before = sum(word.x1 - word.x0 for word in rows[number] if word.x1 <= gutter.x0 + 0.1)
        after = sum(word.x1 - word.x0 for word in rows[number] if word.x0 >= gutter.x1 - 0.1)
        left += [before] if before else []
        right += [after] if after else []
    if min(len(left), len(right)) < _MIN_GUTTER_ROWS:
        return False
    return min(median(left), median(right)) >= _MIN_COLUMN_EM * em


def _cut_row(row: Sequence[Word], gutters: Sequence[_Gutter]) -> list[Line]:
    runs: list[list[Word]] = [[row[0]]]
    for before, word in pairwise(row):
        if any(before.x1 <= one.x0 + 0.1 and word.x0 >= one.x1 - 0.1 for one in gutters):
            runs.append([])
        runs[-1].append(word)
    return [_build_line(run) for run in runs]


def _join_words(words: Sequence[Word]) -> str:
    text = words[0].text
    for before, word in pairwise(words):
        is_tight = is_cjk(before.text[-1]) and is_cjk(word.text[0])
        is_near = word.x0 - before.x1 < CJK_SPACE_EM * word.size
        text += word.text if is_tight and is_near else f" {word.text}"
    return text


def _build_line(words: Sequence[Word]) -> Line:
    chars = sum(len(word.text) for word in words)
    weights = sorted((word.size, len(word.text)) for word in words)
    half, seen, size = chars / 2, 0, weights[-1][0]
    for one, count in weights:
        seen += count
        if seen >= half:
            size = one
            break
    return Line(
        x0=words[0].x0,
        x1=max(word.x1 for word in words),
        top=min(word.top for word in words),
        bottom=max(word.bottom for word in words),
        size=size,
        text=_join_words(words),
        weight=sum(word.weight for word in words) / max(1, chars),
        ends_with_space=words[-1].ends_with_space,
        cells=tuple(_cut_cells(words, size)),
    )


def _cut_cells(words: Sequence[Word], em: float) -> Iterator[tuple[float, float, str]]:
    start = 0
    for number in range(1, len(words) + 1):
        is_last = number == len(words)
        if is_last or words[number].x0 - words[number - 1].x1 >= _CELL_GAP_EM * em:
            run = words[start:number]
            yield run[0].x0, run[-1].x1, _join_words(run)
            start = number

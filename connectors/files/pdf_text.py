"""Characters of a PDF page to lines of text, cut where columns part. Pure.

Coordinates are in points from the upper left corner.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

_WEIGHTS = (
    (re.compile(r"bold|black|heavy|semib|demi|simhei|黑体", re.IGNORECASE), 4),
    (re.compile(r"medium", re.IGNORECASE), 3),
    (re.compile(r"light|thin", re.IGNORECASE), 1),
)
_REGULAR, _BOLD = 2, 4
_MIN_GUTTER_EM = 0.75
_MIN_GUTTER_ROWS = 4
_CELL_GAP_EM = 1.2
_LARGE_EM = 1.6
_SMALL_EM = 0.8
_MIN_COLUMN_EM = 5.0
_SPACE_EM = 0.22
_CJK_SPACE_EM = 0.9


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
    weight: float = _REGULAR
    ends_with_space: bool = False
    cells: tuple[tuple[float, float, str], ...] = ()

    @property
    def middle(self) -> float:
        """Height of the line's middle."""
        return (self.top + self.bottom) / 2


@dataclass(slots=True)
class _Word:
    x0: float
    x1: float
    top: float
    bottom: float
    size: float
    text: str
    weight: float = 0.0
    ends_with_space: bool = False


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
    kept = _drop_doubles(chars)
    if not kept:
        return []
    usual = median(char["size"] for char in kept)
    large = [char for char in kept if char["size"] > _LARGE_EM * usual]
    small = [char for char in kept if char["size"] <= _LARGE_EM * usual]
    _anchor_scripts(large, usual)
    _anchor_scripts(small, usual)
    grouped = [*_group_rows(large), *_group_rows(small)]
    rows = [row for row in (_build_words(row) for row in grouped) if row]
    rows.sort(key=lambda row: min(word.top for word in row))
    if not rows:
        return []
    em = median(word.size for row in rows for word in row)
    gutters = _find_gutters(rows, em)
    lines: list[Line] = []
    for number, row in enumerate(rows):
        lines.extend(_cut_row(row, [gutter for gutter in gutters if number in gutter.rows]))
    return lines


def is_cjk(char: str) -> bool:
    """Tell whether a character is written without blanks around it (not Hangul)."""
    return (
        "\u2e80" <= char <= "\u9fff"
        or "\uf900" <= char <= "\ufaff"
        or "\uff00" <= char <= "\uffef"
        or "\U00020000" <= char <= "\U0003ffff"
        or char in "“”‘’…—·"
    )


def _drop_doubles(chars: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Keep one of characters printed twice with a small shift, which is how some print bold."""
    kept: list[dict[str, Any]] = []
    seen: dict[tuple[str, int, int], dict[str, Any]] = {}
    for char in chars:
        text = char["text"]
        if not char.get("upright", True) or not text:
            continue
        column, row = int(char["x0"]), int(char["top"])
        double = next(
            (
                found
                for x in (column - 1, column, column + 1)
                for y in (row - 1, row, row + 1)
                if (found := seen.get((text, x, y))) is not None
                and abs(found["x0"] - char["x0"]) < 0.12 * max(char["size"], 8)
                and abs(found["top"] - char["top"]) < 0.12 * max(char["size"], 8)
            ),
            None,
        )
        if double is not None and text.strip():
            double["weight"] = _BOLD
            continue
        own = {
            "text": text, "x0": char["x0"], "x1": char["x1"], "top": char["top"],
            "bottom": char["bottom"], "size": char["size"],
            "weight": _find_weight(str(char.get("fontname") or "")),
        }  # fmt: skip
        seen[(text, column, row)] = own
        kept.append(own)
    return kept


def _find_weight(font: str) -> int:
    return next((weight for pattern, weight in _WEIGHTS if pattern.search(font)), _REGULAR)


def _anchor_scripts(chars: list[dict[str, Any]], usual: float) -> None:
    """Give raised and lowered figures the height of what they hang on, to stay in its row."""
    by_end: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for char in sorted(chars, key=lambda one: one["x0"]):
        char["middle"] = (char["top"] + char["bottom"]) / 2
        if char["size"] < _SMALL_EM * usual and not char["text"].isspace():
            base = next(
                (
                    one
                    for end in range(int(char["x0"]) - 3, int(char["x0"]) + 2)
                    for one in by_end[end]
                    if _hangs_on(char, one, usual)
                ),
                None,
            )
            if base is not None:
                char["middle"] = base["middle"]
        if not char["text"].isspace():
            by_end[int(char["x1"])].append(char)


def _hangs_on(char: dict[str, Any], base: dict[str, Any], usual: float) -> bool:
    is_base = base["size"] >= _SMALL_EM * usual or base["middle"] != (base["top"] + base["bottom"]) / 2
    shared = min(char["bottom"], base["bottom"]) - max(char["top"], base["top"])
    return is_base and shared > 0.3 * (char["bottom"] - char["top"])


def _group_rows(chars: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Group characters whose middles lie within one another's height."""
    rows: list[list[dict[str, Any]]] = []
    bounds: list[tuple[float, float]] = []
    for char in sorted(chars, key=lambda one: (one["middle"], one["x0"])):
        if rows and bounds[-1][0] <= char["middle"] <= bounds[-1][1]:
            rows[-1].append(char)
            continue
        rows.append([char])
        margin = 0.25 * (char["bottom"] - char["top"])
        bounds.append((char["top"] + margin, char["bottom"] - margin))
    return [sorted(row, key=lambda one: one["x0"]) for row in rows]


def _build_words(row: list[dict[str, Any]]) -> list[_Word]:
    size = median(char["size"] for char in row)
    baseline = median(char["bottom"] for char in row)
    words: list[_Word] = []
    starts_new = True
    for char in row:
        text = char["text"]
        if text.isspace() or text == "\u00a0":
            if words:
                words[-1].ends_with_space = True
            starts_new = True
            continue
        gap = char["x0"] - words[-1].x1 if words else 0.0
        is_cjk_pair = bool(words) and is_cjk(text[0]) and is_cjk(words[-1].text[-1])
        limit = _CJK_SPACE_EM if is_cjk_pair else _SPACE_EM
        if starts_new or gap > limit * max(char["size"], 1):
            words.append(_Word(char["x0"], char["x1"], char["top"], char["bottom"], char["size"], ""))
            starts_new = False
        _append(words[-1], char, size, baseline)
    return words


def _append(word: _Word, char: dict[str, Any], size: float, baseline: float) -> None:
    text = char["text"]
    is_raised = char["size"] < _SMALL_EM * size and char["bottom"] < baseline - 0.15 * size
    if is_raised and text == ")" and word.text.endswith("]"):
        pass  # the bracket of a reference such as 1)
    elif is_raised and text.isdigit() and word.text:
        # A raised figure is a power after a figure, a reference after a word.
        if word.text.endswith("]") and word.text[-2:-1].isdigit():
            word.text = f"{word.text[:-1]}{text}]"
        elif word.text[-1].isdigit():
            word.text += f"^{text}"
        else:
            word.text += f"[{text}]"
    else:
        word.text += text
        word.size = max(word.size, char["size"])
        word.top, word.bottom = min(word.top, char["top"]), max(word.bottom, char["bottom"])
    word.x1 = max(word.x1, char["x1"])
    word.weight += len(text) * char["weight"]


def _find_gutters(rows: Sequence[Sequence[_Word]], em: float) -> list[_Gutter]:
    """Follow white strips down the page; those with wide text on both sides part columns."""
    least = _MIN_GUTTER_EM * em
    active: list[_Gutter] = []
    done: list[_Gutter] = []
    for number, row in enumerate(rows):
        gaps = [
            (before.x1, after.x0)
            for before, after in zip(row, row[1:], strict=False)
            if after.x0 - before.x1 >= least
        ]
        free = [(float("-inf"), row[0].x0), *gaps, (row[-1].x1, float("inf"))]
        still: list[_Gutter] = []
        for gutter in active:
            x0, x1 = max(
                ((max(gutter.x0, a), min(gutter.x1, b)) for a, b in free), key=lambda one: one[1] - one[0]
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


def _parts_columns(gutter: _Gutter, rows: Sequence[Sequence[_Word]], em: float) -> bool:
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


def _cut_row(row: Sequence[_Word], gutters: Sequence[_Gutter]) -> list[Line]:
    runs: list[list[_Word]] = [[row[0]]]
    for before, word in zip(row, row[1:], strict=False):
        if any(before.x1 <= one.x0 + 0.1 and word.x0 >= one.x1 - 0.1 for one in gutters):
            runs.append([])
        runs[-1].append(word)
    return [_build_line(run) for run in runs]


def _join_words(words: Sequence[_Word]) -> str:
    text = words[0].text
    for before, word in zip(words, words[1:], strict=False):
        is_tight = is_cjk(before.text[-1]) and is_cjk(word.text[0])
        is_near = word.x0 - before.x1 < _CJK_SPACE_EM * word.size
        text += word.text if is_tight and is_near else f" {word.text}"
    return text


def _build_line(words: Sequence[_Word]) -> Line:
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


def _cut_cells(words: Sequence[_Word], em: float) -> Iterator[tuple[float, float, str]]:
    start = 0
    for number in range(1, len(words) + 1):
        is_last = number == len(words)
        if is_last or words[number].x0 - words[number - 1].x1 >= _CELL_GAP_EM * em:
            run = words[start:number]
            yield run[0].x0, run[-1].x1, _join_words(run)
            start = number

"""Characters of a PDF page to rows of words. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Any

_WEIGHTS = (
    (re.compile(r"bold|black|heavy|semib|demi|simhei|黑体", re.IGNORECASE), 4),
    (re.compile(r"medium", re.IGNORECASE), 3),
    (re.compile(r"light|thin", re.IGNORECASE), 1),
)
REGULAR_WEIGHT, _BOLD = 2, 4
_SPACE_EM = 0.22
CJK_SPACE_EM = 0.9
_LARGE_EM = 1.6
_SMALL_EM = 0.8


@dataclass(slots=True)
class Word:
    """Characters without a blank between them; `weight` is summed over them."""

    x0: float
    x1: float
    top: float
    bottom: float
    size: float
    text: str
    weight: float = 0.0
    ends_with_space: bool = False


def build_rows(chars: Iterable[Mapping[str, Any]]) -> list[list[Word]]:
    """Group upright characters, as pdfplumber reports them, into rows from the top down."""
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
    return sorted(rows, key=lambda row: min(word.top for word in row))


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
        # A glyph without a character is most often the mark of a list.
        text = "\x7f" if char["text"].startswith("(cid:") else char["text"]
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


@lru_cache(maxsize=1024)
def _find_weight(font: str) -> int:
    return next((weight for pattern, weight in _WEIGHTS if pattern.search(font)), REGULAR_WEIGHT)


def _anchor_scripts(chars: list[dict[str, Any]], usual: float) -> None:
    """Give raised and lowered figures the height of what they hang on, to stay in its row."""
    by_end: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for char in sorted(chars, key=lambda one: one["x0"]):
        char["middle"], char["is_script"] = (char["top"] + char["bottom"]) / 2, False
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
                char["middle"], char["is_script"] = base["middle"], True
        if not char["text"].isspace():
            by_end[int(char["x1"])].append(char)


def _hangs_on(char: dict[str, Any], base: dict[str, Any], usual: float) -> bool:
    is_base = base["size"] >= _SMALL_EM * usual or base["is_script"]
    shared = min(char["bottom"], base["bottom"]) - max(char["top"], base["top"])
    return bool(is_base and shared > 0.3 * (char["bottom"] - char["top"]))


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


def _build_words(row: list[dict[str, Any]]) -> list[Word]:
    size = median(char["size"] for char in row)
    baseline = median(char["bottom"] for char in row)
    words: list[Word] = []
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
        limit = CJK_SPACE_EM if is_cjk_pair else _SPACE_EM
        if starts_new or gap > limit * max(char["size"], 1):
            words.append(
                Word(char["x0"], char["x1"], char["top"], char["bottom"], char["size"], "")
            )
            starts_new = False
        _append(words[-1], char, size, baseline)
    return words


def _append(word: Word, char: dict[str, Any], size: float, baseline: float) -> None:
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

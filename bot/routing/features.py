"""A message as numbers by its wording: which words stand in it, how long it is, what it asks."""

import re
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.float32]

COLUMNS = 4_096
# Routes show in how a message begins; what a long one adds is matter.
_MOST_CHARS = 400
# Beside all words together, of length 1.
_CUE_WEIGHT = 0.2
_DIGITS = re.compile(r"\d+")
_RUN = re.compile(r"[\u3400-\u9fff]+|[a-z0-9'’]+|[^\w\s]")
_UNIT = re.compile(r"[a-z0-9'’]+|[\u3400-\u9fff]|[?？!！,，。;；:：@]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[a-z0-9'’]+")
_LONG_LATIN = re.compile(r"[a-z]{4,}")
_LONGEST_GRAM = 3
_PIECE = 4
_ASKING = re.compile(
    r"\b(?:who|what|which|when|where|how|why|whose)\b|谁|什么|哪|几|多少|怎么|如何|多久|为什么",
    re.IGNORECASE,
)
_MOST_ASKED = 3
_SEVERAL = re.compile(
    # A second question that leans on the first, or two in one.
    r"[?？]\s*\S.{3,}[?？]|，(?:归谁|由谁|谁|分别|各|又|并|那)\S.{0,20}[?？]"
    r"|,? and (?:who|which|what|where|when|how|is|does|was)\b"
    r"|\b(?:compare|difference between)\b|相比|对比|区别",
    re.IGNORECASE | re.DOTALL,
)
# In words; so many Chinese characters say as much as one.
_LENGTHS = (2, 4, 6, 9, 13, 18, 25)
_HAN_PER_WORD = 1.6


def build_features(texts: Sequence[str]) -> Features:
    """Return (len(texts), COLUMNS), rows of length 1."""
    rows = np.zeros((len(texts), COLUMNS), np.float32)
    for row, text in zip(rows, texts, strict=True):
        row[:] = _build_row(_DIGITS.sub("0", text[:_MOST_CHARS].lower().strip()))
    return rows


def _build_row(text: str) -> Features:
    row = np.zeros(COLUMNS, np.float32)
    for gram in {*_list_grams(text)}:
        row[_place(gram)] += 1
    row /= max(float(np.linalg.norm(row)), 1.0)
    for cue in _list_cues(text):
        row[_place(cue)] += _CUE_WEIGHT
    row /= float(np.linalg.norm(row))
    return row


def _place(feature: str) -> int:
    return zlib.crc32(feature.encode("utf-8", "surrogatepass")) % COLUMNS


def _list_grams(text: str) -> Iterator[str]:
    """Yield words, neighbours and pieces of words; begin and end of the message are words too."""
    for run in _RUN.findall(f"^{text}$"):
        if _HAN.match(run):
            yield from _list_runs(run)
    units = ["^", *_UNIT.findall(text), "$"]
    for size in range(1, _LONGEST_GRAM + 1):
        for start in range(len(units) - size + 1):
            yield " ".join(units[start : start + size])
    for word in _LONG_LATIN.findall(text):
        for start in range(len(word) - _PIECE + 1):
            yield f"#{word[start : start + _PIECE]}"


def _list_runs(run: str) -> Iterator[str]:
    for size in range(1, _LONGEST_GRAM + 1):
        for start in range(len(run) - size + 1):
            yield run[start : start + size]


def _list_cues(text: str) -> Iterator[str]:
    words = len(_LATIN.findall(text)) + len(_HAN.findall(text)) / _HAN_PER_WORD
    yield f"~length {sum(words > limit for limit in _LENGTHS)}"
    yield f"~asks {min(_MOST_ASKED, len(_ASKING.findall(text)))}"
    if _SEVERAL.search(text):
        yield "~several"

"""What is measured of an answer's text, without a language model as the judge.

The yardstick is its own: it reads text in a simple way (NFKC, case, marks and blanks folded; words,
numbers, pairs of Chinese characters) and does not share the product's analyser, so that a change
there cannot move it.
"""

import re
import unicodedata
from collections.abc import Sequence

COVERED_SHARE = 0.6
"""A point is made when this share of its words, and every number in it, occurs in the answer."""
SHORT_WORD = 3
"""Latin words up to this length (the, was, of) say little and are not asked for."""

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_MARKS = re.compile(r"(?!(?<=\d)\.\d)(?:[^\w%]|_)")
_BLANK_BESIDE_CJK = re.compile(rf"(?<=[{_CJK}])\s+|\s+(?=[{_CJK}])")
_RUN = re.compile(rf"[{_CJK}]+|[^\s{_CJK}]+")
_LATIN_OR_DIGIT = re.compile(r"[a-z0-9]")


def fold_text(text: str) -> str:
    """Fold width, case, thousands separators, marks and blanks; decimal points stay."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    folded = _THOUSANDS.sub("", folded)
    folded = _MARKS.sub(" ", folded)
    return _BLANK_BESIDE_CJK.sub("", " ".join(folded.split()))


def holds_text(answer: str, wanted: str) -> bool:
    """Tell whether the answer holds the text as whole words and whole numbers."""
    return _holds_folded(fold_text(answer), fold_text(wanted))


def holds_required(answer: str, groups: Sequence[Sequence[str]]) -> bool:
    """Tell whether the answer holds at least one string of every group."""
    folded = fold_text(answer)
    return all(
        any(_holds_folded(folded, fold_text(wanted)) for wanted in group) for group in groups
    )


def measure_point_coverage(answer: str, points: Sequence[str]) -> float | None:
    """Share of the expected points that the answer makes; None without points."""
    if not points:
        return None
    folded = fold_text(answer)
    return sum(_makes_point(folded, point) for point in points) / len(points)


def _makes_point(folded_answer: str, point: str) -> bool:
    folded = fold_text(point)
    if _holds_folded(folded_answer, folded):
        return True
    wanted, present = _split_units(folded), _split_units(folded_answer)
    numbers = {unit for unit in wanted if any(char.isdigit() for char in unit)}
    words = {unit for unit in wanted - numbers if not _is_short_word(unit)}
    if not numbers <= present:
        return False
    return bool(words) and len(words & present) >= COVERED_SHARE * len(words)


def _holds_folded(answer: str, wanted: str) -> bool:
    if not wanted:
        return False
    head = r"(?<![a-z0-9])(?<!\d\.)" if _LATIN_OR_DIGIT.match(wanted[0]) else ""
    tail = r"(?![a-z0-9])(?!\.\d)" if _LATIN_OR_DIGIT.match(wanted[-1]) else ""
    return re.search(f"{head}{re.escape(wanted)}{tail}", answer) is not None


def _split_units(folded: str) -> set[str]:
    units: set[str] = set()
    for run in _RUN.findall(folded):
        if re.match(f"[{_CJK}]", run) and len(run) > 1:
            units.update(run[at : at + 2] for at in range(len(run) - 1))
        else:
            units.add(run)
    return units


def _is_short_word(unit: str) -> bool:
    return unit.isascii() and len(unit) <= SHORT_WORD

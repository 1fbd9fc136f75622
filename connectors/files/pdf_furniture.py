"""Running headers, footers and page numbers: what stands on pages without being their text.

Pure.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher

from connectors.files.pdf_text import Line

_ZONE = 0.12
_MIN_PAGES = 2
_MIN_SHARE = 0.3
_SIMILAR = 0.8
_MIN_FUZZY = 4
_NUMBER_ONLY = re.compile(
    r"^[-–—·|\s]*(?:page\s*)?(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:of|/)\s*\d{1,4})?[-–—·|\s]*$"
    r"|^第\s*\d{1,4}\s*页(?:[，,/\s]*共\s*\d{1,4}\s*页)?$",
    re.IGNORECASE,
)


def drop_furniture(pages: Sequence[Sequence[Line]], heights: Sequence[float]) -> list[list[Line]]:
    """Take out page numbers, and lines at the edge that come back on other pages.

    Left and right pages may differ: a line counts when it is on two pages and on three in ten.
    """
    repeated = _find_repeated(pages, heights)
    kept: list[list[Line]] = []
    for lines, height in zip(pages, heights, strict=True):
        kept.append(
            [
                line
                for line in lines
                if not (
                    _is_at_edge(line, height)
                    and (
                        len(line.text) == 1
                        or _NUMBER_ONLY.match(line.text)
                        or _is_similar(_key(line), repeated)
                    )
                )
            ]
        )
    return kept


def _find_repeated(pages: Sequence[Sequence[Line]], heights: Sequence[float]) -> list[str]:
    found: defaultdict[str, set[int]] = defaultdict(set)
    for number, (lines, height) in enumerate(zip(pages, heights, strict=True)):
        for line in lines:
            key = _key(line)
            if _is_at_edge(line, height) and len(key) > 1:
                same = next((one for one in found if _is_similar(key, [one])), key)
                found[same].add(number)
    needed = max(_MIN_PAGES, _MIN_SHARE * len(pages))
    return [key for key, numbers in found.items() if len(numbers) >= needed]


def _key(line: Line) -> str:
    """Return what stays the same from page to page: no numbers, no blanks."""
    return re.sub(r"[\d\s]+", "", line.text).casefold()


def _is_similar(key: str, others: Sequence[str]) -> bool:
    """Compare with room for the errors of OCR."""
    return any(
        key == other
        or (
            min(len(key), len(other)) >= _MIN_FUZZY
            and abs(len(key) - len(other)) <= 0.3 * len(other)
            and SequenceMatcher(None, key, other).ratio() >= _SIMILAR
        )
        for other in others
    )


def _is_at_edge(line: Line, height: float) -> bool:
    return line.middle < _ZONE * height or line.middle > (1 - _ZONE) * height

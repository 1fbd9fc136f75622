"""Long prose: between sentences, then clauses, then words, then anywhere."""

import re

from knowledge.chunking.meter import TokenMeter
from knowledge.sentences import cut_sentences

_CLAUSE_END = re.compile(r"[，、；：]|[,;:]\s")
_SPACE = re.compile(r"\s")
# Below what an even cut would allow, as tokens are not spread evenly.
_CAUTION = 0.9


def split_prose(text: str, target: int, meter: TokenMeter) -> list[str]:
    """Split text into sentences that cost at most `target` each; joined they are the text."""
    return [
        part for sentence in cut_sentences(text) for part in slice_text(sentence, target, meter)
    ]


def slice_text(text: str, target: int, meter: TokenMeter) -> list[str]:
    """Slice text into parts that cost at most `target` each; joined they are the text.

    Parts end after a clause where there is one in their second half, else after a word, else
    anywhere. Only a single character may cost more.
    """
    parts: list[str] = []
    waiting = [text]
    while waiting:
        text = waiting.pop()
        cost = meter.measure(text.strip())
        if cost <= target or len(text) == 1:
            parts.append(text)
        else:
            size = max(1, int(len(text) * target / cost * _CAUTION))
            waiting.extend(reversed(_cut(text, size)))
    return parts


def _cut(text: str, size: int) -> list[str]:
    parts = []
    start = 0
    while len(text) - start > size:
        end = _find_cut(text, start + size // 2, start + size)
        parts.append(text[start:end])
        start = end
    return [*parts, text[start:]]


def _find_cut(text: str, first: int, last: int) -> int:
    """Return the best place for a cut in first < place <= last."""
    for border in (_CLAUSE_END, _SPACE):
        ends = [match.end() for match in border.finditer(text, first, last)]
        if ends:
            return max(ends[-1], first + 1)
    return max(last, first + 1)

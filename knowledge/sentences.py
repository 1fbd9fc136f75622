"""Text to sentences, Chinese and English, Markdown left whole.

A border that is missed costs less than a sentence that is torn, so every doubt
is decided against the border.
"""

import re

_CLOSERS = "”’」』）)】》〉\\]\"'*_~"
# An ordered item as people write it, Markdown or not: `1. `, `2) `, `3、`, `（4）`, `⑤`.
_ITEM = r"(?:[-*+][ \t]|\d{1,3}(?:[.)][ \t]|[、．])|[（(]\d{1,2}[)）]|[①-⑳])"
# One character decides what to look for: alternatives tried at every character are slow.
_MARK = re.compile(r"[\n`\[。！？；｡.!?]")
_FENCE = re.compile(
    r"[ \t]*(?P<ticks>`{3,}|~{3,})[\s\S]*?(?:^[ \t]*(?P=ticks)[`~]*[ \t]*$|\Z)", re.MULTILINE
)
_BREAK = re.compile(
    rf"\n[ \t>]*\n[\s>]*|(?:(?<=[ ]{{2}})|(?<=\\)|(?<=<br>)|(?<=<br/>)|(?<=<br />))\n"
    rf"|\n(?=[ \t]*(?:{_ITEM}|#{{1,6}}[ \t]|\||`{{3}}|~{{3}}))"
)
_NOT_SPACE = re.compile(r"\S")
_CODE = re.compile(r"``[^\n]{1,300}?``|`[^`\n]{1,300}`|`+")
_LINK = re.compile(r"\[[^\[\]\n]{0,300}\]\([^()\s]{0,500}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?\)")
_WIDE = re.compile(rf"[。！？；｡][。！？；｡!?]*(?P<closers>[{_CLOSERS}]*)")
_NARROW = re.compile(rf"[.!?]+[{_CLOSERS}]*(?=\s|$)|(?<=[\u3400-\u9fff])[!?]+(?=[\u3400-\u9fff])")
_WORD_BEFORE = re.compile(r"[A-Za-z](?:[A-Za-z]|\.(?=[A-Za-z]))*$")
_MARKER_BEFORE = re.compile(r"(?:^|\n|\|)[ \t>*_+-]*\d{1,3}$")
_IS_CJK = re.compile(r"[\u3000-\u9fff\uff00-\uffef]")
_AMBIGUOUS_CLOSERS = ("**", "__", "~~", "*", "_", '"', "'")

_ABBREVIATION = re.compile(
    r"mrs?|ms|dr|prof|[sj]r|st|vs|cf|e\.g|i\.e|viz|resp|approx|est|dept|inc|ltd|co|corp|bros|ph\.d"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tue|wed|thu|fri|u\.[skn]"
)
_BEFORE_A_NUMBER = re.compile(
    r"nos?|figs?|eqs?|secs?|art|chap|ch|vol|pp?|para|ver|v|rev|app|tab|ref"
)


def split_sentences(text: str) -> list[str]:
    """Split text into its sentences, stripped, in reading order.

    Blank lines, list items, table rows and fenced code blocks are borders too; a wrapped line is
    none. Inline code, links, decimals, addresses and abbreviations stay whole. Joined without
    white space the sentences hold every character of the text that is not white space.
    """
    return [sentence for piece in cut_sentences(text) if (sentence := piece.strip())]


def cut_sentences(text: str) -> list[str]:
    """Cut text into sentences that keep their white space: joined they are the text again."""
    pieces: list[str] = []
    start = 0
    at = border = _find_fence_end(text, 0)
    while True:
        while border > start:
            end = _skip_space(text, border)
            pieces.append(text[start:end])
            start = end
            border = _find_fence_end(text, end) if "\n" in pieces[-1] else 0
            at = max(at, end, border)
        mark = _MARK.search(text, at)
        if mark is None:
            break
        at, border = _read_mark(text, start, mark.start())
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def _find_fence_end(text: str, at: int) -> int:
    match = _FENCE.match(text, at)
    return match.end() if match is not None else 0


def _skip_space(text: str, at: int) -> int:
    match = _NOT_SPACE.search(text, at)
    return match.start() if match is not None else len(text)


def _read_mark(text: str, start: int, at: int) -> tuple[int, int]:
    """Return where to read on, and where the sentence that began at `start` ends or 0."""
    char = text[at]
    if char in ".!?":
        match = _NARROW.match(text, at)
        end = match.end() if match is not None else at + 1
        return end, end if match is not None and _is_end(text, match) else 0
    if char in "`[":
        match = (_CODE if char == "`" else _LINK).match(text, at)
        return match.end() if match is not None else at + 1, 0
    if char == "\n":
        match = _BREAK.match(text, at)
        return (at + 1, 0) if match is None else (match.end(), match.end())
    end = _skip_closers(text, start, at)
    return end, end


def _skip_closers(text: str, start: int, at: int) -> int:
    """Return the end of a wide full stop with the closing marks that belong to it.

    Emphasis and straight quotes look alike at both ends; they close when one is open.
    """
    match = _WIDE.match(text, at)
    end, limit = match.span("closers") if match is not None else (at + 1, at + 1)
    while end < limit:
        mark = next((m for m in _AMBIGUOUS_CLOSERS if text.startswith(m, end)), "")
        if mark and text.count(mark, start, end) % 2 == 0:
            break
        end += len(mark) or 1
    return end


def _is_end(text: str, match: re.Match[str]) -> bool:
    """Decide whether Western punctuation before white space ends the sentence."""
    begin, end = match.span()
    if begin and _IS_CJK.match(text[begin - 1]):
        return True
    following = text[end : end + 40].lstrip()
    if following[:1].islower():
        return False
    if match.group() != ".":
        return True
    return not _is_abbreviation(text[max(0, begin - 24) : begin], following)


def _is_abbreviation(before: str, following: str) -> bool:
    if _MARKER_BEFORE.search(before):
        return True
    word = _WORD_BEFORE.search(before)
    if word is None:
        return False
    name = word.group().lower()
    if _BEFORE_A_NUMBER.fullmatch(name):
        return following[:1].isdigit()
    is_initial = len(name) == 1 and word.group().isupper()
    return is_initial or _ABBREVIATION.fullmatch(name) is not None

"""Text to sentences, Chinese and English, Markdown left whole.

One regular expression finds what may end a sentence and what must not be looked into; the rules
behind it decide. A border that is missed costs less than a sentence that is torn, so every doubt
is decided against the border.
"""

import re

_CLOSERS = "”’」』）)】》〉\\]\"'*_~"
# An ordered item as people write it, Markdown or not: `1. `, `2) `, `3、`, `（4）`, `⑤`.
_ITEM = r"(?:[-*+][ \t]|\d{1,3}(?:[.)][ \t]|[、．])|[（(]\d{1,2}[)）]|[①-⑳])"
_SCAN = re.compile(
    rf"""
      (?P<fence>^[ \t]*(?P<ticks>`{{3,}}|~{{3,}})[\s\S]*?(?:^[ \t]*(?P=ticks)[`~]*[ \t]*$|\Z))
    | (?P<code>``[^\n]{{1,300}}?``|`[^`\n]{{1,300}}`)
    | (?P<link>\[[^\[\]\n]{{0,300}}\]\([^()\s]{{0,500}}(?:\([^()\s]{{0,200}}\)[^()\s]{{0,200}})?\))
    | (?P<blank>\n[ \t>]*\n[\s>]*|(?:(?<=[ ]{{2}})|(?<=\\)|<br[ ]?/?>)\n)
    | (?P<line>\n(?=[ \t]*(?:{_ITEM}|\#{{1,6}}[ \t]|\||`{{3}}|~{{3}})))
    | (?P<wide>[。！？；｡][。！？；｡!?]*(?P<wide_close>[{_CLOSERS}]*))
    | (?P<narrow>[.!?]+[{_CLOSERS}]*(?=\s|$))
    | (?P<glued>(?<=[\u3400-\u9fff])[!?]+(?=[\u3400-\u9fff]))
    """,
    re.MULTILINE | re.VERBOSE,
)
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
    for match in _SCAN.finditer(text):
        end = _find_border(text, start, match)
        if end <= start:
            continue
        while end < len(text) and text[end].isspace():
            end += 1
        pieces.append(text[start:end])
        start = end
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def _find_border(text: str, start: int, match: re.Match[str]) -> int:
    """Return where the sentence that begins at `start` ends, or 0 when it goes on."""
    match match.lastgroup:
        case "blank" | "line" | "fence" | "glued":
            return match.end()
        case "wide":
            return _skip_closers(text, start, match)
        case "narrow":
            return match.end() if _is_end(text, match) else 0
        case _:
            return 0


def _skip_closers(text: str, start: int, match: re.Match[str]) -> int:
    """Return the end of a wide full stop with the closing marks that belong to it.

    Emphasis and straight quotes look alike at both ends; they close when one is open.
    """
    end = match.start("wide_close")
    limit = match.end()
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

"""Markdown before it is read: characters and lines put in order, page marks taken out.

Also what a single line can be, as patterns that every reader of Markdown shares.
"""

import re
from dataclasses import dataclass

_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Without width, hidden inside words they keep them from being found; half characters too.
_INVISIBLE = re.compile(r"[\u200b\u2060\ufeff\u00ad\x00-\x08\x0e-\x1f\ud800-\udfff]+")
# One look for either spares most texts two.
_UNUSUAL = re.compile(
    r"[\r\x85\u2028\u2029\u200b\u2060\ufeff\u00ad\x00-\x08\x0b-\x1f\ud800-\udfff]"
)
_DATA_URI = re.compile(r"data:[\w./+-]{0,80};base64,[A-Za-z0-9+/=%]+")
_FRONT_MATTER = re.compile(
    r"\A\s{0,8}(---|\+\+\+)[ \t]*\n((?:[^\n]*\n){0,500}?)(?:\1|\.\.\.)[ \t]*(?:\n|\Z)"
)
_METADATA_LINE = re.compile(r"[ \t]|#|-|[\]}]|[\"']?[\w.\u3400-\u9fff-][^\n]{0,200}?[:=]|$")
_PAGE_MARK = re.compile(r"^[ \t]*<!-- page (\d{1,9}) -->[ \t]*\n?", re.MULTILINE)

_HAN_NUMBER = "[一二三四五六七八九十百]{1,4}"
ITEM = re.compile(r"(?:[-*+\u2022]|(\d{1,9})[.)])(?:[ \t]+|$)")
"""A Markdown list item; group 1 is the number of an ordered one."""
NUMBERED = re.compile(
    r"(?P<comma>\d{1,3})[、．]"
    r"|[（(](?P<paren>\d{1,3})[)）]"
    r"|(?P<circle>[①-⑳])"
    rf"|第[ ]?(?P<ordinal>\d{{1,3}}|{_HAN_NUMBER})[ ]?步"
    rf"|步骤[ ]?(?P<stage>\d{{1,3}}|{_HAN_NUMBER})(?=[\s：:、.．，,]|$)"
    r"|[Ss](?:tep|TEP)[ ](?P<step>\d{1,3})(?=[：:.)—–-]|$)"
)
"""A numbered step as people type it without Markdown; the named group is the style."""
FENCE = re.compile(r"(`{3,})(?=[^`]*$)|(~{3,})")
HEADING = re.compile(r"(#{1,6})(?:[ \t\u3000]+|$|(?<=##)(?=[\u3400-\u9fff]))")
UNDERLINE = re.compile(r"(?:={2,}|-{2,})[ \t]*$")
RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
TABLE_RULE = re.compile(
    r"(?=[^|]*\|)[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*$"
)
FOOTNOTE = re.compile(r"\[\^([^\]\s]{1,80})\]:")
REFERENCE = re.compile(
    r"\[([^\[\]^][^\[\]]{0,200})\]:[ \t]*<?([^\s<>]{1,2000})>?"
    r"[ \t]*(?:\"[^\"]*\"|'[^']*'|\([^()]*\))?[ \t]*$"
)
TAGS_ONLY = re.compile(r"(?:</?[A-Za-z][^<>]{0,2000}>[ \t]*)+$")

_HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")}


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanMarkdown:
    """Markdown in plain lines.

    Attributes:
        text: Ends lines with a line feed; holds no front matter and no page marks.
        pages: (line index, page) of every page that begins, in reading order.
    """

    text: str
    pages: tuple[tuple[int, int], ...]


def clean_markdown(markdown: str) -> CleanMarkdown:
    """Put line ends and characters in order and take out front matter and page marks."""
    text = markdown
    if _UNUSUAL.search(text):
        text = drop_invisible(_LINE_ENDS.sub("\n", text))
    if ";base64," in text:
        text = _DATA_URI.sub("", text)
    text = _drop_front_matter(text)
    if "<!-- page " not in text:
        return CleanMarkdown(text=text, pages=())
    pages: list[tuple[int, int]] = []
    pieces: list[str] = []
    line = end = 0
    for mark in _PAGE_MARK.finditer(text):
        piece = text[end : mark.start()]
        pieces.append(piece)
        line += piece.count("\n")
        pages.append((line, int(mark.group(1))))
        end = mark.end()
    pieces.append(text[end:])
    return CleanMarkdown(text="".join(pieces), pages=tuple(pages))


def drop_invisible(text: str) -> str:
    """Drop characters without width and what is no character at all."""
    return _INVISIBLE.sub("", text)


def _drop_front_matter(text: str) -> str:
    if not text[:12].lstrip().startswith(("---", "+++")):
        return text
    match = _FRONT_MATTER.match(text)
    if match is None or not match.group(2).strip():
        return text
    if all(_METADATA_LINE.match(line) for line in match.group(2).split("\n")):
        return text[match.end() :]
    return text


def measure_indent(line: str) -> int:
    """Count the columns before the first character; a tab reaches to the next multiple of 4."""
    if line[:1] not in " \t":
        return 0
    width = len(line) - len(line.lstrip(" \t"))
    return len(line[:width].expandtabs(4)) if "\t" in line[:width] else width


def dedent(lines: list[str], columns: int) -> list[str]:
    """Take up to that many columns of white space off the front of every line."""
    if columns == 0:
        return lines
    return [_dedent_line(line, columns) for line in lines]


def _dedent_line(line: str, columns: int) -> str:
    indent = measure_indent(line)
    return " " * max(0, indent - columns) + line.lstrip(" \t") if indent else line


def closes_fence(line: str, mark: str) -> bool:
    """Tell whether a line closes the fence that `mark` opened."""
    stripped = line.strip()
    return stripped.startswith(mark) and not stripped.strip(mark[0])


def find_number(line: str) -> tuple[str, int] | None:
    """Return style and number of a numbered step (`3、`, `第二步`, `Step 4`), or None."""
    match = NUMBERED.match(line)
    if match is None:
        return None
    style = str(match.lastgroup)
    digits = match.group(style)
    if style == "circle":
        return style, ord(digits) - ord("①") + 1
    return style, int(digits) if digits.isdecimal() else _parse_han_number(digits)


def _parse_han_number(digits: str) -> int:
    """Parse a number below a thousand: 三, 十二, 二十, 一百零五."""
    total = current = 0
    for digit in digits:
        if digit in "十百":
            total += (current or 1) * (10 if digit == "十" else 100)
            current = 0
        else:
            current = _HAN_DIGITS[digit]
    return total + current

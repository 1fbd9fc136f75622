"""What is left of HTML in Markdown: comments out, block tags away, the words kept."""

import html
import re

_COMMENT_OR_CODE = re.compile(r"(?P<fence>`{3,}|~{3,})|`[^`\n]*`|<!--")
_TITLE = re.compile(r"<h([1-6])\b[^<>]*>([^<>]{0,400})</h\1>", re.IGNORECASE)
_CELLS = re.compile(r"</t[dh]>\s*<t[dh]\b[^<>]*>", re.IGNORECASE)
_ITEM = re.compile(r"\s*<li\b[^<>]*>\s*", re.IGNORECASE)
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_START = re.compile(r"<(?:!--|script|style|textarea)", re.IGNORECASE)
_BLOCK_TAG = re.compile(
    r"</?(?:address|article|aside|blockquote|body|center|dd|details|div|dl|dt|figcaption|figure"
    r"|footer|form|h[1-6]|header|html|iframe|li|main|nav|ol|p|pre|section|summary|table|tbody|td"
    r"|tfoot|th|thead|tr|ul|video)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)


def starts_html(line: str) -> bool:
    """Tell whether a line begins a comment or a block of HTML, no mere tag within a text."""
    return (_START.match(line) or _BLOCK_TAG.match(line)) is not None


def drop_comments(text: str) -> str:
    """Take comments out of a block; code that shows a comment keeps it."""
    if "<!--" not in text:
        return text
    pieces: list[str] = []
    start = at = 0
    while (match := _COMMENT_OR_CODE.search(text, at)) is not None:
        at = match.end()
        mark = match.group()
        if mark == "<!--":
            end = text.find("-->", at)
            if end < 0:
                break
            pieces.append(text[start : match.start()])
            start = at = end + len("-->")
        elif match.lastgroup == "fence":
            at = max(at, text.find(mark, at) + len(mark))
    return "".join([*pieces, text[start:]])


def find_comment_end(lines: list[str], start: int) -> tuple[int, str] | None:
    """Return the line on which a comment that opens at `start` ends, and what follows it there."""
    opening = lines[start].partition("<!--")[2]
    if "-->" in opening:
        return start, opening.partition("-->")[2]
    for at in range(start + 1, len(lines)):
        if "-->" in lines[at]:
            return at, lines[at].partition("-->")[2]
    return None


def unwrap_html(text: str) -> str:
    """Turn headings and list items into Markdown and drop the tags of other blocks."""
    text = _TITLE.sub(_write_heading, text)
    text = _CELLS.sub(" | ", text)
    text = _ITEM.sub("\n- ", text)
    return _BLOCK_TAG.sub("", text).strip("\n")


def unwrap_code(text: str) -> str:
    """Return the words of preformatted HTML, which may be full of tags that colour them."""
    return html.unescape(_ANY_TAG.sub("", text)).strip("\n")


def _write_heading(match: re.Match[str]) -> str:
    return f"{'#' * int(match.group(1))} {' '.join(match.group(2).split())}"

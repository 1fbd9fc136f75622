"""Quotes as Markdown that reads well outside its page and carries its citation marker."""

import re
from collections.abc import Sequence

from bot.rag.language import is_chinese
from bot.rag.quotes import Quote

_CODE = re.compile(r"```[\s\S]*?(?:```|\Z)|``[^\n]+?``|`[^`\n]+`")
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(
    r"(?<!!)\[(?P<text>[^\[\]]*)\]\((?P<target>[^()\s]*(?:\([^()]*\))?[^()\s]*)[^()]*\)"
)
_MARKER = re.compile(r"(?<!\\)\[(\d{1,3})\](?!\()")
_ABSOLUTE = ("http://", "https://", "mailto:")
_BLOCK_START = re.compile(r"\||```|~~~|[-*+] |\d{1,3}[.)、]")
_HTML_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_HAN_END = re.compile(r"[\u3000-\u9fff\uff00-\uffef]$")


def clean_quote(text: str) -> str:
    """Make quoted Markdown stand on its own.

    Links to places relative to the page become their text, pictures go, and what looks like one
    of our citation markers is escaped. Code stays as it is.
    """
    pieces: list[str] = []
    end = 0
    for code in _CODE.finditer(text):
        pieces += [_clean_prose(text[end : code.start()]), code.group()]
        end = code.end()
    pieces.append(_clean_prose(text[end:]))
    return "".join(pieces)


def _clean_prose(text: str) -> str:
    text = _IMAGE.sub("", text)
    text = _LINK.sub(_clean_link, text)
    return _MARKER.sub(r"\\[\1\\]", text)


def _clean_link(match: re.Match[str]) -> str:
    is_absolute = match["target"].startswith(_ABSOLUTE)
    return match.group() if is_absolute else match["text"]


def render_prose(sentences: Sequence[str], marker: str) -> str:
    """Join sentences of one paragraph; wrapped lines become one line."""
    text = ""
    for sentence in sentences:
        cleaned = _join_lines(clean_quote(sentence))
        gap = "" if not text or _HAN_END.search(text) else " "
        text = f"{text}{gap}{cleaned}"
    return f"{text} {marker}"


def _join_lines(text: str) -> str:
    lines = [line.strip() for line in text.split("\n")]
    joined = lines[0]
    for line in lines[1:]:
        gap = "" if _HAN_END.search(joined) else " "
        joined = f"{joined}{gap}{line}" if line else joined
    return joined


def render_block(text: str, marker: str) -> str:
    """Render a list, steps, code or table whole, the marker behind it."""
    cleaned = clean_quote(text).rstrip()
    last = cleaned.rsplit("\n", 1)[-1].strip()
    needs_line = last.startswith(("```", "~~~", "|"))
    return f"{cleaned}\n\n{marker}" if needs_line else f"{cleaned} {marker}"


def render_label(label: str, body: str) -> str:
    """Put a bold label before prose, or on a line of its own before lists, tables and code."""
    if not label:
        return body
    cleaned = clean_quote(label).replace("*", "").strip()
    colon = "：" if is_chinese(body) else ": "
    starts_block = _BLOCK_START.match(body) is not None
    return (
        f"**{cleaned}**{colon.rstrip()}\n\n{body}"
        if starts_block
        else (f"**{cleaned}**{colon}{body}")
    )


def render_rows(rows: Sequence[Quote], marker: str) -> str:
    """Render rows of one table: one as pairs of header and value, several as a table."""
    header = rows[0].header
    if len(rows) == 1 and header:
        return f"{_render_pairs(header, rows[0].cells)} {marker}"
    if len(rows) == 1:
        return f"{' | '.join(map(_clean_cell, rows[0].cells))} {marker}"
    width = max(len(row.cells) for row in rows)
    head = list(header) if header else [""] * width
    lines = [_build_row(head), _build_row(["---"] * len(head))]
    lines += [_build_row([clean_quote(cell) for cell in row.cells]) for row in rows]
    return "\n".join(lines) + f"\n\n{marker}"


def _render_pairs(header: Sequence[str], cells: Sequence[str]) -> str:
    pairs = [
        (name.strip("* "), _clean_cell(cell))
        for name, cell in zip(header, cells, strict=False)
        if cell and cell not in {"-", "–", "—"}
    ]
    is_wide = is_chinese(" ".join([*header, *cells]))
    colon, gap = ("：", "；") if is_wide else (": ", "; ")
    return gap.join(f"**{name}**{colon}{cell}" if name else cell for name, cell in pairs)


def _clean_cell(cell: str) -> str:
    return _HTML_BREAK.sub(" ", clean_quote(cell)).replace("\\|", "|")


def _build_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"

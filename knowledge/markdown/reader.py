"""Reads Markdown block by block, line by line.

Where people write against the letter of the standard (`1、`, tables without a rule, code that is
indented less than its item), the reading a person would choose wins: see docs/decisions/0004.
"""

import re
from collections.abc import Callable

from knowledge.markdown.blocks import Block, BlockKind, fence_code
from knowledge.markdown.html import (
    drop_comments,
    find_comment_end,
    starts_html,
    unwrap_code,
    unwrap_html,
)
from knowledge.markdown.lines import (
    FENCE,
    FOOTNOTE,
    HEADING,
    ITEM,
    REFERENCE,
    RULE,
    TABLE_RULE,
    TAGS_ONLY,
    UNDERLINE,
    closes_fence,
    dedent,
    find_number,
    measure_indent,
)

# A longer line behind hashes is prose.
_MAX_HEADING_CHARS = 300
# A longer paragraph above a line of dashes is a paragraph above a rule.
_MAX_UNDERLINED_CHARS = 120
_CODE_INDENT = 4
# Less than that after a blank line is outside the item above.
_ITEM_INDENT = 2
_MIN_ROW_PIPES = 3
_PADDING = re.compile(r"(?<=\|)[ \t]{2,}|(?<![ \t])[ \t]{2,}(?=\|)")
_LONG_DASHES = re.compile(r"-{4,}")
_WIDE_MARKS = re.compile(r"[，。；：？！、]")
_NUMBER_STARTS = "（(第步Ss①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_DIGITS = "0123456789"


class BlockReader:
    """Reads lines into `blocks`; `references` are the link targets they define, by label."""

    def __init__(self, lines: list[str]) -> None:
        self.blocks: list[Block] = []
        self.references: dict[str, str] = {}
        self._lines = lines
        self._at = 0
        # Closing marks known not to come any more: looking for each anew would be quadratic.
        self._missing: set[str] = set()
        self._readers: dict[str, Callable[[str], bool]] = {
            "#": self._read_heading,
            ">": self._read_quote,
            "|": self._read_piped,
            "<": self._read_html,
            "[": self._read_bracket,
            "_": self._read_rule,
            **dict.fromkeys("`~", self._read_fence),
            **dict.fromkeys("-*+•" + _DIGITS, self._read_item),
            **dict.fromkeys(_NUMBER_STARTS, self._read_numbered),
        }

    def read(self) -> None:
        """Read all lines."""
        while self._at < len(self._lines):
            stripped = self._lines[self._at].lstrip()
            if stripped:
                self._read_block(stripped)
            else:
                self._at += 1

    def _read_block(self, stripped: str) -> None:
        line = self._lines[self._at]
        if line[0] in " \t" and measure_indent(line) >= _CODE_INDENT:
            if self._read_indented(stripped):
                return
        elif "|" in stripped and self._is_table(self._at):
            self._read_table()
            return
        reader = self._readers.get(stripped[0])
        if reader is None or not reader(stripped):
            self._read_paragraph()

    def _add(self, kind: BlockKind, end: int, text: str, *, level: int = 0) -> None:
        """Add what stands from the current line up to `end`, and go on there."""
        if text:
            block = Block(kind=kind, text=text, line=self._at, end=end, level=level)
            self.blocks.append(block)
        self._at = end

    def _join(self, end: int) -> str:
        return "\n".join(self._lines[self._at : end]).strip()

    # Headings and paragraphs

    def _read_heading(self, stripped: str) -> bool:
        match = HEADING.match(stripped)
        if match is None:
            return False
        text = stripped[match.end() :].rstrip()
        bare = text.rstrip("#")
        if not bare or bare[-1] in " \t":
            text = bare.rstrip()
        if len(text) > _MAX_HEADING_CHARS:
            return False
        self._add(BlockKind.HEADING, self._at + 1, text, level=len(match.group(1)))
        return True

    def _read_paragraph(self) -> None:
        end = self._at + 1
        while end < len(self._lines):
            stripped = self._lines[end].lstrip()
            if not stripped:
                break
            if stripped[0] in "=-" and UNDERLINE.match(stripped):
                self._end_at_underline(end, stripped[0])
                return
            if self._interrupts(end, stripped):
                break
            end += 1
        self._add(BlockKind.PARAGRAPH, end, drop_comments(self._join(end)))

    def _end_at_underline(self, end: int, mark: str) -> None:
        text = self._join(end)
        if len(text) > _MAX_UNDERLINED_CHARS:
            self._add(BlockKind.PARAGRAPH, end, text)
            self._at = end + 1
            return
        self._add(BlockKind.HEADING, end + 1, " ".join(text.split()), level=1 if mark == "=" else 2)

    def _interrupts(self, at: int, stripped: str) -> bool:
        """Tell whether a line ends the paragraph, item or quote before it."""
        if "|" in stripped and (self._is_table(at) or _is_row(stripped)):
            return True
        is_start = _BLOCK_STARTS.get(stripped[0])
        return is_start is not None and is_start(stripped)

    # Code

    def _read_fence(self, stripped: str) -> bool:
        match = FENCE.match(stripped)
        if match is None:
            return False
        end = self._find_fence_end(self._at, match.group())
        lines = self._lines[self._at : end]
        body = dedent(lines, measure_indent(lines[0]))
        if len(body) == 1 or not closes_fence(body[-1], match.group()):
            body = [*"\n".join(body).rstrip().split("\n"), match.group()]
        text = "\n".join(body)
        self._add(BlockKind.CODE, end, text if text.strip("`~ \t\n") else "")
        return True

    def _find_fence_end(self, start: int, mark: str) -> int:
        """Return the index after the closing fence; the end of the text when there is none."""
        if mark not in self._missing:
            for at in range(start + 1, len(self._lines)):
                line = self._lines[at]
                if mark in line and closes_fence(line, mark):
                    return at + 1
            self._missing.add(mark)
        return len(self._lines)

    def _read_indented(self, stripped: str) -> bool:
        """Read indented code; what is plainly something else but for its indent is left alone."""
        if stripped[0] in "`~|>" or ITEM.match(stripped) or _WIDE_MARKS.search(stripped):
            return False
        end = self._at
        for at in range(self._at, len(self._lines)):
            line = self._lines[at]
            if not line.strip():
                continue
            if measure_indent(line) < _CODE_INDENT:
                break
            end = at + 1
        body = "\n".join(dedent(self._lines[self._at : end], _CODE_INDENT)).rstrip()
        self._add(BlockKind.CODE, end, fence_code(body))
        return True

    # Lists and steps

    def _read_item(self, stripped: str) -> bool:
        if self._read_rule(stripped):
            return True
        match = ITEM.match(stripped)
        if match is None:
            return self._read_numbered(stripped)
        self._read_list(is_ordered=match.group(1) is not None)
        return True

    def _read_list(self, *, is_ordered: bool) -> None:
        base = measure_indent(self._lines[self._at])
        numbers: list[int] = []
        end = at = self._at
        while at < len(self._lines):
            line = self._lines[at]
            stripped = line.lstrip()
            if not stripped:
                at += 1
                continue
            if measure_indent(line) <= base + 1:
                item = _match_item(stripped)
                if item is not None and (item.group(1) is not None) == is_ordered:
                    numbers.append(int(item.group(1) or 0))
                elif at > end or item is not None or self._interrupts(at, stripped):
                    break
            fence = FENCE.match(stripped) if stripped[0] in "`~" else None
            end = at = self._find_inner_fence_end(at, base, fence.group()) if fence else at + 1
        text = drop_comments("\n".join(dedent(self._lines[self._at : end], base)).rstrip())
        if is_ordered:
            self._add_steps(end, text, ("item", numbers[0], numbers[-1]))
        elif find_number(text[1:].lstrip()) is not None:
            # Numbers of a kind that Markdown lacks, behind its marks: `- （1）`.
            self._add_steps(end, text, ("mark", 0, 0))
        else:
            self._add(BlockKind.LIST, end, text)

    def _find_inner_fence_end(self, start: int, base: int, mark: str) -> int:
        """Return the index after a fence inside an item; one that is never closed ends with it."""
        end = self._find_fence_end(start, mark)
        if end < len(self._lines) or closes_fence(self._lines[-1], mark):
            return end
        end = start + 1
        while end < len(self._lines) and (
            not self._lines[end].strip() or measure_indent(self._lines[end]) > base + 1
        ):
            end += 1
        return end

    def _add_steps(self, end: int, text: str, numbers: tuple[str, int, int]) -> None:
        block = Block(kind=BlockKind.STEPS, text=text, line=self._at, end=end, numbers=numbers)
        self.blocks.append(block)
        self._at = end

    def _read_numbered(self, stripped: str) -> bool:
        """Read steps that are numbered in another way than Markdown's."""
        found = find_number(stripped)
        if found is None:
            return False
        style, last = found
        end = at = self._at + 1
        while at < len(self._lines):
            line = self._lines[at]
            stripped = line.lstrip()
            if stripped:
                following = find_number(stripped)
                is_next = following == (style, last + 1)
                is_apart = at > end and measure_indent(line) < _ITEM_INDENT
                is_other = following is None and self._interrupts(at, stripped)
                if not is_next and (is_apart or is_other):
                    break
                last += is_next
                end = at + 1
            at += 1
        self._add_steps(end, drop_comments(self._join(end)), (style, found[1], last))
        return True

    # Tables and quotes

    def _is_table(self, at: int) -> bool:
        return at + 1 < len(self._lines) and TABLE_RULE.match(self._lines[at + 1]) is not None

    def _read_piped(self, stripped: str) -> bool:
        """Read rows that have lost their header as a table too."""
        if not _is_row(stripped):
            return False
        self._read_table()
        return True

    def _read_table(self) -> None:
        end = self._at + 1
        while end < len(self._lines) and "|" in self._lines[end]:
            stripped = self._lines[end].lstrip()
            if stripped[0] in "`~#>-" and end > self._at + 1 and self._interrupts(end, stripped):
                break
            end += 1
        rows = [_PADDING.sub(" ", line.strip()) for line in self._lines[self._at : end]]
        if len(rows) > 1 and TABLE_RULE.match(rows[1]):
            rows[1] = _LONG_DASHES.sub("---", rows[1])
        self._add(BlockKind.TABLE, end, drop_comments("\n".join(rows)))

    def _read_quote(self, _stripped: str) -> bool:
        end = self._at + 1
        while end < len(self._lines):
            stripped = self._lines[end].lstrip()
            if not stripped or (stripped[0] != ">" and self._interrupts(end, stripped)):
                break
            end += 1
        text = "\n".join(line.lstrip() for line in self._lines[self._at : end])
        self._add(BlockKind.QUOTE, end, drop_comments(text) if text.strip("> \t\n") else "")
        return True

    # HTML, references, rules

    def _read_html(self, stripped: str) -> bool:
        if stripped.startswith("<!--"):
            return self._read_comment()
        for tag in ("<script", "<style", "<pre"):
            if stripped[: len(tag)].lower() == tag:
                return self._read_raw(f"</{tag[1:]}>")
        if TAGS_ONLY.match(stripped) and "<img" not in stripped:
            self._at += 1
            return True
        text = unwrap_html(stripped)
        is_changed = text != stripped and not text.startswith("<")
        self._lines[self._at] = text
        return is_changed

    def _read_comment(self) -> bool:
        found = None if "-->" in self._missing else find_comment_end(self._lines, self._at)
        if found is None:
            self._missing.add("-->")
            return False
        self._at, self._lines[found[0]] = found
        return True

    def _read_raw(self, closing: str) -> bool:
        """Drop a script or style sheet; read preformatted text as code."""
        end = self._at
        while closing not in self._missing and end < len(self._lines):
            if closing in self._lines[end].lower():
                body = unwrap_code(self._join(end + 1)) if closing == "</pre>" else ""
                self._add(BlockKind.CODE, end + 1, fence_code(body) if body.strip() else "")
                return True
            end += 1
        self._missing.add(closing)
        self._lines[self._at] = self._lines[self._at].partition(">")[2]
        return True

    def _read_bracket(self, stripped: str) -> bool:
        if FOOTNOTE.match(stripped):
            self._read_footnote()
            return True
        match = REFERENCE.match(stripped)
        if match is None:
            return False
        self.references.setdefault(match.group(1).lower(), match.group(2))
        self._at += 1
        return True

    def _read_footnote(self) -> None:
        """Read a footnote with the indented paragraphs that belong to it."""
        end = at = self._at + 1
        while at < len(self._lines):
            line = self._lines[at]
            if line.strip():
                is_apart = at > end and measure_indent(line) < _ITEM_INDENT
                if is_apart or self._interrupts(at, line.lstrip()):
                    break
                end = at + 1
            at += 1
        self._add(BlockKind.PARAGRAPH, end, self._join(end))

    def _read_rule(self, stripped: str) -> bool:
        if RULE.match(stripped) is None:
            return False
        self._at += 1
        return True


def _starts_steps(stripped: str) -> bool:
    """Tell whether a line is the first of some steps: others may be a wrapped line of prose."""
    item = ITEM.match(stripped)
    if item is not None:
        return item.group(1) == "1"
    number = find_number(stripped)
    return number is not None and number[1] == 1


def _match_item(stripped: str) -> re.Match[str] | None:
    return None if RULE.match(stripped) else ITEM.match(stripped)


def _is_row(stripped: str) -> bool:
    """Tell whether a line is a table row by its outer pipes."""
    return (
        stripped[0] == "|"
        and stripped[-3:].rstrip()[-1:] == "|"
        and (stripped.count("|") >= _MIN_ROW_PIPES)
    )


_BLOCK_STARTS: dict[str, Callable[[str], bool]] = {
    "#": lambda line: HEADING.match(line) is not None,
    ">": lambda _line: True,
    "<": lambda line: starts_html(line) or TAGS_ONLY.match(line) is not None,
    "[": lambda line: FOOTNOTE.match(line) is not None,
    **dict.fromkeys("`~", lambda line: FENCE.match(line) is not None),
    **dict.fromkeys("-*+•_", lambda line: bool(ITEM.match(line) or RULE.match(line))),
    **dict.fromkeys(_DIGITS + _NUMBER_STARTS, _starts_steps),
}
"""By first character: whether a line starts a block and so ends the one before it."""

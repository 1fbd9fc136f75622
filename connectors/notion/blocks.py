"""Blocks to Markdown, every type, nested as they are. Pure.

Text of other pages (synced copies) becomes a segment of its own, because it has readers of its
own. Blocks of a type nobody knows yet keep their text and what is below them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from connectors.files.tables import write_table
from connectors.notion.body import Node
from connectors.notion.payloads import BlockBody
from connectors.notion.rich_text import References, write_plain, write_rich_text

_MAX_SYNCED_DEPTH = 5
_LEVELS = {"heading_1": 1, "heading_2": 2, "heading_3": 3, "heading_4": 4}
_DEEPEST_HEADING = 6
_SHALLOWEST = 1
_FENCE = re.compile(r"`{3,}")
_NO_LANGUAGES = frozenset({"plain text", "text", "notion formula"})
# Shown on the page, but saying nothing of their own.
_SILENT = frozenset({"breadcrumb", "table_of_contents", "divider", "table_row", "button"})
_ENDS_TOGGLE = frozenset({"toggle", "child_page", "child_database", *_LEVELS})


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedText:
    """The original of a synced block: whose text it is and what it says."""

    page: str
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A run of Markdown; `origins` are the pages it comes in from, outermost first."""

    markdown: str
    origins: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Surroundings:
    """What a page's text needs from beyond its own blocks.

    Attributes:
        page: The page's own id.
        synced: Originals of synced blocks by block id; one that is missing is not shared with us.
        files: Markdown by block id, of hosted files whose text could be read.
    """

    page: str
    references: References = field(default_factory=References)
    synced: Mapping[str, SyncedText] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


def write_blocks(nodes: Sequence[Node], around: Surroundings) -> list[Segment]:
    """Write a page's blocks; segments in reading order, none of them empty."""
    writer = _Writer(around)
    writer.write_all(nodes, "")
    writer.flush()
    return writer.segments


class _Writer:
    def __init__(self, around: Surroundings) -> None:
        self.segments: list[Segment] = []
        self._around = around
        self._references = around.references
        self._lines: list[str] = []
        self._origins: tuple[str, ...] = ()
        self._chain: tuple[str, ...] = ()
        self._level = 0
        self._has_list_above = False
        self._writers: Mapping[str, Callable[[Node, str], None]] = {
            **dict.fromkeys(_LEVELS, self._write_heading),
            **dict.fromkeys(("quote", "callout"), self._write_quote),
            **dict.fromkeys(("image", "video", "file", "pdf", "audio"), self._write_file),
            **dict.fromkeys(("bookmark", "embed", "link_preview"), self._write_address),
            **dict.fromkeys(("child_page", "child_database"), self._write_child),
            **dict.fromkeys(("bulleted_list_item", "to_do", "toggle"), self._write_item),
            **dict.fromkeys(_SILENT, self._write_silent),
            "code": self._write_code,
            "equation": self._write_equation,
            "link_to_page": self._write_child,
            "synced_block": self._write_synced,
            "table": self._write_table,
            "unsupported": self._write_unsupported,
        }

    def write_all(self, nodes: Sequence[Node], indent: str) -> None:
        """Write siblings; only here are numbers of list items and ends of toggles known."""
        number = 0
        for place, node in enumerate(nodes):
            kind = node.block.type
            if kind == "numbered_list_item":
                number = node.block.body.list_start_index or number + 1
                self._write_listed(node, f"{number}. ", indent)
                continue
            number = 0
            if kind == "toggle" and not indent and _stands_apart(nodes, place):
                self._write_section(node)
                continue
            self._writers.get(kind, self._write_other)(node, indent)

    def flush(self) -> None:
        """End the segment that is being written."""
        markdown = "\n".join(self._lines).strip("\n")
        if markdown.strip():
            self.segments.append(Segment(markdown=markdown, origins=self._origins))
        self._lines = []
        self._has_list_above = False

    def _add(self, text: str, indent: str, *, is_item: bool = False) -> None:
        """Add a block of lines; items of one list stand close, everything else apart."""
        if not text.strip():
            return
        if not (is_item and self._has_list_above):
            self._lines.append("")
        self._lines += [f"{indent}{line}" if line else "" for line in text.split("\n")]
        self._has_list_above = is_item or bool(indent)

    def _text(self, node: Node) -> str:
        return write_rich_text(node.block.body.rich_text, self._references).strip()

    def _caption(self, body: BlockBody) -> str:
        return " ".join(write_rich_text(body.caption, self._references).split())

    def _write_other(self, node: Node, indent: str) -> None:
        """Write paragraphs, and containers that add nothing to what is in them."""
        body = node.block.body
        title = body.title if isinstance(body.title, str) else ""
        if not isinstance(body.title, str):
            title = write_rich_text(body.title, self._references)
        text = self._text(node) or title.strip() or self._caption(body)
        self._add(text, indent)
        # Below a paragraph people indent to show what belongs together, not to nest.
        self.write_all(node.children, indent)

    def _write_silent(self, node: Node, indent: str) -> None:
        self.write_all(node.children, indent)

    def _write_heading(self, node: Node, indent: str) -> None:
        text = " ".join(self._text(node).split())
        level = _LEVELS[node.block.type]
        if text and not indent:
            self._level = level
            self._add(f"{'#' * level} {text}", "")
        elif text:
            self._add(f"**{text.replace('**', '')}**", indent)
        self.write_all(node.children, indent)

    def _write_section(self, node: Node) -> None:
        """Write a toggle as a section: its line says what is in it, as a heading does."""
        text = " ".join(self._text(node).split())
        before = self._level
        self._level = min(before + 1, _DEEPEST_HEADING)
        if text:
            self._add(f"{'#' * max(self._level, _SHALLOWEST)} {text.replace('**', '')}", "")
        self.write_all(node.children, "")
        self._level = before

    def _write_item(self, node: Node, indent: str) -> None:
        mark = "- "
        if node.block.type == "to_do":
            mark = "- [x] " if node.block.body.checked else "- [ ] "
        self._write_listed(node, mark, indent)

    def _write_listed(self, node: Node, mark: str, indent: str) -> None:
        text = self._text(node) or "…"
        inner = " " * (len(mark) if mark[0].isdigit() else 2)
        first, *rest = text.split("\n")
        lines = [f"{mark}{first}", *(f"{inner}{line}" for line in rest)]
        self._add("\n".join(lines), indent, is_item=True)
        self.write_all(node.children, indent + inner)
        self._has_list_above = True

    def _write_quote(self, node: Node, indent: str) -> None:
        inner = _Writer(self._around)
        inner._origins, inner._chain, inner._level = self._origins, self._chain, self._level
        inner._add(self._text(node), "")
        inner.write_all(node.children, "")
        inner.flush()
        for segment in inner.segments:
            if segment.origins != self._origins:
                self.flush()
                self.segments.append(segment)
                continue
            quoted = [f"> {line}".rstrip() for line in segment.markdown.split("\n")]
            self._add("\n".join(quoted), indent)

    def _write_code(self, node: Node, indent: str) -> None:
        body = node.block.body
        code = write_plain(body.rich_text)
        longest = max((len(run) for run in _FENCE.findall(code)), default=2)
        fence = "`" * max(3, longest + 1)
        language = "" if body.language.casefold() in _NO_LANGUAGES else body.language
        self._add(f"{fence}{language.replace(' ', '-')}\n{code}\n{fence}", indent)
        self._add(self._caption(body), indent)
        self.write_all(node.children, indent)

    def _write_equation(self, node: Node, indent: str) -> None:
        expression = " ".join(node.block.body.expression.split())
        self._add(f"$${expression}$$" if expression else "", indent)

    def _write_table(self, node: Node, indent: str) -> None:
        rows = [
            [write_rich_text(cell, self._references) for cell in row.block.body.cells]
            for row in node.children
            if row.block.type == "table_row"
        ]
        self._add(write_table(rows, int(node.block.body.has_column_header)), indent)

    def _write_file(self, node: Node, indent: str) -> None:
        body = node.block.body
        name, caption = find_file_name(body), self._caption(body)
        label = f"{name}: {caption}" if name and caption else name or caption
        self._add(f"[{label}]" if label else "", indent)
        text = self._around.files.get(node.block.id, "")
        if text:
            self._add(_lower_headings(text, self._level), "")

    def _write_address(self, node: Node, indent: str) -> None:
        body = node.block.body
        caption = self._caption(body)
        is_plain = bool(caption) and "[" not in caption and not set("()<> ") & set(body.url)
        self._add(
            f"[{caption}]({body.url})" if is_plain and body.url else caption or body.url, indent
        )

    def _write_child(self, node: Node, indent: str) -> None:
        body = node.block.body
        target = body.page_id or body.database_id or node.block.id
        title = self._references.find_title(target)
        self._references.shown.setdefault(target)
        self._references.links.setdefault(target, title or "")
        if title:
            self._add(f"- {title}", indent, is_item=True)

    def _write_synced(self, node: Node, indent: str) -> None:
        source = node.block.body.synced_from
        if source is None or not source.block_id:
            self.write_all(node.children, indent)
            return
        original = self._around.synced.get(source.block_id)
        if original is None:
            self._references.notes["text synced from a page that is not shared with us"] = None
            return
        if source.block_id in self._chain or len(self._chain) >= _MAX_SYNCED_DEPTH:
            self._references.notes["a synced block that contains itself is shown once"] = None
            return
        own = self._origins[-1] if self._origins else self._around.page
        if original.page == own:
            self._write_chained(original, source.block_id, indent)
            return
        self.flush()
        before, level = self._origins, self._level
        self._origins = (*before, original.page)
        self._write_chained(original, source.block_id, "")
        self.flush()
        self._origins, self._level = before, level

    def _write_chained(self, original: SyncedText, block_id: str, indent: str) -> None:
        before = self._chain
        self._chain = (*before, block_id)
        self.write_all(original.nodes, indent)
        self._chain = before

    def _write_unsupported(self, node: Node, indent: str) -> None:
        kind = node.block.body.block_type or "unknown"
        self._references.notes[f"a block of type {kind!r} that Notion does not hand out"] = None
        self.write_all(node.children, indent)


def find_file_name(body: BlockBody) -> str:
    """Return the name of a file; of a nameless one that of its address, without the signature."""
    place = body.file or body.external
    url = place.url if place else ""
    return body.name or url.partition("?")[0].rstrip("/").rpartition("/")[2]


def _stands_apart(nodes: Sequence[Node], place: int) -> bool:
    """Tell whether what follows a toggle would not be taken for part of its section."""
    if not nodes[place].children:
        return False
    following = nodes[place + 1] if place + 1 < len(nodes) else None
    return following is None or following.block.type in _ENDS_TOGGLE


def _lower_headings(markdown: str, level: int) -> str:
    """Hang the headings of a file's text below the heading it stands under."""
    lines, fence = [], ""
    for line in markdown.split("\n"):
        match = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if match and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else match[1]
        heading = None if fence else re.match(r"(#{1,6})(?=\s)", line)
        if heading:
            depth = min(len(heading[1]) + level, _DEEPEST_HEADING)
            line = "#" * depth + line[len(heading[1]) :]  # noqa: PLW2901 - the line as it goes on
        lines.append(line)
    return "\n".join(lines)

"""Blocks of the storage format: headings, paragraphs, lists, tasks, layouts. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping

from bs4 import Tag

from connectors.confluence.storage_inline import MACROS, fold, write_children, write_inline
from connectors.confluence.storage_macros import is_block_macro, write_macro
from connectors.confluence.storage_parse import children_of, find_child
from connectors.confluence.storage_tables import write_tables
from connectors.confluence.storage_text import Findings
from knowledge.markdown.blocks import indent_lines, join_item

_BLOCKS = frozenset(
    {
        "address", "blockquote", "dd", "details", "div", "dl", "dt", "figure", "h1", "h2", "h3",
        "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "section", "table", "ul", "center",
        "ac:layout", "ac:layout-section", "ac:layout-cell", "ac:task-list", "ac:task",
        "ac:adf-extension",
    }
)  # fmt: skip
_HIDDEN = frozenset(
    {"ac:parameter", "ac:default-parameter", "ac:placeholder", "ac:plain-text-body"}
)
_LOOKS_LIKE_MARKUP = re.compile(r"(?m)^(#{1,6} |```|~~~)")


def write_blocks(tag: Tag, findings: Findings) -> Iterator[str]:
    """Yield the blocks below a tag; runs of text between blocks are paragraphs."""
    inline: list[str] = []
    for child in tag.children:
        if isinstance(child, Tag) and child.name in _HIDDEN:
            continue
        if isinstance(child, Tag) and _holds_blocks(child):
            yield from _end_paragraph(inline)
            yield from _write_block(child, findings)
        else:
            is_image = isinstance(child, Tag) and child.name == "ac:image"
            inline += [" "] if is_image else []
            inline.append(write_inline(child, findings))
    yield from _end_paragraph(inline)


def _holds_blocks(tag: Tag) -> bool:
    if tag.name in _BLOCKS or (tag.name in MACROS and is_block_macro(tag)):
        return True
    if tag.name in {"a", "code", "ac:link", "ac:image"}:
        return False
    return any(_holds_blocks(child) for child in children_of(tag) if child.name not in _HIDDEN)


def _end_paragraph(inline: list[str]) -> Iterator[str]:
    text = fold("".join(inline))
    inline.clear()
    if text:
        # Text that only looks like a heading or a fence must not become one.
        yield _LOOKS_LIKE_MARKUP.sub(r"\\\1", text)


def _write_block(tag: Tag, findings: Findings) -> Iterator[str]:
    if tag.name in MACROS:
        yield from write_macro(tag, findings, write_blocks)
    elif writer := _WRITERS.get(tag.name):
        yield from writer(tag, findings)
    elif re.fullmatch(r"h[1-6]", tag.name):
        yield from _write_heading(tag, findings)
    else:
        yield from write_blocks(tag, findings)


def _write_heading(tag: Tag, findings: Findings) -> Iterator[str]:
    text = " ".join(fold(write_children(tag, findings)).split())
    if text:
        yield f"{'#' * int(tag.name[1])} {text}"


def _write_pre(tag: Tag, _findings: Findings) -> Iterator[str]:
    for line_break in tag.find_all("br"):
        line_break.replace_with("\n")
    text = tag.get_text().strip("\n")
    if text.strip():
        yield f"```\n{text}\n```"


def _write_quote(tag: Tag, findings: Findings) -> Iterator[str]:
    text = "\n\n".join(write_blocks(tag, findings))
    if text:
        yield "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _write_list(tag: Tag, findings: Findings) -> Iterator[str]:
    items: list[str] = []
    start = str(tag.get("start") or "1")
    number = int(start) if start.isdecimal() else 1
    for child in children_of(tag):
        if child.name in {"ul", "ol"} and items:
            items[-1] += "\n" + indent_lines("\n".join(_write_list(child, findings)))
            continue
        mark = f"{number}. " if tag.name == "ol" else "- "
        text = join_item(list(write_blocks(child, findings)))
        if text:
            items.append(mark + indent_lines(text, len(mark)).lstrip())
            number += 1
    if items:
        yield "\n".join(items)


def _write_tasks(tag: Tag, findings: Findings) -> Iterator[str]:
    items: list[str] = []
    for task in children_of(tag):
        body, status = find_child(task, "ac:task-body"), find_child(task, "ac:task-status")
        if task.name == "ac:task-list" and items:
            items[-1] += "\n" + indent_lines("\n".join(_write_tasks(task, findings)))
        if body is None:
            continue
        is_done = status is not None and status.get_text(strip=True) == "complete"
        text = join_item(list(write_blocks(body, findings)))
        if text:
            items.append(f"- [{'x' if is_done else ' '}] {indent_lines(text).lstrip()}")
    if items:
        yield "\n".join(items)


def _write_extension(tag: Tag, findings: Findings) -> Iterator[str]:
    """Write what old clients are shown, which says the same; else the new form."""
    for name in ("ac:adf-fallback", "ac:adf-content"):
        found = tag.find(name)
        if isinstance(found, Tag):
            yield from write_blocks(found, findings)
            return


def _write_definitions(tag: Tag, findings: Findings) -> Iterator[str]:
    for child in tag.find_all(["dt", "dd"]):
        text = fold(write_children(child, findings))
        if text:
            yield f"**{text}**" if child.name == "dt" else text


_WRITERS: Mapping[str, Callable[[Tag, Findings], Iterator[str]]] = {
    "ac:adf-extension": _write_extension,
    "ac:task-list": _write_tasks,
    "blockquote": _write_quote,
    "dl": _write_definitions,
    "hr": lambda _tag, _findings: iter(()),
    "ol": _write_list,
    "pre": _write_pre,
    "table": lambda tag, findings: write_tables(tag, findings, write_blocks),
    "ul": _write_list,
}

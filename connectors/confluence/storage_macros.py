"""Macros that are blocks: code, call-outs, expands, included pages. Pure."""

import re
from collections.abc import Callable, Iterator

from bs4 import Tag

from connectors.confluence.storage_inline import read_page, write_inline
from connectors.confluence.storage_parse import (
    find_child,
    find_parameter,
    get_parameter,
    read_plain,
)
from connectors.confluence.storage_text import Findings, IncludedPage

WriteBlocks = Callable[[Tag, Findings], Iterator[str]]

# Bodies that are code, whatever the macro is called by its vendor.
_CODE = frozenset({"code", "noformat", "paste-code-macro", "code-block", "sourcecode", "codeblock"})
_RAW_MARKDOWN = frozenset({"markdown", "mohamicorp-markdown", "markdown-macro"})
_INCLUDES = frozenset({"include", "excerpt-include", "excerpt-include-macro"})
# Their title is shown above the body.
_TITLED = frozenset({"info", "note", "warning", "tip", "panel", "expand", "ui-expand", "alert"})
_INLINE = frozenset({"status", "jira", "mathinline", "anchor", "view-file"})
_NO_LANGUAGES = frozenset({"", "none", "text", "plain", "plaintext"})


def is_block_macro(macro: Tag) -> bool:
    """Tell whether a macro stands on lines of its own, whatever is in its body."""
    name = str(macro.get("ac:name") or "")
    if name in _INLINE:
        return False
    if name in _CODE | _RAW_MARKDOWN | _INCLUDES | _TITLED:
        return True
    return find_child(macro, "ac:plain-text-body") is not None


def write_macro(macro: Tag, findings: Findings, write_blocks: WriteBlocks) -> Iterator[str]:
    """Yield a macro's blocks; of one we don't know the body is kept, parameters never."""
    name = str(macro.get("ac:name") or "")
    plain = find_child(macro, "ac:plain-text-body")
    if findings.is_for_some(name):
        return
    if name in _INCLUDES:
        yield from _write_include(macro, name, findings)
    elif plain is not None and name in _RAW_MARKDOWN:
        yield read_plain(plain, findings.sections).strip("\n")
    elif plain is not None:
        yield from _write_code(macro, read_plain(plain, findings.sections))
    else:
        yield from _write_body(macro, name, findings, write_blocks)


def _write_body(
    macro: Tag, name: str, findings: Findings, write_blocks: WriteBlocks
) -> Iterator[str]:
    title = get_parameter(macro, "title") if name in _TITLED else ""
    body = find_child(macro, "ac:rich-text-body")
    blocks = list(write_blocks(body, findings)) if body is not None else []
    if title and blocks:
        yield f"**{title}**"
    yield from blocks
    if body is None and (text := write_inline(macro, findings)):
        yield text


def _write_code(macro: Tag, text: str) -> Iterator[str]:
    if not text.strip():
        return
    if title := get_parameter(macro, "title"):
        yield f"**{title}**"
    language = get_parameter(macro, "language").casefold()
    language = "" if language in _NO_LANGUAGES else re.sub(r"[^\w+#.-]", "", language)
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    body = text.replace("\r\n", "\n").strip("\n")
    yield f"{fence}{language}\n{body}\n{fence}"


def _write_include(macro: Tag, name: str, findings: Findings) -> Iterator[str]:
    page = _find_page(macro)
    if page is None:
        return
    ref = read_page(page)
    if ref is not None:
        excerpt = get_parameter(macro, "name") if name.startswith("excerpt") else None
        yield findings.mark_include(IncludedPage(page=ref, excerpt=excerpt))


def _find_page(macro: Tag) -> Tag | None:
    for name in ("", "page", "default-parameter"):
        parameter = find_parameter(macro, name)
        page = parameter.find(["ri:page", "ri:blog-post"]) if parameter is not None else None
        if isinstance(page, Tag):
            return page
    return None

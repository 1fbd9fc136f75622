"""Confluence storage format to Markdown. Pure."""

import re
from collections.abc import Iterator

from bs4 import Tag

from connectors.confluence.storage_blocks import write_blocks
from connectors.confluence.storage_inline import MACROS
from connectors.confluence.storage_parse import find_child, get_parameter, parse_storage
from connectors.confluence.storage_text import Findings, Piece, StorageContext, StorageText
from core.errors import UnsupportedContentError

_MARK = re.compile("\x00(\\d+)\x00")


def convert_storage(body: str, context: StorageContext | None = None) -> StorageText:
    """Convert a page's body.

    Raises:
        UnsupportedContentError: It is nested too deeply to be read.
    """
    # Nothing but our own marks may look like one.
    soup, sections = parse_storage(body.replace("\x00", ""))
    return _convert(soup, Findings(context=context or StorageContext(), sections=sections))


def convert_excerpt(
    body: str, name: str, context: StorageContext | None = None
) -> StorageText | None:
    """Convert the excerpt of a page; None when it has no excerpt of that name."""
    soup, sections = parse_storage(body.replace("\x00", ""))
    for macro in soup.find_all(list(MACROS)):
        if macro.get("ac:name") != "excerpt" or get_parameter(macro, "name") != name:
            continue
        inner = find_child(macro, "ac:rich-text-body")
        if inner is not None:
            findings = Findings(context=context or StorageContext(), sections=sections)
            return _convert(inner, findings)
    return None


def _convert(tag: Tag, findings: Findings) -> StorageText:
    try:
        pieces = tuple(_join(_place_includes(write_blocks(tag, findings), findings)))
    except RecursionError as error:
        raise UnsupportedContentError(
            "its body is nested too deeply to be read; simplify the page"
        ) from error
    return StorageText(
        pieces=pieces,
        links=tuple(dict.fromkeys(findings.links)),
        files=tuple(dict.fromkeys(findings.files)),
        notes=tuple(dict.fromkeys(findings.notes)),
    )


def _place_includes(blocks: Iterator[str], findings: Findings) -> Iterator[Piece]:
    """Cut at included pages; one inside a table or list comes after it."""
    for block in blocks:
        text = _MARK.sub("", block).strip("\n").rstrip()
        if text:
            yield text
        for number in _MARK.findall(block):
            yield findings.includes[int(number)]


def _join(pieces: Iterator[Piece]) -> Iterator[Piece]:
    texts: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            texts.append(piece)
            continue
        if texts:
            yield "\n\n".join(texts)
            texts.clear()
        yield piece
    if texts:
        yield "\n\n".join(texts)

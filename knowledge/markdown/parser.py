"""Markdown to its top-level blocks, in the order in which they are read.

A block is a slice of the source, so that what is quoted is what was written.
"""

import re
from dataclasses import replace

from knowledge.markdown.blocks import Block, BlockKind
from knowledge.markdown.lines import FOOTNOTE
from knowledge.markdown.reader import BlockReader

# What may stand between two steps without an indent, and how long it may be.
_MAX_BLOCKS_BETWEEN = 4
_MAX_CHARS_BETWEEN = 1500
_LIST_STYLES = frozenset({"item", "mark"})
_FOOTNOTE_MARK = re.compile(r"\[\^([^\]\s]{1,80})\](?!:)")
_REFERENCE_USE = re.compile(r"\[([^\[\]\n]{1,300})\](?:\[([^\[\]\n]{0,200})\])?(?![(:\[])")


def parse_markdown(markdown: str) -> list[Block]:
    """Parse Markdown with line feeds (see `clean_markdown`) into its blocks.

    Steps that are broken by code or remarks without an indent come back as one block; footnotes
    follow the block that refers to them; references to link targets become links. Comments, rules
    and tags that stand alone are left out.
    """
    lines = markdown.split("\n")
    reader = BlockReader(lines)
    reader.read()
    blocks = reader.blocks
    if any(block.kind is BlockKind.STEPS for block in blocks):
        blocks = _join_steps(blocks, lines)
    if "[^" in markdown:
        blocks = _place_footnotes(blocks)
    if reader.references:
        blocks = [_resolve_references(block, reader.references) for block in blocks]
    return blocks


def _join_steps(blocks: list[Block], lines: list[str]) -> list[Block]:
    """Join steps with the later ones that go on counting; a numbered line alone is prose."""
    joined: list[Block] = []
    at = 0
    while at < len(blocks):
        block = blocks[at]
        at += 1
        if block.kind is BlockKind.STEPS:
            block, at = _take_following_steps(block, blocks, at, lines)
            style, first, last = block.numbers
            if style not in _LIST_STYLES and first == last:
                block = replace(block, kind=BlockKind.PARAGRAPH)
        joined.append(block)
    return joined


def _take_following_steps(
    block: Block, blocks: list[Block], at: int, lines: list[str]
) -> tuple[Block, int]:
    while (following := _find_next_steps(block, blocks, at)) is not None:
        other = blocks[following]
        style, first, _ = block.numbers
        block = replace(
            block,
            text="\n".join([block.text, *lines[block.end : other.line], other.text]),
            end=other.end,
            numbers=(style, first, other.numbers[2]),
        )
        at = following + 1
    return block, at


def _find_next_steps(block: Block, blocks: list[Block], at: int) -> int | None:
    """Return the index of the steps that go on counting, not far away and under no new heading."""
    style, _, last = block.numbers
    chars = 0
    for index in range(at, min(at + _MAX_BLOCKS_BETWEEN + 1, len(blocks))):
        other = blocks[index]
        if other.kind is BlockKind.STEPS and other.numbers[:2] == (style, last + 1):
            return index
        chars += len(other.text)
        if other.kind is BlockKind.HEADING or chars > _MAX_CHARS_BETWEEN:
            return None
    return None


def _place_footnotes(blocks: list[Block]) -> list[Block]:
    """Move each footnote behind the block that first refers to it."""
    notes = {match.group(1): block for block in blocks if (match := FOOTNOTE.match(block.text))}
    placed: list[Block] = []
    waiting: list[Block] = []
    moved: set[str] = set()
    for block in blocks:
        if block.kind in {BlockKind.PARAGRAPH, BlockKind.HEADING}:
            placed.extend(waiting)
            waiting = []
        match = FOOTNOTE.match(block.text)
        if match is not None and notes[match.group(1)] is block:
            if match.group(1) in moved:
                continue
            moved.add(match.group(1))
        placed.append(block)
        for label in _FOOTNOTE_MARK.findall(block.text):
            if label in notes and label not in moved and notes[label] is not block:
                moved.add(label)
                waiting.append(notes[label])
    return placed + waiting


def _resolve_references(block: Block, references: dict[str, str]) -> Block:
    if block.kind is BlockKind.CODE or "[" not in block.text:
        return block

    def write_link(match: re.Match[str]) -> str:
        words, label = match.groups()
        target = references.get((label or words).lower())
        return match.group() if target is None else f"[{words}]({target})"

    text = _REFERENCE_USE.sub(write_link, block.text)
    return block if text == block.text else replace(block, text=text)

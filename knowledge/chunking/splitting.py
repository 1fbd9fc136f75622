"""Units that are too long: each kind of block is split where a reader would split it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from knowledge.chunking.code import split_code
from knowledge.chunking.meter import Room, TokenMeter, balance
from knowledge.chunking.prose import slice_text, split_prose
from knowledge.chunking.tables import split_table
from knowledge.chunking.units import Unit, build_units
from knowledge.markdown.blocks import BlockKind
from knowledge.markdown.lines import FENCE, ITEM, NUMBERED, closes_fence, dedent, measure_indent
from knowledge.markdown.parser import parse_markdown
from knowledge.sentences import cut_sentences

Pack = Callable[[Sequence[Unit], Room, TokenMeter], list[tuple[str, int]]]
"""Packs units into texts with the line each begins on; how the inside of an item is split."""

# White space between sentences that are far apart in deeply nested lists.
_MAX_JOINT_CHARS = 40
# Blocks inside blocks inside blocks: deeper ones are split like prose.
_MAX_DEPTH = 6
# What is repeated may take up a third of the room, not more.
_REPEATED_SHARE = 3
_QUOTE_MARK = re.compile(r"> ?")
_STEP_HEADING = re.compile(r"#{1,6} (?=\S)")


def split_unit(unit: Unit, room: Room, meter: TokenMeter, pack: Pack) -> list[Unit]:
    """Split a unit into smaller ones of its kind within the limit, each with its lead.

    Prose comes back as sentences, to be packed; everything else as pieces about as large as the
    target. Steps are split into as few pieces as the limit allows.
    """
    if unit.kind is BlockKind.PARAGRAPH or room.depth >= _MAX_DEPTH:
        return _split_paragraph(unit, room, meter)
    lead_cost = meter.measure(unit.lead) + 1 if unit.lead else 0
    if lead_cost * _REPEATED_SHARE > room.target:
        opening = replace(unit, kind=BlockKind.PARAGRAPH, body=unit.lead, lead="")
        rest = replace(unit, lead="", line=unit.line + unit.lead.count("\n"), joint="\n\n")
        return [*_split_paragraph(opening, room, meter), *split_unit(rest, room, meter, pack)]
    units: list[Unit] = []
    for body, offset in _split_body(unit, room.shrink(lead_cost), meter, pack):
        piece = replace(unit, body=body, line=unit.line + offset, joint="\n\n")
        meter.remember(piece.text, lead_cost + meter.measure(body))
        if meter.measure(piece.text) <= room.limit:
            units.append(piece)
        else:
            units.extend(_split_paragraph(piece, replace(room, target=room.limit), meter))
    if units:
        units[0] = replace(units[0], joint=unit.joint)
    return units


def _split_body(unit: Unit, room: Room, meter: TokenMeter, pack: Pack) -> list[tuple[str, int]]:
    match unit.kind:
        case BlockKind.TABLE:
            return split_table(unit.body, room, meter)
        case BlockKind.CODE:
            return split_code(unit.body, room, meter)
        case BlockKind.QUOTE:
            return _split_quote(unit.body, room, meter, pack)
        case BlockKind.STEPS:
            return _split_items(unit.body, replace(room, target=room.limit), meter, pack)
        case _:
            return _split_items(unit.body, room, meter, pack)


def _split_paragraph(unit: Unit, room: Room, meter: TokenMeter) -> list[Unit]:
    """Split text into sentences, each a unit that remembers the white space before it."""
    units: list[Unit] = []
    line = unit.line
    joint = unit.joint
    for part in split_prose(unit.text, room.target, meter):
        body = part.strip() if units else part.rstrip()
        if body.strip():
            kind = BlockKind.PARAGRAPH
            units.append(Unit(kind=kind, body=body, line=line, joint=joint))
            joint = part[len(body) :][:_MAX_JOINT_CHARS]
        line += part.count("\n")
    return units


def _split_items(text: str, room: Room, meter: TokenMeter, pack: Pack) -> list[tuple[str, int]]:
    """Split a list between its items; an item beyond the limit is split inside."""
    lines = text.split("\n")
    starts = _find_items(lines)
    ends = [*starts[1:], len(lines)]
    items = ["\n".join(lines[start:end]).rstrip() for start, end in zip(starts, ends, strict=True)]
    costs = [meter.measure(item) for item in items]
    pieces: list[tuple[str, int]] = []
    groups = balance(costs, room.target)
    for first, last in zip(groups, [*groups[1:], len(items)], strict=True):
        if last - first == 1 and costs[first] > room.limit:
            inside = _split_item(items[first], room, meter, pack)
            pieces.extend((piece, starts[first] + offset) for piece, offset in inside)
        else:
            end = ends[last - 1]
            piece = "\n".join(lines[starts[first] : end]).rstrip()
            meter.remember(piece, sum(costs[first:last]) + last - first)
            pieces.append((piece, starts[first]))
    return pieces


def _find_items(lines: list[str]) -> list[int]:
    """Return the lines on which items begin; what stands inside an item or a fence is none."""
    style = _find_style(lines[0])
    starts = [0]
    fence = ""
    for index, line in enumerate(lines):
        stripped = line.lstrip()
        mark = FENCE.match(stripped)
        if fence:
            if closes_fence(line, fence):
                fence = ""
        elif mark is not None:
            fence = mark.group()
        elif index and measure_indent(line) <= 1 and style and _find_style(stripped) == style:
            starts.append(index)
    return starts


def _find_style(line: str) -> str:
    item = ITEM.match(line)
    if item is not None:
        return "ordered" if item.group(1) else "bullet"
    number = NUMBERED.match(_STEP_HEADING.sub("", line))
    return str(number.lastgroup) if number is not None else ""


def _split_item(item: str, room: Room, meter: TokenMeter, pack: Pack) -> list[tuple[str, int]]:
    """Split an item between its blocks; its first sentence is repeated with its number."""
    match = ITEM.match(item)
    marker = match.group() if match is not None else ""
    indent = len(marker)
    first, *rest = item[indent:].split("\n")
    content = "\n".join([first, *dedent(rest, indent)])
    opening = cut_sentences(first)[0].strip() if first.strip() else ""
    shown = f"{marker}{opening}"
    cost = meter.measure(shown) + 2
    is_repeated = bool(opening) and cost * _REPEATED_SHARE <= room.limit
    inner = replace(room.shrink(cost if is_repeated else 2), depth=room.depth + 1)
    inner = replace(inner, target=inner.limit)
    pieces: list[tuple[str, int]] = []
    for text, offset in pack(build_units(parse_markdown(content)), inner, meter):
        if not pieces:
            pieces.append((marker + _indent(text, indent), offset))
        elif is_repeated:
            pieces.append((f"{shown}\n\n{' ' * indent}{_indent(text, indent)}", offset))
        else:
            pieces.append((text, offset))
    return pieces


def _indent(text: str, columns: int) -> str:
    """Indent all lines but the first."""
    margin = " " * columns
    return "\n".join(
        margin + line if index and line else line for index, line in enumerate(text.split("\n"))
    )


def _split_quote(text: str, room: Room, meter: TokenMeter, pack: Pack) -> list[tuple[str, int]]:
    """Split a quotation between its blocks; every piece is a quotation again."""
    content = "\n".join(_QUOTE_MARK.sub("", line, count=1) for line in text.split("\n"))
    # Every line costs its mark.
    longest = max(1, room.limit - room.limit // 5)
    inner = Room(target=min(room.target, longest), limit=longest, depth=room.depth + 1)
    return [
        ("\n".join(f"> {line}".rstrip() for line in piece.split("\n")), offset)
        for piece, offset in pack(build_units(parse_markdown(content)), inner, meter)
    ]


def slice_heading(text: str, target: int, meter: TokenMeter) -> str:
    """Return as much of a heading's beginning as costs at most `target`."""
    return slice_text(text, target, meter)[0].strip()

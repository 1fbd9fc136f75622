"""Units into passages of about the target size, with overlap where prose is cut."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from knowledge.chunking.meter import Room, TokenMeter, balance, estimate_tokens
from knowledge.chunking.splitting import split_unit
from knowledge.chunking.units import Unit, is_title, join_units, judge_kind
from knowledge.documents import PassageKind
from knowledge.markdown.blocks import BlockKind
from knowledge.sentences import cut_sentences

_WHOLE = frozenset({BlockKind.STEPS, BlockKind.CODE})
# A group below this share of the target is left over, not a passage of its own.
_LEFT_OVER_SHARE = 4
# Estimates beyond the limit by that factor are believed.
_PLAINLY = 1.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The text of a passage, what it mostly is, and the line on which it begins."""

    text: str
    kind: PassageKind
    line: int


@dataclass(slots=True, kw_only=True)
class _Group:
    """Neighbouring units that become one passage; a sealed one takes in nothing large."""

    units: list[Unit]
    cost: int
    is_sealed: bool


def pack_units(
    units: Sequence[Unit], room: Room, meter: TokenMeter, *, overlap_tokens: int = 0
) -> list[Piece]:
    """Pack units into pieces, in order; steps and code stay whole up to the limit.

    A piece of prose that goes on from another one begins with the sentences that end the other,
    up to about `overlap_tokens`.
    """
    if not units:
        return []
    groups = _merge_left_overs(_group(units, room, meter, overlap_tokens), room)
    pieces: list[Piece] = []
    for index, group in enumerate(groups):
        shown = group.units
        if overlap_tokens and index:
            free_tokens = room.limit - group.cost - 1
            shown = _repeat_end(
                groups[index - 1].units,
                shown,
                meter,
                overlap_tokens=overlap_tokens,
                free_tokens=free_tokens,
            )
        pieces.append(Piece(text=join_units(shown), kind=judge_kind(shown), line=shown[0].line))
    return pieces


def _group(
    units: Sequence[Unit], room: Room, meter: TokenMeter, overlap_tokens: int
) -> list[_Group]:
    groups: list[_Group] = []
    run: list[Unit] = []
    costs: list[int] = []

    def close_run() -> None:
        groups.extend(_group_run(run, costs, room, overlap_tokens))
        run.clear()
        costs.clear()

    for unit in units:
        if _is_plainly_longer(unit, room):
            parts = split_unit(unit, room, meter, _pack_inside)
        elif (cost := meter.measure(unit.text)) <= room.target:
            run.append(unit)
            costs.append(cost)
            continue
        elif unit.kind in _WHOLE and cost <= room.limit:
            parts = [unit]
        else:
            parts = split_unit(unit, room, meter, _pack_inside)
        if all(part.kind is BlockKind.PARAGRAPH for part in parts):
            run.extend(parts)
            costs.extend(meter.measure(part.text) for part in parts)
            continue
        close_run()
        groups.extend(
            _Group(units=[part], cost=meter.measure(part.text), is_sealed=True) for part in parts
        )
    close_run()
    return groups


def _is_plainly_longer(unit: Unit, room: Room) -> bool:
    """Tell without counting that a unit has to be split: counting a text twice costs most."""
    most = room.limit if unit.kind in _WHOLE else room.target
    return estimate_tokens(unit.text) > _PLAINLY * most


def _group_run(
    units: list[Unit], costs: list[int], room: Room, overlap_tokens: int
) -> list[_Group]:
    if not units:
        return []
    # What is repeated comes on top of the target where the limit leaves room for it.
    starts = balance(costs, max(1, min(room.target, room.limit - overlap_tokens)))
    return [
        _Group(units=units[start:end], cost=sum(costs[start:end]) + end - start, is_sealed=False)
        for start, end in zip(starts, [*starts[1:], len(units)], strict=True)
    ]


def _merge_left_overs(groups: list[_Group], room: Room) -> list[_Group]:
    """Join small groups of prose beside a sealed one with it: a remark above or below a table."""
    merged: list[_Group] = []
    for group in groups:
        previous = merged[-1] if merged else None
        if previous is not None and previous.cost + group.cost <= room.limit:
            small, other = sorted((previous, group), key=lambda each: each.cost)
            if other.is_sealed and not small.is_sealed and _is_left_over(small, room):
                units = previous.units + group.units
                cost = previous.cost + group.cost
                merged[-1] = _Group(units=units, cost=cost, is_sealed=True)
                continue
        merged.append(group)
    return merged


def _is_left_over(group: _Group, room: Room) -> bool:
    return group.cost * _LEFT_OVER_SHARE <= room.target


def _repeat_end(
    previous: list[Unit],
    units: list[Unit],
    meter: TokenMeter,
    *,
    overlap_tokens: int,
    free_tokens: int,
) -> list[Unit]:
    """Put the last sentences of the prose before in front of the prose that goes on."""
    if previous[-1].kind is not BlockKind.PARAGRAPH or units[0].kind is not BlockKind.PARAGRAPH:
        return units
    kept: list[str] = []
    # One sentence may go beyond the share by half: better than none where sentences are long.
    most = overlap_tokens + overlap_tokens // 2
    repeated_tokens = 0
    for text in _read_backwards(previous):
        if text.strip():
            repeated_tokens += meter.measure(text.strip()) + 1
            if repeated_tokens > min(free_tokens, overlap_tokens if kept else most):
                break
        kept.append(text)
    body = "".join(reversed(kept)).strip()
    if not body:
        return units
    return [Unit(kind=BlockKind.PARAGRAPH, body=body, line=units[0].line), *units]


def _read_backwards(units: list[Unit]) -> Iterator[str]:
    """Yield the sentences of the prose that ends the units, the white space between them too."""
    for unit in reversed(units):
        if unit.kind is not BlockKind.PARAGRAPH:
            return
        yield from reversed(cut_sentences(unit.body))
        yield unit.joint


def _pack_inside(units: Sequence[Unit], room: Room, meter: TokenMeter) -> list[tuple[str, int]]:
    return [(piece.text, piece.line) for piece in pack_units(units, room, meter)]


def divide_units(units: Sequence[Unit], room: Room, meter: TokenMeter) -> list[list[Unit]]:
    """Divide the units of an overlong section into several, each at most about the target.

    Sizes are estimates: no reader of sections counts tokens to the last. Steps and code stay whole
    up to the limit. Where several borders serve, the one is taken whose next unit has the smallest
    check sum: after an edit the borders further down are the same.
    """
    parts: list[Unit] = []
    for unit in units:
        cost = estimate_tokens(unit.text)
        is_whole = cost <= (room.limit if unit.kind in _WHOLE else room.target)
        if is_whole:
            parts.append(unit)
        else:
            narrow = room if unit.kind in _WHOLE else replace(room, limit=room.target)
            parts.extend(split_unit(unit, narrow, meter, _pack_inside))
    costs = [estimate_tokens(part.text) + 1 for part in parts]
    sections: list[list[Unit]] = []
    start = 0
    for end in _find_borders(parts, costs, room.target):
        sections.append(parts[start:end])
        start = end
    return sections


def _find_borders(units: list[Unit], costs: list[int], limit: int) -> list[int]:
    """Return the ends of the sections, each in the second half of what it might hold."""
    ends: list[int] = []
    start = 0
    while start < len(units):
        filled = 0
        choices: list[int] = []
        end = start
        while end < len(units) and (end == start or filled + costs[end] <= limit):
            filled += costs[end]
            end += 1
            if 2 * filled >= limit:
                choices.append(end)
        start = len(units) if end == len(units) else _choose_border(units, choices or [end])
        ends.append(start)
    return ends


def _choose_border(units: list[Unit], choices: list[int]) -> int:
    return min(
        choices,
        key=lambda at: (not is_title(units[at].text), zlib.crc32(units[at].text.encode())),
    )

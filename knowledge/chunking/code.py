"""Long code: between top-level definitions, then at blank lines, then between lines."""

import re

from knowledge.chunking.meter import Room, TokenMeter, balance
from knowledge.chunking.prose import slice_text
from knowledge.markdown.blocks import fence_code
from knowledge.markdown.lines import FENCE, measure_indent

_LINE_LEVEL = 2
# A longer fence costs more than it tells: such code goes without.
_MAX_FENCE_CHARS = 20
_MAX_LANGUAGE_CHARS = 60
# A line at the outer margin that ends what stands above it.
_CLOSING = re.compile(r"\s*(?:[)\]}]|(?:end|else|elif|except|finally|catch|fi|done|esac)\b)")


def split_code(block: str, room: Room, meter: TokenMeter) -> list[tuple[str, int]]:
    """Split a fenced block into fenced blocks of the same language.

    Returns:
        Text and line offset of each piece.
    """
    lines = block.split("\n")
    is_fenced = FENCE.match(lines[0]) is not None
    body = lines[1:-1] if is_fenced else lines
    language = lines[0].strip().lstrip("`~")[:_MAX_LANGUAGE_CHARS] if is_fenced else ""
    fences = fence_code("\n".join(body), language=language).split("\n")[:: len(body) + 1]
    fence_cost = sum(meter.measure(fence) + 1 for fence in fences)
    inner = room.shrink(fence_cost)
    segments = _split_lines(body, 0, inner, meter)
    costs = [meter.measure(text) for text, _ in segments]
    pieces: list[tuple[str, int]] = []
    starts = balance(costs, inner.target)
    for start, end in zip(starts, [*starts[1:], len(segments)], strict=True):
        code = "\n".join(text for text, _ in segments[start:end])
        kept = code.strip("\n")
        if not kept.strip():
            continue
        blank = len(code) - len(code.lstrip("\n"))
        text = kept if len(fences[-1]) > _MAX_FENCE_CHARS else f"{fences[0]}\n{kept}\n{fences[-1]}"
        meter.remember(text, sum(costs[start:end]) + end - start + fence_cost)
        pieces.append((text, segments[start][1] + blank + is_fenced))
    return pieces


def _split_lines(
    lines: list[str], first: int, room: Room, meter: TokenMeter, *, level: int = 0
) -> list[tuple[str, int]]:
    """Split lines into segments within the limit: by definition, then blank line, then line."""
    text = "\n".join(lines)
    if level and meter.measure(text) <= room.limit:
        return [(text, first)]
    if level == _LINE_LEVEL:
        return [
            (part, first + index)
            for index, line in enumerate(lines)
            for part in slice_text(line, room.limit, meter)
        ]
    starts = _find_starts(lines, is_outer_only=level == 0)
    segments: list[tuple[str, int]] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        inside = _split_lines(lines[start:end], first + start, room, meter, level=level + 1)
        segments.extend(inside)
    return segments


def _find_starts(lines: list[str], *, is_outer_only: bool) -> list[int]:
    """Return where segments begin: at the top, and below blank lines, at the outer margin only."""
    margin = min((measure_indent(line) for line in lines if line.strip()), default=0)
    starts = [0]
    for index in range(1, len(lines)):
        if lines[index - 1].strip() or not lines[index].strip():
            continue
        line = lines[index]
        is_outer = measure_indent(line) == margin and _CLOSING.match(line) is None
        if is_outer or not is_outer_only:
            starts.append(index)
    return starts

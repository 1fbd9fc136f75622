"""What a block of Markdown is."""

import re
from dataclasses import dataclass
from enum import StrEnum

_TICKS = re.compile(r"`{3,}")


class BlockKind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    QUOTE = "quote"
    STEPS = "steps"
    LIST = "list"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A top-level block.

    Attributes:
        text: Valid Markdown on its own, not indented; of a heading the words alone.
        line: Index of its first line; `end` of the line after its last.
        level: 1 to 6 for a heading, else 0.
        numbers: Style, first and last number of steps.
    """

    kind: BlockKind
    text: str
    line: int
    end: int
    level: int = 0
    numbers: tuple[str, int, int] = ("", 0, 0)


def fence_code(code: str, *, language: str = "") -> str:
    """Put code between fences longer than any inside it."""
    longest = max(map(len, _TICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"

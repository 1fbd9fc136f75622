"""What a block of Markdown is."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_TICKS = re.compile(r"`{3,}")
_ITEM = re.compile(r"(- |\d+\. )")


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


def join_item(blocks: Sequence[str]) -> str:
    """Join the blocks of a list item: a list inside follows at once, others after an empty line."""
    text = ""
    for block in blocks:
        is_list = _ITEM.match(block) is not None
        text += ("\n" if is_list else "\n\n") + block if text else block
    return text


def indent_lines(text: str, width: int = 2) -> str:
    """Indent every line that is not empty."""
    return "\n".join(" " * width + line if line else "" for line in text.split("\n"))

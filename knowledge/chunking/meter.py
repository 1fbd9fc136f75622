"""What a text costs in tokens, counted as rarely as possible."""

from collections.abc import Callable
from dataclasses import dataclass, replace

# No tokeniser puts more than this into a token for long; a rule that counts words may.
_MAX_CHARS_A_TOKEN = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Tokens a piece may have.

    Attributes:
        target: What is aimed at.
        limit: What is never exceeded; never below the target.
        depth: How many blocks are open around the text that is being split.
    """

    target: int
    limit: int
    depth: int = 0

    def shrink(self, tokens: int) -> "Room":
        """Set tokens aside, but keep room for a word."""
        return replace(self, target=max(1, self.target - tokens), limit=max(1, self.limit - tokens))


class TokenMeter:
    """Counts each text once.

    It takes texts joined by white space to cost at most the sum of their costs and one token a
    joint, which holds for tokenisers that never reach across white space.
    """

    def __init__(self, count_tokens: Callable[[str], int]) -> None:
        self._count_tokens = count_tokens
        self._costs: dict[str, int] = {}

    def measure(self, text: str) -> int:
        """Return the tokens of a text."""
        cost = self._costs.get(text)
        if cost is None:
            cost = max(self._count_tokens(text), len(text) // _MAX_CHARS_A_TOKEN)
            self._costs[text] = cost
        return cost

    def remember(self, text: str, cost: int) -> None:
        """Take what the parts of a text cost for what it costs itself."""
        self._costs.setdefault(text, cost)

    def fits(self, text: str, room: Room) -> bool:
        """Tell whether a text stays within the target, without counting where that is plain."""
        return is_surely_within(text, room) or self.measure(text) <= room.target


def is_surely_within(text: str, room: Room) -> bool:
    """Tell from characters alone that a text keeps to the target; False = it has to be counted.

    A wide character is taken for a token and two others for one, more than tokenisers make of
    text; no tokeniser makes more tokens than there are bytes.
    """
    chars = len(text)
    if chars > 2 * room.target:
        return False
    wide_bytes = len(text.encode("utf-8", "surrogatepass")) - chars
    return chars // 2 + wide_bytes // 4 < room.target and chars + wide_bytes <= room.limit


def estimate_tokens(text: str) -> int:
    """Estimate tokens from characters, within about a third; for choices that need no more."""
    chars = len(text)
    wide_bytes = len(text.encode("utf-8", "surrogatepass")) - chars
    return 1 + chars // 4 + wide_bytes // 5


def balance(costs: list[int], limit: int) -> list[int]:
    """Return where groups of neighbours begin that cost at most `limit`, joints included.

    The groups come out about equally large rather than full with a small one last. An item that
    is larger than the limit is a group of its own.
    """
    starts = [0]
    left = sum(costs) + len(costs)
    ideal = _share(left, limit)
    filled = 0
    for index, cost in enumerate(costs):
        size = cost + 1
        if filled and (filled + size > limit + 1 or filled + size / 2 > ideal):
            starts.append(index)
            left -= filled
            ideal = _share(left, limit)
            filled = 0
        filled += size
    return starts


def _share(total: int, limit: int) -> float:
    return total / max(1, -(-total // max(1, limit)))

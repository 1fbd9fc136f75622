"""How often each kind of call was made to a stand-in."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Calls:
    """Calls so far."""

    total: int = 0
    by_kind: Counter[str] = field(default_factory=Counter)

    def count(self, kind: str) -> int:
        """Count a call; returns how many there are now."""
        self.total += 1
        self.by_kind[kind] += 1
        return self.total

    def reset(self) -> None:
        """Begin again at none."""
        self.total = 0
        self.by_kind.clear()

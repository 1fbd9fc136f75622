"""How often something may be tried within a while. In memory, of one process."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable

MOST_NAMES = 10_000


class Tries:
    """Counts tries by name and over all names.

    Args:
        each: Tries that one name has within the window.
        window_s: How long a try counts.
        total: Tries of all names together; 0 = as many as they like.
        monotonic: Seconds on a clock that never goes back.
    """

    def __init__(
        self,
        *,
        each: int,
        window_s: float,
        total: int = 0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._each = each
        self._window_s = window_s
        self._total = total
        self._monotonic = monotonic
        self._all: deque[float] = deque()
        self._by_name: OrderedDict[str, deque[float]] = OrderedDict()

    def seconds_left(self, name: str) -> float:
        """Return how long a name has to wait for its next try; 0 = it need not."""
        left = self._left(self._by_name.get(name, deque()), self._each)
        return max(left, self._left(self._all, self._total) if self._total else 0.0)

    def count(self, name: str) -> None:
        """Note a try."""
        now = self._monotonic()
        self._all.append(now)
        if len(self._all) > max(self._total, 1):
            self._all.popleft()
        tries = self._by_name.setdefault(name, deque(maxlen=self._each))
        tries.append(now)
        self._by_name.move_to_end(name)
        while len(self._by_name) > MOST_NAMES:
            self._by_name.popitem(last=False)

    def _left(self, tries: deque[float], most: int) -> float:
        if len(tries) < most:
            return 0.0
        return max(0.0, tries[-most] + self._window_s - self._monotonic())

"""How fast one service is asked: a shared pause, a rate, and a number of calls at once."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Time and chance as the retries see them; injected by tests.

    Attributes:
        monotonic: Seconds on a clock that never goes back.
        sleep: Waits that many seconds.
        rng: Spreads the waits of callers that failed together.
    """

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    rng: random.Random = field(default_factory=random.Random)


class Pace:
    """What all calls to one service share.

    Args:
        max_concurrent: Calls under way at once.
        max_calls_per_s: Calls begun in a second; 0 = no limit.
        timing: Time and chance.
    """

    def __init__(self, *, max_concurrent: int, max_calls_per_s: float, timing: Timing) -> None:
        self.places = asyncio.Semaphore(max_concurrent)
        self._interval_s = 1 / max_calls_per_s if max_calls_per_s else 0.0
        self._timing = timing
        self._paused_until = 0.0
        self._next_start = 0.0

    @property
    def pause_left_s(self) -> float:
        """Seconds until the service may be asked again; 0 = now."""
        return max(0.0, self._paused_until - self._timing.monotonic())

    def pause(self, seconds: float) -> None:
        """Let nobody ask before that many seconds have passed; a longer pause stands."""
        self._paused_until = max(self._paused_until, self._timing.monotonic() + seconds)

    async def wait(self) -> None:
        """Return when the next call may begin."""
        while (left := self.pause_left_s) > 0:
            # Those who wait together must not all come back in the same instant.
            await self._timing.sleep(left + self._timing.rng.uniform(0, 0.05))
        if not self._interval_s:
            return
        now = self._timing.monotonic()
        start = max(now, self._next_start)
        self._next_start = start + self._interval_s
        if start > now:
            await self._timing.sleep(start - now)

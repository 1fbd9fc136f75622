"""Repeat a call after transient errors, within its deadline."""

import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import tenacity

from core.errors import RateLimitedError, TransientError

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]

MAX_ATTEMPTS = 3
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 8.0


async def call_with_retries(
    attempt: Callable[[], Awaitable[T]], *, deadline: float, sleep: Sleep, rng: random.Random
) -> T:
    """Call until it succeeds, at most three times and while a further wait fits the deadline.

    Args:
        attempt: One attempt; only `TransientError` is worth another.
        deadline: On the monotonic clock, in seconds.
        sleep: Waits between attempts.
        rng: Spreads the waits of callers that failed together.

    Raises:
        TransientError: The last attempt's error.
    """

    def choose_delay(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, RateLimitedError):
            return error.retry_after_s
        longest = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** (state.attempt_number - 1))
        return rng.uniform(longest / 2, longest)

    def is_over(state: tenacity.RetryCallState) -> bool:
        is_last = state.attempt_number >= MAX_ATTEMPTS
        return is_last or time.monotonic() + state.upcoming_sleep >= deadline

    retrying = tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception_type(TransientError),
        wait=choose_delay,
        stop=is_over,
        sleep=sleep,
        reraise=True,
    )
    return await retrying(attempt)

"""What a piece of work has used of chat models, whoever called them on its behalf."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from core.models import Usage


class Meter:
    """Adds up what is used while it runs, in tasks started meanwhile too."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._lap = Usage()

    def count(self, usage: Usage) -> None:
        """Add what a call has used."""
        self.usage += usage
        self._lap += usage

    def take_lap(self) -> Usage:
        """Return what was counted since this was asked last."""
        lap, self._lap = self._lap, Usage()
        return lap


_running: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def running(meter: Meter) -> Iterator[None]:
    """Let a meter run for the length of a block, in place of the one around it."""
    token = _running.set(meter)
    try:
        yield
    finally:
        _running.reset(token)


def count_usage(usage: Usage) -> None:
    """Add what a call has used to the meter that runs, if one does."""
    meter = _running.get()
    if meter is not None:
        meter.count(usage)

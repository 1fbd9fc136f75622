"""Wakes whoever watches the workspace, once something may have changed."""

import asyncio

from playground.slack.workspace import Json


class Changes:
    """Counts moments after which the workspace may look different."""

    def __init__(self) -> None:
        self.count = 0
        self._next = asyncio.Event()

    def announce(self) -> None:
        """Say that something may have changed."""
        self.count += 1
        self._next.set()
        self._next = asyncio.Event()

    async def wait(self, seen: int) -> int:
        """Wait until there was a change after those that were seen; returns their count."""
        if self.count == seen:
            await self._next.wait()
        return self.count


def compare(before: dict[str, Json], after: dict[str, Json]) -> Json | None:
    """Return what is new or different, and what is gone; None when all is as it was."""
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    gone = [key for key in before if key not in after]
    return {"set": changed, "gone": gone} if changed or gone else None

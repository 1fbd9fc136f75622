"""Who watches a question being answered: told what is being done, shown what is written."""

from enum import StrEnum
from typing import Protocol


class Step(StrEnum):
    """What is being done for an answer."""

    SEARCHING = "searching"
    READING = "reading"
    WRITING = "writing"


class Watcher(Protocol):
    """Follows one question. Neither method may raise: an answer never fails for want of it."""

    async def note(self, step: Step) -> None:
        """Take note of what is being done from now on."""
        ...

    async def show(self, text: str) -> None:
        """Take the next text of the public answer, already checked.

        It is what everybody who listens may read. The answer that is returned holds, also when it
        differs from what was shown.
        """
        ...

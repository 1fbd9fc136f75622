"""Take out what a model thinks aloud (`<think> ... </think>`) before its reply."""

from enum import Enum, auto

_OPEN = "<think>"
_CLOSE = "</think>"


class _Place(Enum):
    START = auto()
    INSIDE = auto()
    AFTER = auto()
    REPLY = auto()


class ReasoningFilter:
    """Drops a leading reasoning block from text that arrives in pieces.

    Some servers leave the block in the content. Only one at the very start counts, so a reply
    that talks about the tag later keeps it.
    """

    def __init__(self) -> None:
        self._held = ""
        self._place = _Place.START

    def feed(self, piece: str) -> str:
        """Return what of the text so far is certainly reply, possibly nothing."""
        self._held += piece
        if self._place is _Place.START:
            self._look_for_block()
        if self._place is _Place.INSIDE:
            self._look_for_end()
        if self._place is _Place.AFTER:
            self._held = self._held.lstrip()
            self._place = _Place.REPLY if self._held else _Place.AFTER
        return self._take() if self._place is _Place.REPLY else ""

    def finish(self) -> str:
        """Return what is left at the end; a block that never closed is dropped."""
        return self._take() if self._place is _Place.START else ""

    def _look_for_block(self) -> None:
        start = self._held.lstrip()
        if start.startswith(_OPEN):
            self._held = start[len(_OPEN) :]
            self._place = _Place.INSIDE
        elif not _OPEN.startswith(start):
            self._place = _Place.REPLY

    def _look_for_end(self) -> None:
        _, mark, rest = self._held.partition(_CLOSE)
        if mark:
            self._held = rest
            self._place = _Place.AFTER

    def _take(self) -> str:
        text, self._held = self._held, ""
        return text

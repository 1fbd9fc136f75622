"""How far a source has been followed, kept as text by the ledger. Pure."""

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from connectors.confluence.model import Space
from knowledge.source import Cursor

# A space that is new, or has another name, is noticed after that long.
_SPACES_KEPT = timedelta(hours=1)

_log = structlog.get_logger(__name__)


@dataclass(slots=True, kw_only=True)
class Followed:
    """How far a site has been followed.

    Attributes:
        since: Changes up to then have been seen, in all spaces but those of `todo`.
        listed_at: When the last listing of everything began.
        spaces: The spaces that were followed, as they were at `spaces_at`.
        asked: Keys that the settings named then.
        todo: Keys of spaces that are still to be listed whole.
    """

    since: datetime | None = None
    listed_at: datetime | None = None
    spaces: tuple[Space, ...] = ()
    spaces_at: datetime | None = None
    asked: tuple[str, ...] = ()
    todo: list[str] = field(default_factory=list)

    def recall_spaces(self, asked: Collection[str], now: datetime) -> tuple[Space, ...]:
        """Return the spaces as they were last seen; none when they have to be asked for."""
        is_fresh = self.spaces_at is not None and now - self.spaces_at < _SPACES_KEPT
        is_same = sorted(self.asked) == sorted(asked)
        return self.spaces if is_fresh and is_same and not self.todo else ()

    def is_due(self, now: datetime, every: timedelta) -> bool:
        """Tell whether everything is to be listed again."""
        if self.since is None or self.listed_at is None:
            return True
        return not self.todo and now - self.listed_at >= every

    def encode(self) -> Cursor:
        """Return it as text."""
        values = {
            "since": _write(self.since),
            "listed_at": _write(self.listed_at),
            "spaces": [[one.key, one.space_id, one.name] for one in self.spaces],
            "spaces_at": _write(self.spaces_at),
            "asked": list(self.asked),
            "todo": self.todo,
        }
        return Cursor(json.dumps(values, ensure_ascii=False))


def parse_cursor(cursor: Cursor) -> Followed:
    """Return how far the source was followed; not at all by a cursor of a form we do not know.

    Everything is listed anew then, as after an update that keeps more than the old form had.
    """
    if not cursor:
        return Followed()
    try:
        values = json.loads(cursor)
        return Followed(
            since=_read(values["since"]),
            listed_at=_read(values["listed_at"]),
            spaces=tuple(
                Space(key=key, space_id=space_id, name=name)
                for key, space_id, name in values["spaces"]
            ),
            spaces_at=_read(values["spaces_at"]),
            asked=tuple(values["asked"]),
            todo=list(values["todo"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        _log.warning("cursor_not_understood", cursor=cursor[:80])
        return Followed()


def _write(moment: datetime | None) -> str:
    return moment.isoformat() if moment else ""


def _read(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None

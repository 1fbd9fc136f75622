"""How far a source has been followed, kept as text by the ledger. Pure."""

import json
from dataclasses import dataclass, field
from datetime import datetime

from core.errors import SettingsError
from knowledge.source import Cursor


@dataclass(slots=True, kw_only=True)
class Followed:
    """How far a site has been followed.

    Attributes:
        since: Changes up to then have been seen, in all spaces but those of `todo`.
        listed_at: When the last listing of everything began.
        spaces: Keys of the spaces that were followed.
        todo: Keys of spaces that are still to be listed whole.
    """

    since: datetime | None = None
    listed_at: datetime | None = None
    spaces: frozenset[str] = frozenset()
    todo: list[str] = field(default_factory=list)

    def encode(self) -> Cursor:
        """Return it as text."""
        values = {
            "since": self.since.isoformat() if self.since else "",
            "listed_at": self.listed_at.isoformat() if self.listed_at else "",
            "spaces": sorted(self.spaces),
            "todo": self.todo,
        }
        return Cursor(json.dumps(values, ensure_ascii=False))


def parse_cursor(cursor: Cursor) -> Followed:
    """Return how far the source was followed.

    Raises:
        SettingsError: The text is not a cursor of ours.
    """
    if not cursor:
        return Followed()
    try:
        values = json.loads(cursor)
        return Followed(
            since=datetime.fromisoformat(values["since"]) if values["since"] else None,
            listed_at=datetime.fromisoformat(values["listed_at"]) if values["listed_at"] else None,
            spaces=frozenset(values["spaces"]),
            todo=list(values["todo"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise SettingsError(
            f"the stored cursor {cursor[:80]!r} was not made by Confluence; run a reconciliation"
        ) from error

"""How the text of a document lives in time: which index rows open and close with each version.

Pure. A changed page closes only the rows whose text changed and opens new ones, so that "as of" is
a filter, and unchanged text is neither embedded nor written again.
"""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from knowledge.documents import (
    Content,
    DocumentId,
    Passage,
    PassageId,
    Section,
    build_passage_id,
)
from knowledge.ledger_records import IndexRow
from knowledge.stores import Level

Chunk = Passage | Section


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRow:
    """An index row in force, as the ledger has it."""

    passage_id: PassageId
    key: str
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRow:
    """An index row to write, with the version whose text it is."""

    passage_id: PassageId
    chunk: Chunk
    content: Content
    valid_from: datetime
    valid_to: datetime | None = None

    @property
    def level(self) -> Level:
        """Whether the row is a passage or a whole section."""
        return Level.PASSAGE if isinstance(self.chunk, Passage) else Level.SECTION


@dataclass(slots=True, kw_only=True)
class Timeline:
    """What has to change in the index so that it shows the document's versions.

    Attributes:
        closed: Rows of the ledger that end, with the moment they end.
        kept: Rows of the ledger that stay in force, with their text as it is now.
        versions: The versions that were applied, with their final numbers and moments.
    """

    opened: dict[PassageId, NewRow] = field(default_factory=dict)
    closed: dict[PassageId, datetime] = field(default_factory=dict)
    kept: dict[PassageId, Chunk] = field(default_factory=dict)
    versions: list[Content] = field(default_factory=list)


def plan_timeline(
    document_id: DocumentId,
    contents: Sequence[Content],
    open_rows: Sequence[OpenRow],
    *,
    last_number: int,
    last_at: datetime | None,
    build_rows: Callable[[Content], Sequence[Chunk]],
) -> Timeline:
    """Apply the contents, oldest first, to the rows in force.

    Contents numbered up to `last_number` were applied before and are skipped, but for the newest
    one: what it says now is what is in force. Moments never run backwards: a version dated before
    its predecessor (a restored file) begins a millisecond after it. An uncounted version (number
    0) counts on from the last one, unless not a single row changes.
    """
    timeline = Timeline()
    live: dict[str, NewRow | OpenRow] = {row.key: row for row in open_rows}
    number, at = last_number, last_at
    chunks: dict[str, Chunk] = {}
    for content in _unapplied(contents, last_number):
        chunks = {chunk.key: chunk for chunk in build_rows(content)}
        if number and chunks.keys() == live.keys() and content.version.number in {0, number}:
            continue
        at = _later(content.version.at, at)
        number = content.version.number or number + 1
        dated = replace(content, version=replace(content.version, number=number, at=at))
        _close_missing(timeline, live, chunks.keys(), at)
        for key, chunk in chunks.items():
            if key not in live:
                row = NewRow(
                    passage_id=build_passage_id(document_id, key, at),
                    chunk=chunk,
                    content=dated,
                    valid_from=at,
                )
                live[key] = timeline.opened[row.passage_id] = row
        timeline.versions.append(dated)
    timeline.kept = {
        row.passage_id: chunks[key] for key, row in live.items() if isinstance(row, OpenRow)
    }
    return timeline


def find_rows_between(
    rows: Iterable[IndexRow], moments: Sequence[datetime]
) -> tuple[PassageId, ...]:
    """Return the ended rows that were in force at none of the moments, when versions began.

    Nothing shows those rows any more: each was part of dropped versions only.
    """
    return tuple(
        row.passage_id
        for row in rows
        if row.valid_to is not None
        and not any(row.valid_from <= at < row.valid_to for at in moments)
    )


def _unapplied(contents: Sequence[Content], last_number: int) -> list[Content]:
    *older, newest = contents
    return [one for one in older if one.version.number > last_number] + [newest]


def _later(moment: datetime, previous: datetime | None) -> datetime:
    if previous is None or moment > previous:
        return moment
    return previous + timedelta(milliseconds=1)


def _close_missing(
    timeline: Timeline, live: dict[str, NewRow | OpenRow], keys: Set[str], at: datetime
) -> None:
    for key in live.keys() - keys:
        row = live.pop(key)
        match row:
            case OpenRow():
                timeline.closed[row.passage_id] = at
            case NewRow():
                timeline.opened[row.passage_id] = replace(row, valid_to=at)

"""The turns of conversations, kept with what they cited so that rights can be checked again.

The last six are kept as said. Older ones are summarised two at a time (`summarising`); a summary
carries every passage that its turns rested on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ColumnElement,
    Index,
    Integer,
    RowMapping,
    String,
    Table,
    Text,
    delete,
    false,
    func,
    select,
)
from sqlalchemy.engine import Connection

from core.database import Database
from core.tables import UtcDateTime, delete_where_in, metadata
from knowledge.documents import PassageId

TURNS_KEPT = 6
"""As they were said."""
SUMMARIES_KEPT = 6
SUMMARISED_AT_ONCE = 2
KEPT_FOR = timedelta(days=30)

turns = Table(
    "turns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("thread", String(255), nullable=False),
    Column("person", String(255), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("passages", JSON, nullable=False),
    Column("is_private", Boolean, nullable=False),
    Column("is_summary", Boolean, nullable=False, server_default=false()),
    Index(None, "thread", "person"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One question and its reply.

    Attributes:
        question: As it was understood: a follow-up with its subject filled in.
        passages: What question and reply rest on; the turn is dropped when one may no longer be
            read.
        is_private: The asker alone saw the reply; never used for one that others see.
        is_summary: Several turns in short: `answer` is the summary, and there is no question.
        turn_id: Where it is kept; 0 = nowhere.
        person: Who asked.
        thread: Where.
    """

    at: datetime
    question: str
    answer: str
    passages: tuple[PassageId, ...] = ()
    is_private: bool = False
    is_summary: bool = False
    turn_id: int = field(default=0, compare=False)
    person: str = field(default="", compare=False)
    thread: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """How much is remembered of a person."""

    turns: int
    summaries: int
    threads: int

    @property
    def is_any(self) -> bool:
        """Whether there is anything."""
        return self.threads > 0


class TurnStore:
    """Keeps the last turns of each person in each thread, for a while."""

    def __init__(self, database: Database, *, kept_for: timedelta = KEPT_FOR) -> None:
        """Use a database.

        Args:
            database: Where they are kept.
            kept_for: What was said longer ago is forgotten.
        """
        self._database = database
        self._kept_for = kept_for

    async def load(
        self,
        thread: str,
        person: str,
        *,
        now: datetime | None = None,
        with_others: bool = False,
    ) -> list[Turn]:
        """Return the last turns as said, oldest first.

        Args:
            thread: Where they were said.
            person: By whom.
            now: Leaves out what was said too long ago; None = nothing is.
            with_others: Also as many of those that others were answered there publicly.
        """
        found = await self._load(_said(thread) & (turns.c.person == person), TURNS_KEPT, now)
        if with_others:
            shared = (turns.c.person != person) & turns.c.is_private.is_(False)
            found += await self._load(_said(thread) & shared, TURNS_KEPT, now)
        return sorted(found, key=lambda one: one.turn_id)

    async def load_older(
        self, thread: str, person: str, *, now: datetime | None = None
    ) -> list[Turn]:
        """Return what went before the last turns, oldest first: summaries, then what waits."""
        own = turns.c.person == person
        in_short = (turns.c.thread == thread) & own & turns.c.is_summary.is_(True)
        summaries = await self._load(in_short, SUMMARIES_KEPT, now)
        said = await self._load(_said(thread) & own, TURNS_KEPT + SUMMARISED_AT_ONCE, now)
        return [*summaries, *said[:-TURNS_KEPT]]

    async def load_all(self, person: str, *, now: datetime | None = None) -> list[Turn]:
        """Return everything that is remembered of a person, in all threads, oldest first."""
        return await self._load(turns.c.person == person, None, now)

    async def load_due(self, thread: str, person: str) -> list[Turn]:
        """Return the turns that are to be summarised next; empty when none are."""
        own = _said(thread) & (turns.c.person == person)
        query = select(turns).where(own).order_by(turns.c.id)

        def load(connection: Connection) -> list[Turn]:
            rows = connection.execute(query).mappings().all()
            # A turn waits until another one can be summarised with it.
            is_due = len(rows) >= TURNS_KEPT + SUMMARISED_AT_ONCE
            return [_build_turn(row) for row in rows[:SUMMARISED_AT_ONCE]] if is_due else []

        return await self._database.read(load)

    async def append(self, thread: str, person: str, turn: Turn) -> None:
        """Add a turn."""
        await self._database.write(lambda connection: _insert(connection, thread, person, turn))

    async def replace(self, several: Sequence[Turn], summary: Turn) -> bool:
        """Put a summary in the place of turns; False when one of them is gone meanwhile."""
        first = several[0]
        ids = [one.turn_id for one in several]
        own = (turns.c.thread == first.thread) & (turns.c.person == first.person)
        in_short = own & turns.c.is_summary.is_(True)

        def save(connection: Connection) -> bool:
            # Another process that summarises them waits here, and then finds them gone.
            still = select(turns.c.id).where(turns.c.id.in_(ids)).with_for_update()
            if len(connection.scalars(still).all()) != len(ids):
                # They were forgotten, or summarised by another process.
                return False
            connection.execute(delete(turns).where(turns.c.id.in_(ids)))
            _insert(connection, first.thread, first.person, summary)
            kept = select(turns.c.id).where(in_short).order_by(turns.c.id.desc())
            newest = connection.scalars(kept.limit(SUMMARIES_KEPT)).all()
            connection.execute(delete(turns).where(in_short, turns.c.id.not_in(newest)))
            return True

        return await self._database.write(save)

    async def _load(
        self, condition: ColumnElement[bool], limit: int | None, now: datetime | None
    ) -> list[Turn]:
        if now is not None:
            condition &= turns.c.at >= now - self._kept_for
        query = select(turns).where(condition).order_by(turns.c.id.desc()).limit(limit)

        def load(connection: Connection) -> list[Turn]:
            rows = connection.execute(query).mappings().all()
            return [_build_turn(row) for row in reversed(rows)]

        return await self._database.read(load)

    async def count(self, person: str, thread: str = "") -> Remembered:
        """Count what is remembered of a person; `thread` = there alone."""
        whose = _whose(person, thread)
        return await self._database.read(lambda connection: _count(connection, whose))

    async def forget(self, person: str, thread: str = "") -> Remembered:
        """Delete what is remembered of a person and tell how much; `thread` = there alone.

        What others were answered in the same thread stays: it is theirs.
        """
        whose = _whose(person, thread)

        def forget(connection: Connection) -> Remembered:
            counted = _count(connection, whose)
            connection.execute(delete(turns).where(whose))
            return counted

        return await self._database.write(forget)

    async def purge(self, now: datetime) -> int:
        """Delete what was said too long ago; returns how many turns."""
        old = delete(turns).where(turns.c.at < now - self._kept_for)
        return await self._database.write(lambda connection: connection.execute(old).rowcount)

    async def forget_passages(self, ids: Sequence[PassageId]) -> int:
        """Delete the turns whose replies rest on one of the passages; returns how many."""
        gone = frozenset(ids)

        def forget(connection: Connection) -> int:
            rows = connection.execute(select(turns.c.id, turns.c.passages))
            found = [row.id for row in rows if not gone.isdisjoint(row.passages)]
            delete_where_in(connection, turns.c.id, found)
            return len(found)

        return await self._database.write(forget) if gone else 0


def _said(thread: str) -> ColumnElement[bool]:
    return (turns.c.thread == thread) & turns.c.is_summary.is_(False)


def _whose(person: str, thread: str) -> ColumnElement[bool]:
    whose: ColumnElement[bool] = turns.c.person == person
    return whose & (turns.c.thread == thread) if thread else whose


def _count(connection: Connection, whose: ColumnElement[bool]) -> Remembered:
    in_short = turns.c.is_summary.is_(True)
    query = select(
        func.count(),
        func.count().filter(in_short),
        func.count(turns.c.thread.distinct()),
    ).where(whose)
    entries, summaries, threads = connection.execute(query).one()
    return Remembered(turns=entries - summaries, summaries=summaries, threads=threads)


def _insert(connection: Connection, thread: str, person: str, turn: Turn) -> None:
    connection.execute(
        turns.insert().values(
            thread=thread,
            person=person,
            at=turn.at,
            question=turn.question,
            answer=turn.answer,
            passages=list(turn.passages),
            is_private=turn.is_private,
            is_summary=turn.is_summary,
        )
    )


def _build_turn(row: RowMapping) -> Turn:
    return Turn(
        at=row["at"],
        question=row["question"],
        answer=row["answer"],
        passages=tuple(PassageId(one) for one in row["passages"]),
        is_private=row["is_private"],
        is_summary=row["is_summary"],
        turn_id=row["id"],
        person=row["person"],
        thread=row["thread"],
    )

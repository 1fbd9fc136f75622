"""The turns of conversations, kept with what they cited so that rights can be checked again.

The last six are kept as said. Older ones are summarised two at a time; a summary carries every
passage that its turns rested on.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
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
    select,
)
from sqlalchemy.engine import Connection

from core.database import Database
from core.tables import UtcDateTime, delete_where_in, metadata
from knowledge.documents import PassageId
from knowledge.sentences import cut_sentences

TURNS_KEPT = 6
"""As they were said."""
SUMMARIES_KEPT = 6
SUMMARISED_AT_ONCE = 2
KEPT_FOR = timedelta(days=30)

_MOST_QUESTION_CHARS = 120
_MOST_ANSWER_CHARS = 160
_MARKER = re.compile(r"[ \t]*(?<!\\)\[\d{1,2}\](?!\()")
_LAYOUT = re.compile(r"[|#>*`]+|\s+")

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
        passages: What the reply rested on; the turn is dropped when one may no longer be read.
        is_private: The asker alone saw the reply; never used for one that others see.
        is_summary: Several turns in short: `answer` is the summary, and there is no question.
    """

    at: datetime
    question: str
    answer: str
    passages: tuple[PassageId, ...] = ()
    is_private: bool = False
    is_summary: bool = False


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
            with_others: Also what others were answered there publicly.
        """
        whose = turns.c.person == person
        if with_others:
            whose |= turns.c.is_private.is_(False)
        said = (turns.c.thread == thread) & turns.c.is_summary.is_(False) & whose
        return await self._load(said, TURNS_KEPT, now)

    async def load_summaries(
        self, thread: str, person: str, *, now: datetime | None = None
    ) -> list[Turn]:
        """Return what went before the last turns, in short, oldest first."""
        own = (turns.c.thread == thread) & (turns.c.person == person) & turns.c.is_summary.is_(True)
        return await self._load(own, SUMMARIES_KEPT, now)

    async def append(self, thread: str, person: str, turn: Turn) -> None:
        """Add a turn; summarise older ones, and forget what was said too long ago."""
        own = (turns.c.thread == thread) & (turns.c.person == person)

        def save(connection: Connection) -> None:
            connection.execute(delete(turns).where(turns.c.at < turn.at - self._kept_for))
            _insert(connection, thread, person, turn)
            said = select(turns).where(own, turns.c.is_summary.is_(False)).order_by(turns.c.id)
            rows = connection.execute(said).mappings().all()
            # A turn waits until another one can be summarised with it.
            if len(rows) >= TURNS_KEPT + SUMMARISED_AT_ONCE:
                oldest = rows[:SUMMARISED_AT_ONCE]
                summary = summarise_turns([_build_turn(row) for row in oldest])
                _insert(connection, thread, person, summary)
                connection.execute(delete(turns).where(turns.c.id.in_([r["id"] for r in oldest])))
            in_short = own & turns.c.is_summary.is_(True)
            kept = select(turns.c.id).where(in_short).order_by(turns.c.id.desc())
            newest = connection.scalars(kept.limit(SUMMARIES_KEPT)).all()
            connection.execute(delete(turns).where(in_short, turns.c.id.not_in(newest)))

        await self._database.write(save)

    async def _load(
        self, condition: ColumnElement[bool], limit: int, now: datetime | None
    ) -> list[Turn]:
        if now is not None:
            condition &= turns.c.at >= now - self._kept_for
        query = select(turns).where(condition).order_by(turns.c.id.desc()).limit(limit)

        def load(connection: Connection) -> list[Turn]:
            rows = connection.execute(query).mappings().all()
            return [_build_turn(row) for row in reversed(rows)]

        return await self._database.read(load)

    async def forget(self, person: str) -> int:
        """Delete everything that is remembered of a person; returns how many turns."""
        forgotten = delete(turns).where(turns.c.person == person)
        return await self._database.write(lambda connection: connection.execute(forgotten).rowcount)

    async def forget_passages(self, ids: Sequence[PassageId]) -> int:
        """Delete the turns whose replies rest on one of the passages; returns how many."""
        gone = frozenset(ids)

        def forget(connection: Connection) -> int:
            rows = connection.execute(select(turns.c.id, turns.c.passages))
            found = [row.id for row in rows if not gone.isdisjoint(row.passages)]
            delete_where_in(connection, turns.c.id, found)
            return len(found)

        return await self._database.write(forget) if gone else 0


def summarise_turns(several: Sequence[Turn]) -> Turn:
    """Summarise turns by quoting: each question, and the first sentence of its reply."""
    lines = [
        f"{one.question.strip()[:_MOST_QUESTION_CHARS]} → {_find_gist(one.answer)}"
        for one in several
    ]
    return Turn(
        at=several[-1].at,
        question="",
        answer="\n".join(lines),
        passages=tuple(dict.fromkeys(passage for one in several for passage in one.passages)),
        is_private=any(one.is_private for one in several),
        is_summary=True,
    )


def _find_gist(answer: str) -> str:
    bare = " ".join(_LAYOUT.sub(" ", _MARKER.sub("", answer)).split())
    sentences = [one.strip() for one in cut_sentences(bare) if one.strip()]
    return (sentences[0] if sentences else "")[:_MOST_ANSWER_CHARS]


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
    )

"""The turns of conversations, kept with what they cited so that rights can be checked again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Index,
    Integer,
    RowMapping,
    String,
    Table,
    Text,
    delete,
    select,
)
from sqlalchemy.engine import Connection

from core.database import Database
from core.tables import UtcDateTime, delete_where_in, metadata
from knowledge.documents import PassageId

TURNS_KEPT = 6

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
    Index(None, "thread", "person"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One question and its reply.

    Attributes:
        question: As it was understood: a follow-up with its subject filled in.
        passages: What the reply rested on; the turn is dropped when one may no longer be read.
        is_private: The asker alone saw the reply; never used for one that others see.
    """

    at: datetime
    question: str
    answer: str
    passages: tuple[PassageId, ...] = ()
    is_private: bool = False


class TurnStore:
    """Keeps the last turns of each person in each thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, thread: str, person: str) -> list[Turn]:
        """Return the last turns, oldest first."""
        query = (
            select(turns)
            .where(turns.c.thread == thread, turns.c.person == person)
            .order_by(turns.c.id.desc())
            .limit(TURNS_KEPT)
        )

        def load(connection: Connection) -> list[Turn]:
            return [
                _build_turn(row) for row in reversed(connection.execute(query).mappings().all())
            ]

        return await self._database.read(load)

    async def append(self, thread: str, person: str, turn: Turn) -> None:
        """Add a turn and drop those that are no longer looked at."""
        own = (turns.c.thread == thread) & (turns.c.person == person)

        def save(connection: Connection) -> None:
            connection.execute(
                turns.insert().values(
                    thread=thread,
                    person=person,
                    at=turn.at,
                    question=turn.question,
                    answer=turn.answer,
                    passages=list(turn.passages),
                    is_private=turn.is_private,
                )
            )
            kept = select(turns.c.id).where(own).order_by(turns.c.id.desc()).limit(TURNS_KEPT)
            newest = connection.scalars(kept).all()
            connection.execute(delete(turns).where(own, turns.c.id.not_in(newest)))

        await self._database.write(save)

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


def _build_turn(row: RowMapping) -> Turn:
    return Turn(
        at=row["at"],
        question=row["question"],
        answer=row["answer"],
        passages=tuple(PassageId(one) for one in row["passages"]),
        is_private=row["is_private"],
    )

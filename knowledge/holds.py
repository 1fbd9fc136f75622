"""Disappearances that are not believed until a person agrees."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import RowMapping, delete, select, update
from sqlalchemy.engine import Connection

from core.counters import increase_counter
from core.database import Database
from core.tables import chunked, insert_into
from knowledge.documents import DocumentId
from knowledge.ledger import INDEX_COUNTER
from knowledge.ledger_tables import documents, holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A disappearance of many documents of a scope at once.

    Attributes:
        missing: Documents the source no longer shows; they keep answering, marked.
        reason: Why it is held, in words for operators.
        accepted_at: When a person agreed; the next run then deletes.
    """

    source: str
    scope: str
    raised_at: datetime
    missing: tuple[DocumentId, ...]
    reason: str
    accepted_at: datetime | None = None


class HoldLog:
    """Keeps holds, and marks the documents they concern."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def raise_hold(self, hold: Hold) -> None:
        """Hold a scope's disappearance; raised again, it keeps its first moment.

        A person's consent holds for the documents they saw: it ends when others are missing too.
        """

        def save(connection: Connection) -> None:
            _save_hold(connection, hold)
            _mark(connection, hold)
            increase_counter(connection, INDEX_COUNTER)

        await self._database.write(save)

    async def accept_holds(self, source: str, at: datetime, *, scope: str | None = None) -> int:
        """Agree to what is held for a source, or one scope of it; returns how many holds."""
        accepted = update(holds).where(holds.c.source == source, holds.c.accepted_at.is_(None))
        if scope is not None:
            accepted = accepted.where(holds.c.scope == scope)
        accepted = accepted.values(accepted_at=at)
        return await self._database.write(lambda connection: connection.execute(accepted).rowcount)

    async def release_hold(self, source: str, scope: str) -> None:
        """End a hold, because its documents are back or deleted; remaining marks go with it."""
        released = delete(holds).where(holds.c.source == source, holds.c.scope == scope)
        marked = update(documents).where(documents.c.source == source, documents.c.scope == scope)

        def release(connection: Connection) -> None:
            connection.execute(released)
            connection.execute(marked.values(held_since=None))
            increase_counter(connection, INDEX_COUNTER)

        await self._database.write(release)

    async def load_holds(self, source: str | None = None) -> list[Hold]:
        """Return holds by source and scope; None = of all sources."""
        query = select(holds).order_by(holds.c.source, holds.c.scope)
        if source is not None:
            query = query.where(holds.c.source == source)

        def load(connection: Connection) -> list[Hold]:
            return [_build_hold(row) for row in connection.execute(query).mappings()]

        return await self._database.read(load)


def _save_hold(connection: Connection, hold: Hold) -> None:
    query = select(holds).where(holds.c.source == hold.source, holds.c.scope == hold.scope)
    row = connection.execute(query).mappings().one_or_none()
    earlier = None if row is None else _build_hold(row)
    is_covered = earlier is not None and set(hold.missing) <= set(earlier.missing)
    values = {
        "raised_at": earlier.raised_at if earlier else hold.raised_at,
        "missing": sorted(hold.missing),
        "reason": hold.reason,
        "accepted_at": earlier.accepted_at if earlier and is_covered else None,
    }
    statement = insert_into(connection, holds)
    connection.execute(
        statement.values(source=hold.source, scope=hold.scope, **values).on_conflict_do_update(
            index_elements=["source", "scope"], set_=values
        )
    )


def _mark(connection: Connection, hold: Hold) -> None:
    for some in chunked(hold.missing):
        unmarked = update(documents).where(
            documents.c.document_id.in_(some), documents.c.held_since.is_(None)
        )
        connection.execute(unmarked.values(held_since=hold.raised_at))


def _build_hold(row: RowMapping) -> Hold:
    return Hold(
        source=row["source"],
        scope=row["scope"],
        raised_at=row["raised_at"],
        missing=tuple(row["missing"]),
        reason=row["reason"],
        accepted_at=row["accepted_at"],
    )

"""Documents that could not be brought in, each with its reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import RowMapping, select
from sqlalchemy.engine import Connection

from core.database import Database
from core.tables import delete_where_in, execute_many, insert_into
from knowledge.documents import DocumentId
from knowledge.ledger_tables import failures


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed attempt.

    Attributes:
        reason: What is wrong, in words for `zhixing status`.
        token: The state the document was in at the source; empty = not known.
        is_permanent: Trying again won't help until the document changes.
        at: When it was tried.
        next_try_at: None = not before the document changes.
    """

    document_id: DocumentId
    source: str
    scope: str
    locator: str
    reason: str
    is_permanent: bool
    at: datetime
    token: str = ""
    next_try_at: datetime | None = None

    def stands(self, token: str, now: datetime) -> bool:
        """Tell whether trying again now, in this state of the document, would be in vain."""
        if not token or token != self.token:
            return False
        return self.is_permanent or (self.next_try_at is not None and now < self.next_try_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRecord:
    """All failed attempts at a document: the last one, and how many since when."""

    last: Failure
    first_at: datetime
    attempts: int


class FailureLog:
    """Keeps failures until the document comes in or goes away."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record_failures(self, attempts: Sequence[Failure]) -> None:
        """Note down failed attempts; repeated ones count up and keep their first moment."""
        rows = [
            {
                "document_id": one.document_id,
                "source": one.source,
                "scope": one.scope,
                "locator": one.locator,
                "token": one.token,
                "reason": one.reason,
                "is_permanent": one.is_permanent,
                "attempts": 1,
                "first_at": one.at,
                "last_at": one.at,
                "next_try_at": one.next_try_at,
            }
            for one in attempts
        ]

        def record(connection: Connection) -> None:
            statement = insert_into(connection, failures)
            kept = {"document_id", "first_at", "attempts"}
            changed = {c.name: statement.excluded[c.name] for c in failures.c if c.name not in kept}
            counted = statement.on_conflict_do_update(
                index_elements=["document_id"],
                set_={**changed, "attempts": failures.c.attempts + 1},
            )
            execute_many(connection, counted, rows)

        await self._database.write(record)

    async def load_failures(
        self, source: str | None = None, *, due_at: datetime | None = None
    ) -> list[FailureRecord]:
        """Return failures by source and document.

        Args:
            source: None = of all sources.
            due_at: Only those to be tried again by then.
        """
        query = select(failures).order_by(failures.c.source, failures.c.document_id)
        if source is not None:
            query = query.where(failures.c.source == source)
        if due_at is not None:
            query = query.where(failures.c.next_try_at <= due_at)

        def load(connection: Connection) -> list[FailureRecord]:
            return [_build_record(row) for row in connection.execute(query).mappings()]

        return await self._database.read(load)

    async def clear_failures(self, ids: Sequence[DocumentId]) -> None:
        """Forget the failures of documents, because they came in or are gone."""
        await self._database.write(
            partial(delete_where_in, column=failures.c.document_id, values=ids)
        )


def _build_record(row: RowMapping) -> FailureRecord:
    last = Failure(
        document_id=row["document_id"],
        source=row["source"],
        scope=row["scope"],
        locator=row["locator"],
        token=row["token"],
        reason=row["reason"],
        is_permanent=row["is_permanent"],
        at=row["last_at"],
        next_try_at=row["next_try_at"],
    )
    return FailureRecord(last=last, first_at=row["first_at"], attempts=row["attempts"])

"""How ingestion writes the ledger, so that a crash at any point loses and doubles nothing.

A batch goes through five steps: `record_intents`, then the new rows into the passage store, then
`commit_batch` as one transaction, then the returned operations onto the store, then `clear_outbox`
and the cursor. `load_unfinished` gives what a crash left between them. One writer at a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, select, update

from core.counters import increase_counter
from core.database import Database, chunked, delete_where_in, execute_many, insert_into
from knowledge.documents import DocumentId, PassageId
from knowledge.ledger import INDEX_COUNTER
from knowledge.ledger_commit import drop_version, save_access, save_commits
from knowledge.ledger_records import AccessChange, DocumentCommit, TermDelta
from knowledge.ledger_tables import documents, failures, index_rows, intents
from knowledge.outbox import (
    DeleteDocuments,
    DeletePassages,
    OutboxEntry,
    OutboxId,
    PatchRows,
    StoreOperation,
    add_operations,
    load_operations,
    remove_operations,
)
from knowledge.term_statistics import apply_term_delta


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """What a crash left behind.

    Attributes:
        passage_ids: Rows that may be in the store though the ledger never took them in: delete
            them there, then `clear_intents`.
        operations: What the store still owes: apply, then `clear_outbox`.
    """

    passage_ids: tuple[PassageId, ...]
    operations: tuple[OutboxEntry, ...]


class LedgerWriter:
    """Writes documents, rows and rights."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record_intents(self, ids: Sequence[PassageId]) -> None:
        """Note down rows about to be written to the store, before they are."""
        async with self._database.write() as connection:
            statement = insert_into(connection, intents).on_conflict_do_nothing()
            await execute_many(connection, statement, [{"passage_id": one} for one in ids])

    async def clear_intents(self, ids: Sequence[PassageId]) -> None:
        """Forget intents whose rows are out of the store again."""
        async with self._database.write() as connection:
            await delete_where_in(connection, intents.c.passage_id, ids)

    async def load_unfinished(self) -> Unfinished:
        """Return what an earlier run left half done; empty after a clean end."""
        query = (
            select(intents.c.passage_id)
            .outerjoin(index_rows, index_rows.c.passage_id == intents.c.passage_id)
            .where(index_rows.c.passage_id.is_(None))
            .order_by(intents.c.passage_id)
        )
        async with self._database.read() as connection:
            return Unfinished(
                passage_ids=tuple((await connection.scalars(query)).all()),
                operations=await load_operations(connection),
            )

    async def commit_batch(
        self,
        commits: Sequence[DocumentCommit],
        *,
        terms: TermDelta,
        operations: Sequence[StoreOperation] = (),
    ) -> tuple[OutboxEntry, ...]:
        """Take in documents with their rows, all or none; failures of theirs are cleared.

        Args:
            terms: What the batch changes in the statistics of the index.
            operations: What the store still has to do once this is committed, in order.

        Returns:
            The operations as they stand in the outbox.
        """
        ids = [one.document.document_id for one in commits]
        async with self._database.write() as connection:
            await save_commits(connection, commits)
            await apply_term_delta(connection, terms)
            await delete_where_in(connection, failures.c.document_id, ids)
            entries = await add_operations(connection, operations)
            await increase_counter(connection, INDEX_COUNTER)
        return entries

    async def delete_documents(
        self, ids: Sequence[DocumentId], *, terms: TermDelta
    ) -> tuple[OutboxEntry, ...]:
        """Take documents out with everything known of them; unknown ids are ignored.

        Args:
            terms: What their rows take out of the statistics: negative numbers.

        Returns:
            The deletion the store owes.
        """
        if not ids:
            return ()
        async with self._database.write() as connection:
            # Versions, links and rows go by the foreign keys.
            await delete_where_in(connection, documents.c.document_id, ids)
            await delete_where_in(connection, failures.c.document_id, ids)
            await apply_term_delta(connection, terms)
            operations = [DeleteDocuments(document_ids=tuple(ids))]
            entries = await add_operations(connection, operations)
            await increase_counter(connection, INDEX_COUNTER)
        return entries

    async def forget_version(self, document_id: DocumentId, number: int) -> tuple[OutboxEntry, ...]:
        """Purge an old version: the record of it, and the rows that were in force only then.

        Text that other versions share stays. The statistics count rows in force and do not change.

        Raises:
            SettingsError: There is no such version, or it is the one in force.
        """
        async with self._database.write() as connection:
            ids = await drop_version(connection, document_id, number)
            operations = [DeletePassages(passage_ids=ids)] if ids else []
            entries = await add_operations(connection, operations)
            await increase_counter(connection, INDEX_COUNTER)
        return entries

    async def change_access(self, changes: Sequence[AccessChange]) -> tuple[OutboxEntry, ...]:
        """Put documents and all rows concerned under new classes, all or none.

        In force for readers as soon as this returns: the second lock reads the ledger.

        Returns:
            The patches the store owes.

        Raises:
            ValueError: A row that joins a changed rule with another one is not in `rows`, or two
                changes give it different classes.
        """
        async with self._database.write() as connection:
            patches = await save_access(connection, changes)
            operations = [PatchRows(patches=patches)] if patches else []
            entries = await add_operations(connection, operations)
            await increase_counter(connection, INDEX_COUNTER)
        return entries

    async def mark_checked(
        self,
        ids: Sequence[DocumentId],
        at: datetime,
        *,
        tokens: Mapping[DocumentId, str] | None = None,
    ) -> None:
        """Note that the source has just confirmed documents; a hold on them ends.

        Args:
            tokens: New change tokens of those whose token alone has moved.
        """
        table = documents.c
        moved = (
            update(documents)
            .where(table.document_id == bindparam("moved_id"))
            .values(token=bindparam("new_token"))
        )
        async with self._database.write() as connection:
            released = 0
            for some in chunked(ids):
                those = table.document_id.in_(some)
                await connection.execute(update(documents).where(those).values(checked_at=at))
                held = update(documents).where(those, table.held_since.is_not(None))
                released += (await connection.execute(held.values(held_since=None))).rowcount
            await execute_many(
                connection,
                moved,
                [{"moved_id": one, "new_token": token} for one, token in (tokens or {}).items()],
            )
            if released:
                await increase_counter(connection, INDEX_COUNTER)

    async def clear_outbox(self, ids: Sequence[OutboxId]) -> None:
        """Cross off operations the store has done."""
        async with self._database.write() as connection:
            await remove_operations(connection, ids)

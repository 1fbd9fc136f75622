"""How ingestion writes the ledger, so that a crash at any point loses and doubles nothing.

A batch goes through five steps: `record_intents`, then the new rows into the passage store, then
`commit_batch` as one transaction, then the returned operations onto the store, then `clear_outbox`
and the cursor. `load_unfinished` gives what a crash left between them. One writer at a time.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import bindparam, select, update
from sqlalchemy.engine import Connection

from core.counters import increase_counter
from core.database import Database
from core.tables import chunked, delete_where_in, execute_many, insert_into
from knowledge.documents import DocumentId, PassageId
from knowledge.forgotten import Forgotten, save_forgotten
from knowledge.ledger import INDEX_COUNTER
from knowledge.ledger_commit import drop_versions, save_access, save_commits
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

        def record(connection: Connection) -> None:
            statement = insert_into(connection, intents).on_conflict_do_nothing()
            execute_many(connection, statement, [{"passage_id": one} for one in ids])

        await self._database.write(record)

    async def clear_intents(self, ids: Sequence[PassageId]) -> None:
        """Forget intents whose rows are out of the store again."""
        await self._database.write(
            partial(delete_where_in, column=intents.c.passage_id, values=ids)
        )

    async def load_unfinished(self) -> Unfinished:
        """Return what an earlier run left half done; empty after a clean end."""
        query = (
            select(intents.c.passage_id)
            .outerjoin(index_rows, index_rows.c.passage_id == intents.c.passage_id)
            .where(index_rows.c.passage_id.is_(None))
            .order_by(intents.c.passage_id)
        )

        def load(connection: Connection) -> Unfinished:
            return Unfinished(
                passage_ids=tuple(connection.scalars(query).all()),
                operations=load_operations(connection),
            )

        return await self._database.read(load)

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

        def commit(connection: Connection) -> tuple[OutboxEntry, ...]:
            save_commits(connection, commits)
            apply_term_delta(connection, terms)
            delete_where_in(connection, failures.c.document_id, ids)
            increase_counter(connection, INDEX_COUNTER)
            return add_operations(connection, operations)

        return await self._database.write(commit)

    async def delete_documents(
        self,
        ids: Sequence[DocumentId],
        *,
        terms: TermDelta,
        forgotten: Sequence[Forgotten] = (),
        borrowed: Sequence[PassageId] = (),
    ) -> tuple[OutboxEntry, ...]:
        """Take documents out with everything known of them; unknown ids are ignored.

        Args:
            terms: What their rows take out of the statistics: negative numbers.
            forgotten: What must not come back, noted down in the same transaction.
            borrowed: Rows of other documents that show text of these and go with them.

        Returns:
            The deletions the store owes.
        """

        def remove(connection: Connection) -> tuple[OutboxEntry, ...]:
            # Versions, links and rows go by the foreign keys.
            delete_where_in(connection, documents.c.document_id, ids)
            delete_where_in(connection, failures.c.document_id, ids)
            save_forgotten(connection, forgotten)
            apply_term_delta(connection, terms)
            increase_counter(connection, INDEX_COUNTER)
            delete_where_in(connection, index_rows.c.passage_id, borrowed)
            owed: list[StoreOperation] = [DeleteDocuments(document_ids=tuple(ids))]
            if borrowed:
                owed.append(DeletePassages(passage_ids=tuple(borrowed)))
            return add_operations(connection, owed)

        return await self._database.write(remove) if ids else ()

    async def drop_versions(
        self, numbers: Mapping[DocumentId, Collection[int]], *, forgotten: Sequence[Forgotten] = ()
    ) -> tuple[OutboxEntry, ...]:
        """Purge old versions: the records of them, and the rows that were in force only then.

        Text that other versions share stays. The statistics count rows in force and do not change.

        Args:
            numbers: By document, the versions to drop.
            forgotten: What must not come back, noted down in the same transaction.

        Returns:
            The deletions the store owes.

        Raises:
            SettingsError: There is no such version, or it is the one in force; nothing is dropped.
        """

        def drop(connection: Connection) -> tuple[OutboxEntry, ...]:
            ids = [
                passage_id
                for document_id, some in numbers.items()
                for passage_id in drop_versions(connection, document_id, some)
            ]
            save_forgotten(connection, forgotten)
            increase_counter(connection, INDEX_COUNTER)
            owed = [DeletePassages(passage_ids=tuple(ids))] if ids else []
            return add_operations(connection, owed)

        return await self._database.write(drop)

    async def change_access(self, changes: Sequence[AccessChange]) -> tuple[OutboxEntry, ...]:
        """Put documents and all rows concerned under new classes, all or none.

        In force for readers as soon as this returns: the second lock reads the ledger.

        Returns:
            The patches the store owes.

        Raises:
            ValueError: A row that joins a changed rule with another one is not in `rows`, or two
                changes give it different classes.
        """

        def change(connection: Connection) -> tuple[OutboxEntry, ...]:
            patches = save_access(connection, changes)
            increase_counter(connection, INDEX_COUNTER)
            return add_operations(connection, [PatchRows(patches=patches)] if patches else [])

        return await self._database.write(change)

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

        def mark(connection: Connection) -> None:
            released = 0
            for some in chunked(ids):
                those = table.document_id.in_(some)
                connection.execute(update(documents).where(those).values(checked_at=at))
                held = update(documents).where(those, table.held_since.is_not(None))
                released += connection.execute(held.values(held_since=None)).rowcount
            rows = [{"moved_id": one, "new_token": token} for one, token in (tokens or {}).items()]
            execute_many(connection, moved, rows)
            if released:
                increase_counter(connection, INDEX_COUNTER)

        await self._database.write(mark)

    async def owe_reading(self, ids: Sequence[DocumentId]) -> None:
        """Have documents read again, whatever their source says of them: their token is emptied."""

        def owe(connection: Connection) -> None:
            for some in chunked(ids):
                those = documents.c.document_id.in_(some)
                connection.execute(update(documents).where(those).values(token=""))

        await self._database.write(owe)

    async def clear_outbox(self, ids: Sequence[OutboxId]) -> None:
        """Cross off operations the store has done."""
        await self._database.write(partial(remove_operations, ids=ids))

    async def purge_files(self) -> None:
        """Leave nothing of what was removed in the files of the state database."""
        await self._database.purge()

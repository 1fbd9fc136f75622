"""Work the passage store still has to do for a committed change of the ledger.

Ledger and store are two places, so a change cannot reach both at once: what the store owes is
committed with the change and crossed off once done. Doing it twice is harmless.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NewType

from pydantic import TypeAdapter
from sqlalchemy import insert, select
from sqlalchemy.engine import Connection

from core.tables import delete_where_in
from knowledge.documents import DocumentId, PassageId
from knowledge.ledger_tables import outbox
from knowledge.stores import MetadataPatch, PassageStore

OutboxId = NewType("OutboxId", int)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndValidity:
    """Close rows at a moment."""

    passage_ids: tuple[PassageId, ...]
    valid_to: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchRows:
    """Change document-level values of rows."""

    patches: tuple[MetadataPatch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteDocuments:
    """Remove all rows of documents."""

    document_ids: tuple[DocumentId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePassages:
    """Remove rows."""

    passage_ids: tuple[PassageId, ...]


StoreOperation = EndValidity | PatchRows | DeleteDocuments | DeletePassages


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxEntry:
    """An operation the store owes, to be crossed off by its id."""

    entry_id: OutboxId
    operation: StoreOperation


_KINDS: dict[str, TypeAdapter[Any]] = {
    kind.__name__: TypeAdapter(kind)
    for kind in (EndValidity, PatchRows, DeleteDocuments, DeletePassages)
}


async def apply_operations(store: PassageStore, entries: Sequence[OutboxEntry]) -> None:
    """Do what the entries say, in their order, which is the order they were committed in."""
    for entry in entries:
        match entry.operation:
            case EndValidity(passage_ids=ids, valid_to=valid_to):
                await store.end_validity(ids, valid_to)
            case PatchRows(patches=patches):
                await store.patch(patches)
            case DeleteDocuments(document_ids=document_ids):
                await store.delete_documents(document_ids)
            case DeletePassages(passage_ids=ids):
                await store.delete_passages(ids)


def add_operations(
    connection: Connection, operations: Sequence[StoreOperation]
) -> tuple[OutboxEntry, ...]:
    """Note operations down inside the caller's transaction."""
    if not operations:
        return ()
    rows = [
        {
            "operation": type(one).__name__,
            "payload": _KINDS[type(one).__name__].dump_python(one, mode="json"),
        }
        for one in operations
    ]
    added = insert(outbox).returning(outbox.c.id, sort_by_parameter_order=True)
    ids = connection.execute(added, rows).scalars().all()
    return tuple(
        OutboxEntry(entry_id=OutboxId(entry_id), operation=operation)
        for entry_id, operation in zip(ids, operations, strict=True)
    )


def load_operations(connection: Connection) -> tuple[OutboxEntry, ...]:
    """Return everything that is not crossed off, oldest first."""
    rows = connection.execute(select(outbox).order_by(outbox.c.id))
    return tuple(
        OutboxEntry(
            entry_id=OutboxId(row.id),
            operation=_KINDS[row.operation].validate_python(row.payload),
        )
        for row in rows
    )


def remove_operations(connection: Connection, ids: Sequence[OutboxId]) -> None:
    """Cross entries off."""
    delete_where_in(connection, outbox.c.id, ids)

"""The statements behind the ledger's transactions."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.engine import Connection

from core.errors import SettingsError
from core.tables import chunked, delete_where_in, execute_many, insert_into
from knowledge.access import AccessNo
from knowledge.documents import DocumentId, PassageId
from knowledge.ledger import select_rows
from knowledge.ledger_records import (
    AccessChange,
    DocumentCommit,
    DocumentRecord,
    IndexRow,
    VersionRecord,
)
from knowledge.ledger_tables import documents, index_rows, intents, links, versions
from knowledge.stores import MetadataPatch
from knowledge.timeline import find_rows_between


def save_commits(connection: Connection, commits: Sequence[DocumentCommit]) -> None:
    """Write documents with versions, links and rows; intents of the opened rows are fulfilled."""
    _save_documents(connection, commits)
    _save_versions(connection, commits)
    _save_links(connection, commits)
    _save_rows(connection, commits)
    opened = [row.passage_id for commit in commits for row in commit.opened]
    delete_where_in(connection, intents.c.passage_id, opened)


def save_access(
    connection: Connection, changes: Sequence[AccessChange]
) -> tuple[MetadataPatch, ...]:
    """Put documents and rows under new classes; returns what the store has to be told.

    Raises:
        ValueError: A joined row has no new class, or two different ones.
    """
    table = documents.c
    execute_many(
        connection,
        update(documents)
        .where(table.document_id == bindparam("changed_id"))
        .values(access_no=bindparam("new_no"), access_id=bindparam("new_id")),
        [
            {"changed_id": one.document_id, "new_no": one.access_no, "new_id": one.access_id}
            for one in changes
        ],
    )
    rows: dict[PassageId, IndexRow] = {}
    for some in chunked([one.document_id for one in changes]):
        concerned = index_rows.c.document_id.in_(some) | index_rows.c.included_from.in_(some)
        rows |= {row.passage_id: row for row in select_rows(connection, concerned)}
    numbers = _assign_classes(changes, rows.values())
    _set_classes(connection, numbers)
    grouped: dict[tuple[DocumentId, AccessNo], list[PassageId]] = defaultdict(list)
    for passage_id, number in numbers.items():
        grouped[rows[passage_id].document_id, number].append(passage_id)
    return tuple(
        MetadataPatch(document_id=document_id, access_no=number, passage_ids=tuple(sorted(ids)))
        for (document_id, number), ids in grouped.items()
    )


def drop_versions(
    connection: Connection, document_id: DocumentId, numbers: Collection[int]
) -> tuple[PassageId, ...]:
    """Remove former versions, and the rows of no version that is left; returns the rows.

    Raises:
        SettingsError: There is no such version, or it is the one in force.
    """
    those = versions.c.document_id == document_id
    query = select(versions.c.number, versions.c.at).where(those)
    moments: dict[int, datetime] = {row.number: row.at for row in connection.execute(query)}
    for number in numbers:
        if number not in moments:
            raise SettingsError(f"{document_id!r} has no version {number} here")
        if number == max(moments):
            raise SettingsError(
                f"version {number} of {document_id!r} is in force; "
                "change it at its source, or forget the whole document"
            )
    kept = [at for number, at in moments.items() if number not in set(numbers)]
    rows = select_rows(
        connection, (index_rows.c.document_id == document_id) & index_rows.c.valid_to.is_not(None)
    )
    ids = find_rows_between(rows, kept)
    delete_where_in(connection, index_rows.c.passage_id, ids)
    for some in chunked(list(numbers)):
        connection.execute(delete(versions).where(those, versions.c.number.in_(some)))
    return ids


def _assign_classes(
    changes: Sequence[AccessChange], rows: Iterable[IndexRow]
) -> dict[PassageId, AccessNo]:
    own = {one.document_id: one.access_no for one in changes}
    joined: dict[PassageId, AccessNo] = {}
    for change in changes:
        for passage_id, number in change.rows.items():
            if joined.setdefault(passage_id, number) != number:
                raise ValueError(f"row {passage_id!r} gets two classes, {number} and another one")
    numbers: dict[PassageId, AccessNo] = {}
    for row in rows:
        if row.included_from is None:
            numbers[row.passage_id] = own[row.document_id]
        elif row.passage_id in joined:
            numbers[row.passage_id] = joined[row.passage_id]
        else:
            # Left as it is, the row would stay open to those the new rule shuts out.
            raise ValueError(
                f"row {row.passage_id!r} of {row.document_id!r} includes {row.included_from!r} "
                "and needs a new class as well"
            )
    return numbers


def _set_classes(connection: Connection, numbers: dict[PassageId, AccessNo]) -> None:
    execute_many(
        connection,
        update(index_rows)
        .where(index_rows.c.passage_id == bindparam("row_id"))
        .values(access_no=bindparam("new_no")),
        [{"row_id": passage_id, "new_no": number} for passage_id, number in numbers.items()],
    )


def _save_documents(connection: Connection, commits: Sequence[DocumentCommit]) -> None:
    statement = insert_into(connection, documents)
    kept = {"document_id", "first_seen_at"}
    update_set = {c.name: statement.excluded[c.name] for c in documents.c if c.name not in kept}
    execute_many(
        connection,
        statement.on_conflict_do_update(index_elements=["document_id"], set_=update_set),
        [_build_row(one.document) for one in commits],
    )


def _save_versions(connection: Connection, commits: Sequence[DocumentCommit]) -> None:
    statement = insert_into(connection, versions)
    keys = ["document_id", "number"]
    update_set = {c.name: statement.excluded[c.name] for c in versions.c if c.name not in keys}
    execute_many(
        connection,
        statement.on_conflict_do_update(index_elements=keys, set_=update_set),
        [
            {"document_id": commit.document.document_id, **_build_row(version)}
            for commit in commits
            for version in commit.versions
        ],
    )
    for commit in commits:
        if commit.dropped_versions:
            connection.execute(
                delete(versions).where(
                    versions.c.document_id == commit.document.document_id,
                    versions.c.number.in_(commit.dropped_versions),
                )
            )


def _save_links(connection: Connection, commits: Sequence[DocumentCommit]) -> None:
    ids = [one.document.document_id for one in commits]
    delete_where_in(connection, links.c.document_id, ids)
    execute_many(
        connection,
        insert(links),
        [
            {
                "document_id": commit.document.document_id,
                "position": position,
                "target": link.target,
                "text": link.text,
            }
            for commit in commits
            for position, link in enumerate(commit.links)
        ],
    )


def _save_rows(connection: Connection, commits: Sequence[DocumentCommit]) -> None:
    for commit in commits:
        delete_where_in(connection, index_rows.c.passage_id, commit.dropped)
    statement = insert_into(connection, index_rows)
    update_set = {c.name: statement.excluded[c.name] for c in index_rows.c if not c.primary_key}
    execute_many(
        connection,
        statement.on_conflict_do_update(index_elements=["passage_id"], set_=update_set),
        [_build_row(row) for commit in commits for row in commit.opened],
    )
    execute_many(
        connection,
        update(index_rows)
        .where(index_rows.c.passage_id == bindparam("row_id"), index_rows.c.valid_to.is_(None))
        .values(valid_to=bindparam("ended_at")),
        [
            {"row_id": passage_id, "ended_at": at}
            for commit in commits
            for passage_id, at in commit.closed.items()
        ],
    )
    for commit in commits:
        _set_classes(connection, dict(commit.reclassed))


def _build_row(record: DocumentRecord | VersionRecord | IndexRow) -> dict[str, Any]:
    # Columns are named like the attributes; SQLAlchemy turns tuples into JSON lists.
    return {part.name: getattr(record, part.name) for part in fields(record)}

"""The ledger: what of each document is in the index, in which versions, and under which class.

The side everybody reads; ingestion writes through `LedgerWriter`.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from sqlalchemy import ColumnElement, RowMapping, func, select
from sqlalchemy.engine import Connection

from core.counters import load_counter
from core.database import Database
from core.tables import chunked
from knowledge.access import AccessNo
from knowledge.documents import DocumentId, Link, PassageId, SectionId, Status
from knowledge.ledger_records import DocumentRecord, IndexRow, RowState, VersionRecord
from knowledge.ledger_tables import documents, index_rows, links, versions
from knowledge.source import KnownDocument
from knowledge.stores import Level

INDEX_COUNTER = "index"


class Ledger:
    """Answers what the index holds."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_generation(self) -> int:
        """Return a number that grows with every change of documents, rows, rights or holds.

        Part of the key of everything that is remembered about the index.
        """
        return await self._database.read(partial(load_counter, name=INDEX_COUNTER))

    async def known_documents(self, source: str) -> dict[DocumentId, KnownDocument]:
        """Return all documents of a source, as sources compare them."""
        table = documents.c
        query = select(
            table.document_id,
            table.scope,
            table.locator,
            table.token,
            table.content_hash,
            table.access_id,
        ).where(table.source == source)

        def load(connection: Connection) -> dict[DocumentId, KnownDocument]:
            rows = connection.execute(query).mappings()
            return {row["document_id"]: KnownDocument(**row) for row in rows}

        return await self._database.read(load)

    async def load_ids(
        self, source: str, scope: str, *, checked_since: datetime | None = None
    ) -> list[DocumentId]:
        """Return the documents of a scope; `checked_since` = only those confirmed since then."""
        table = documents.c
        query = select(table.document_id).where(table.source == source, table.scope == scope)
        if checked_since is not None:
            query = query.where(table.checked_at >= checked_since)
        return await self._database.read(lambda connection: list(connection.scalars(query)))

    async def count_passages(self, source: str, scope: str) -> int:
        """Count the passages of a scope, old ones too, sections not."""
        query = (
            select(func.count())
            .select_from(index_rows)
            .join(documents, documents.c.document_id == index_rows.c.document_id)
            .where(
                documents.c.source == source,
                documents.c.scope == scope,
                index_rows.c.level == Level.PASSAGE,
            )
        )
        count = await self._database.read(lambda connection: connection.scalar(query))
        return count or 0

    async def load_source_names(self) -> list[str]:
        """Return the sources that documents are held of, by name."""
        query = select(documents.c.source).distinct().order_by(documents.c.source)
        return await self._database.read(lambda connection: list(connection.scalars(query)))

    async def load_titles(self) -> list[tuple[DocumentId, str]]:
        """Return every document with its title of today, in no order."""
        query = select(documents.c.document_id, documents.c.title)
        return await self._database.read(
            lambda connection: [(row.document_id, row.title) for row in connection.execute(query)]
        )

    async def find_ids(self, *, url: str = "", former_title: str = "") -> list[DocumentId]:
        """Return the documents at a URL, or those that a kept version calls so, by id."""
        if url:
            query = select(documents.c.document_id).where(documents.c.url == url)
        else:
            query = select(versions.c.document_id).where(versions.c.title == former_title)
        ordered = query.distinct().order_by(query.selected_columns[0])
        return await self._database.read(lambda connection: list(connection.scalars(ordered)))

    async def find_updated(
        self, *, after: datetime | None, before: datetime | None
    ) -> frozenset[DocumentId]:
        """Return the documents changed last at or after one moment and before another."""
        query = select(documents.c.document_id)
        if after is not None:
            query = query.where(documents.c.updated_at >= after)
        if before is not None:
            query = query.where(documents.c.updated_at < before)
        return await self._database.read(lambda connection: frozenset(connection.scalars(query)))

    async def find_document(self, document_id: DocumentId) -> DocumentRecord | None:
        """Return one document, or None when it is not held."""
        return (await self.load_documents([document_id])).get(document_id)

    async def load_documents(self, ids: Sequence[DocumentId]) -> dict[DocumentId, DocumentRecord]:
        """Return those of the documents that are held."""

        def load(connection: Connection) -> dict[DocumentId, DocumentRecord]:
            found: dict[DocumentId, DocumentRecord] = {}
            for some in chunked(ids):
                query = select(documents).where(documents.c.document_id.in_(some))
                rows = connection.execute(query).mappings()
                found |= {row["document_id"]: _build_record(row) for row in rows}
            return found

        return await self._database.read(load)

    async def load_versions(self, document_id: DocumentId) -> list[VersionRecord]:
        """Return the versions of a document, oldest first."""
        query = select(versions).where(versions.c.document_id == document_id)

        def load(connection: Connection) -> list[VersionRecord]:
            return [
                VersionRecord(
                    number=row.number,
                    at=row.at,
                    title=row.title,
                    author=row.author,
                    message=row.message,
                    label=row.label,
                )
                for row in connection.execute(query.order_by(versions.c.number))
            ]

        return await self._database.read(load)

    async def load_version_moments(self, source: str) -> dict[DocumentId, dict[int, datetime]]:
        """Return when each version of a source's documents came into force, by number."""
        query = (
            select(versions.c.document_id, versions.c.number, versions.c.at)
            .join(documents, documents.c.document_id == versions.c.document_id)
            .where(documents.c.source == source)
        )

        def load(connection: Connection) -> dict[DocumentId, dict[int, datetime]]:
            found: dict[DocumentId, dict[int, datetime]] = defaultdict(dict)
            for row in connection.execute(query):
                found[row.document_id][row.number] = row.at
            return dict(found)

        return await self._database.read(load)

    async def load_links(self, document_id: DocumentId) -> list[Link]:
        """Return the links of a document's current version, in their order."""
        query = select(links).where(links.c.document_id == document_id).order_by(links.c.position)

        def load(connection: Connection) -> list[Link]:
            return [Link(target=row.target, text=row.text) for row in connection.execute(query)]

        return await self._database.read(load)

    async def load_rows(
        self, ids: Sequence[DocumentId], *, only_open: bool = False
    ) -> dict[DocumentId, list[IndexRow]]:
        """Return the index rows of documents, in no order; a document without rows is absent."""

        def load(connection: Connection) -> dict[DocumentId, list[IndexRow]]:
            found: dict[DocumentId, list[IndexRow]] = defaultdict(list)
            for some in chunked(ids):
                those = index_rows.c.document_id.in_(some)
                condition = those & index_rows.c.valid_to.is_(None) if only_open else those
                for row in select_rows(connection, condition):
                    found[row.document_id].append(row)
            return dict(found)

        return await self._database.read(load)

    async def load_rows_including(self, document_id: DocumentId) -> list[IndexRow]:
        """Return the rows of other documents whose text comes from this one."""
        condition = index_rows.c.included_from == document_id
        return await self._database.read(partial(select_rows, condition=condition))

    async def load_joined_rows(self, document_id: DocumentId) -> list[IndexRow]:
        """Return the rows whose class joins this document's rule with another one's.

        Text from elsewhere inside the document, and its own text inside others.
        """
        from_elsewhere = index_rows.c.included_from.is_not(None)
        condition = (index_rows.c.included_from == document_id) | (
            (index_rows.c.document_id == document_id) & from_elsewhere
        )
        return await self._database.read(partial(select_rows, condition=condition))

    async def check_rows(self, ids: Sequence[PassageId]) -> dict[PassageId, RowState]:
        """Return class and validity of rows as they are at this moment: the second lock.

        A passage that is absent from the answer must not be shown.
        """
        rows, pages = index_rows.c, documents.c
        query = select(
            rows.passage_id,
            rows.document_id,
            rows.access_no,
            rows.valid_to,
            pages.held_since,
            pages.version_number,
            pages.version_label,
            pages.updated_at,
        ).join(documents, pages.document_id == rows.document_id)

        def check(connection: Connection) -> dict[PassageId, RowState]:
            return {
                row.passage_id: RowState(
                    document_id=row.document_id,
                    access_no=AccessNo(row.access_no),
                    valid_to=row.valid_to,
                    held_since=row.held_since,
                    version_number=row.version_number,
                    version_label=row.version_label,
                    updated_at=row.updated_at,
                )
                for some in chunked(ids)
                for row in connection.execute(query.where(rows.passage_id.in_(some)))
            }

        return await self._database.read(check)


def select_rows(connection: Connection, condition: ColumnElement[bool]) -> list[IndexRow]:
    """Return the index rows that meet a condition, in no order."""
    return [
        IndexRow(
            passage_id=PassageId(row.passage_id),
            document_id=DocumentId(row.document_id),
            key=row.key,
            level=Level(row.level),
            section_id=SectionId(row.section_id),
            access_no=AccessNo(row.access_no),
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            included_from=row.included_from,
        )
        for row in connection.execute(select(index_rows).where(condition))
    ]


def _build_record(row: RowMapping) -> DocumentRecord:
    return DocumentRecord(
        **{
            **row,
            "status": Status(row["status"]),
            "labels": tuple(row["labels"]),
            "breadcrumbs": tuple(row["breadcrumbs"]),
            "notes": tuple(row["notes"]),
        }
    )

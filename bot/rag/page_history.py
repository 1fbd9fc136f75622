"""What a page said before, as far as the reader may read the page today."""

from collections.abc import Sequence
from typing import Protocol

from knowledge.access import ReadableClasses
from knowledge.documents import DocumentId, Hit, Status
from knowledge.ledger import Ledger
from knowledge.ledger_records import VersionRecord
from knowledge.retrieval.lock import check_hits
from knowledge.stores import PassageFilter, PassageStore

MOST_ROWS = 400


class PageHistory(Protocol):
    """The past of pages, for one reader."""

    async def load_rows(self, document_id: DocumentId) -> Sequence[Hit]:
        """Return the passages the page ever had, today's included, in any order."""
        ...

    async def load_versions(self, document_id: DocumentId) -> Sequence[VersionRecord]:
        """Return the page's versions, oldest first; empty when the reader may not read it."""
        ...

    async def find_owner(self, document_id: DocumentId) -> str:
        """Return who answers for the page; empty when nobody is known."""
        ...


class StoredPageHistory:
    """The past as index and ledger keep it, under the reader's rights and the second lock."""

    def __init__(self, *, store: PassageStore, ledger: Ledger, access: ReadableClasses) -> None:
        self._store = store
        self._ledger = ledger
        self._access = access

    async def load_rows(self, document_id: DocumentId) -> Sequence[Hit]:
        """See `PageHistory`."""
        where = PassageFilter(
            access=self._access,
            any_time=True,
            statuses=frozenset(Status),
            documents=frozenset({document_id}),
        )
        rows = await self._store.list_hits(where, limit=MOST_ROWS)
        return await check_hits(self._ledger, rows, self._access, only_current=False)

    async def load_versions(self, document_id: DocumentId) -> Sequence[VersionRecord]:
        """See `PageHistory`."""
        record = await self._ledger.find_document(document_id)
        if record is None or not self._access.admits(record.access_no):
            return []
        return await self._ledger.load_versions(document_id)

    async def find_owner(self, document_id: DocumentId) -> str:
        """See `PageHistory`."""
        record = await self._ledger.find_document(document_id)
        if record is None or not self._access.admits(record.access_no):
            return ""
        return record.author

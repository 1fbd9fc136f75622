"""Runs a files source as ingestion does, with a ledger in memory."""

from dataclasses import dataclass, field

from connectors.files.source import FilesSource
from core.errors import PermanentError
from knowledge.documents import Document, DocumentId
from knowledge.source import (
    AccessChanged,
    Change,
    Checkpoint,
    Cursor,
    Failed,
    KnownDocument,
    ScopeListed,
    Unchanged,
    Upserted,
)


@dataclass
class Run:
    """What one run said."""

    changes: list[Change] = field(default_factory=list)
    documents: dict[DocumentId, Document] = field(default_factory=dict)
    failures: dict[DocumentId, str] = field(default_factory=dict)

    def ids(self, kind: type[Change]) -> list[str]:
        """Return the document ids of one kind of change, in order."""
        return [
            one.document_id
            for one in self.changes
            if isinstance(one, kind) and not isinstance(one, (Checkpoint, ScopeListed))
        ]


class FilesLedger:
    """Keeps what a run yields and hands it to the next one."""

    def __init__(self) -> None:
        self.known: dict[DocumentId, KnownDocument] = {}
        self.rules: dict[DocumentId, str] = {}

    async def sync(self, source: FilesSource) -> Run:
        """Read everything that has changed, and forget what is missing."""
        run = Run()
        seen: set[DocumentId] = set()
        error = ""
        async for change in source.discover(Cursor(""), dict(self.known)):
            run.changes.append(change)
            if isinstance(change, Upserted):
                await self._fetch(source, change, run)
            if isinstance(change, Unchanged) and change.token:
                self._update(change.document_id, token=change.token)
            if isinstance(change, AccessChanged):
                self._update(change.document_id, access_id=change.rule.access_id)
            if isinstance(change, Failed):
                run.failures[change.document_id] = change.reason
            if isinstance(change, (Upserted, Unchanged, Failed)):
                seen.add(change.document_id)
            if isinstance(change, ScopeListed):
                error = change.error
        if not error:
            self.known = {key: one for key, one in self.known.items() if key in seen}
        return run

    async def _fetch(self, source: FilesSource, change: Upserted, run: Run) -> None:
        try:
            document = await source.fetch(change)
        except PermanentError as reason:
            run.failures[change.document_id] = str(reason)
            return
        run.documents[document.document_id] = document
        self.known[document.document_id] = KnownDocument(
            document_id=document.document_id,
            scope=document.scope,
            locator=document.locator,
            token=document.token,
            content_hash=document.content_hash,
            access_id=document.access.access_id,
        )

    def _update(
        self, document_id: DocumentId, *, token: str | None = None, access_id: str | None = None
    ) -> None:
        old = self.known[document_id]
        self.known[document_id] = KnownDocument(
            document_id=document_id,
            scope=old.scope,
            locator=old.locator,
            token=old.token if token is None else token,
            content_hash=old.content_hash,
            access_id=old.access_id if access_id is None else access_id,
        )

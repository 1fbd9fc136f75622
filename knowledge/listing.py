"""What a source lists in a run: read ahead of its processing, and remembered by scope."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Set

from knowledge.documents import DocumentId
from knowledge.source import Change, Failed, Unchanged, Upserted

READ_AHEAD = 20_000


class Listing:
    """Reads a source's changes ahead of their processing, which tells early how many there are."""

    def __init__(self, changes: AsyncIterator[Change]) -> None:
        self._queue: asyncio.Queue[Change | None] = asyncio.Queue(maxsize=READ_AHEAD)
        self._count = 0
        self._reader = asyncio.create_task(self._read(changes))

    @property
    def total(self) -> int | None:
        """Return how many documents the source listed; None while it is still listing."""
        return self._count if self._reader.done() else None

    async def changes(self) -> AsyncIterator[Change]:
        """Yield the changes in order; an error of the listing is raised in its place."""
        while (change := await self._queue.get()) is not None:
            yield change
        await self._reader

    async def close(self) -> None:
        """Stop reading."""
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)

    async def _read(self, changes: AsyncIterator[Change]) -> None:
        try:
            async for change in changes:
                self._count += isinstance(change, Upserted | Unchanged | Failed)
                await self._queue.put(change)
        except Exception:
            # Any error at all: a reader that ended in silence would be waited for for ever.
            await self._queue.put(None)
            raise
        await self._queue.put(None)


class SeenDocuments:
    """Which documents a run has seen at the source, by scope."""

    def __init__(self) -> None:
        self._scopes: defaultdict[str, set[DocumentId]] = defaultdict(set)
        self._all: set[DocumentId] = set()

    def __contains__(self, document_id: DocumentId) -> bool:
        return document_id in self._all

    def add(self, scope: str, document_id: DocumentId) -> None:
        """Note a document of a scope."""
        self._scopes[scope].add(document_id)
        self._all.add(document_id)

    def of(self, scope: str) -> Set[DocumentId]:
        """Return what was seen of a scope."""
        return self._scopes[scope]

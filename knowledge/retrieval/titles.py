"""The titles of all documents, for finding pages that a question or a hit names."""

import asyncio

from knowledge.ledger import Ledger
from knowledge.retrieval.named_pages import TitleIndex, build_title_index


class TitleCatalogue:
    """Keeps a title index that follows the ledger.

    Built in a thread when documents have changed; meanwhile questions use the former one. Names
    lend no rights: what they lead to is searched under the asker's own.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._generation = -1
        self._index: TitleIndex | None = None
        self._building: asyncio.Task[TitleIndex] | None = None

    async def load(self) -> TitleIndex:
        """Return the titles; only the first calls wait for them to be read."""
        generation = await self._ledger.load_generation()
        if generation == self._generation and self._index is not None:
            return self._index
        if self._building is None or self._building.done():
            self._building = asyncio.create_task(self._build(generation))
        if self._index is not None:
            return self._index
        # Shielded: who gives up waiting leaves the reading to the others.
        return await asyncio.shield(self._building)

    async def _build(self, generation: int) -> TitleIndex:
        titles = await self._ledger.load_titles()
        index = await asyncio.to_thread(build_title_index, titles)
        # Only now: what failed is tried again at the next question.
        self._index, self._generation = index, generation
        return index

"""The product itself as the thing that is measured: its ingestion, retrieval and `ask`."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bot.bootstrap import Product, open_embedder, open_product
from bot.conversation import Conversation
from core.clock import Clock
from core.errors import PermanentError
from core.settings import DatabaseSettings, RetrievalSettings, Settings, StoreSettings
from evaluation.datasets import Query
from evaluation.index_cache import FOLDER
from evaluation.records import GivenAnswer
from evaluation.runner import Answerer, Searcher
from knowledge.access import OPERATOR
from knowledge.documents import DocumentId
from knowledge.embedding import Embedder
from knowledge.embedding.cache import CachedEmbedder, VectorCache
from knowledge.ingestion import SyncRun
from knowledge.progress import Progress
from knowledge.readers import Reader
from knowledge.retrieval import Retrieval
from knowledge.retrieval.pipeline import Retriever
from knowledge.source import Source
from knowledge.stores import PassageFilter
from knowledge.word_files import load_analyser

VECTORS_FILE = "vectors.sqlite3"
FAILURES_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductIndexFactory:
    """Indexes made by the product's ingestion, in homes of their own.

    Passage vectors are kept between indexes; questions are embedded anew each time, as the first
    asker of a question waits for it.
    """

    settings: Settings
    clock: Clock
    embedder: Embedder
    passage_embedder: Embedder
    shape: str

    @property
    def embedder_name(self) -> str:
        """Model and revision."""
        return self.embedder.name or "none"

    async def build(self, source: Source, home: Path, progress: Progress) -> None:
        """Sync the source into the home.

        Raises:
            PermanentError: Some documents failed.
        """
        settings = locate_settings(self.settings, home)
        async with open_product(settings, self.clock, embedder=self.passage_embedder) as product:
            parts, logs = product.ingest_parts, product.state.logs
            report = await SyncRun(source, parts, logs, progress=progress).run()
        if report.failures:
            named = "; ".join(
                f"{document_id}: {reason}"
                for document_id, reason in list(report.failures.items())[:FAILURES_NAMED]
            )
            raise PermanentError(
                f"{len(report.failures)} documents of {source.name!r} could not be indexed in "
                f"{str(home)!r} ({named}); mend them or the settings, then run again"
            )

    @asynccontextmanager
    async def open(self, home: Path) -> AsyncIterator["ProductIndex"]:
        """Open what was built in the home."""
        settings = locate_settings(self.settings, home)
        async with open_product(settings, self.clock, embedder=self.embedder) as product:
            reader = await product.resolve_reader(as_=None, in_=None)
            yield ProductIndex(product=product, reader=reader)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductIndex:
    """A product that is open over one corpus; the local operator reads it."""

    product: Product
    reader: Reader

    def build_searcher(self, settings: RetrievalSettings) -> Searcher:
        """Return its retrieval with these settings."""
        return ProductSearcher(retriever=self.product.retriever.with_settings(settings))

    def build_answerer(self) -> Answerer:
        """Return its `ask`, with the retrieval settings it was opened with."""
        return ProductAnswerer(conversation=self.product.conversation, reader=self.reader)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductSearcher:
    """Retrieval as the local operator: an evaluation measures ranking, not rights."""

    retriever: Retriever

    async def search(
        self, question: str, *, limit: int, as_of: datetime | None = None
    ) -> Retrieval:
        """Search everything that is in force at the moment asked about."""
        where = PassageFilter(access=OPERATOR, as_of=as_of)
        return await self.retriever.search(question, where, limit=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductAnswerer:
    """`ask`, turn by turn; a question's moment is what its words say."""

    conversation: Conversation
    reader: Reader

    async def answer(self, query: Query) -> GivenAnswer:
        """Put the turns one after the other and return the reply to the last."""
        turns = (*query.history, query.question)
        answer = await self.conversation.ask_in_turn(turns, self.reader)
        return GivenAnswer(
            outcome=answer.outcome,
            text=answer.text,
            cited=tuple(DocumentId(citation.document_id) for citation in answer.citations),
            took_ms=answer.took_ms,
        )


@asynccontextmanager
async def open_index_factory(
    settings: Settings, clock: Clock
) -> AsyncIterator[ProductIndexFactory]:
    """Open the embedder that all indexes of a run share."""
    folder = settings.home / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    embedder = await open_embedder(settings, is_cached=False)
    cached = CachedEmbedder(embedder, VectorCache(folder / VECTORS_FILE))
    shape = {
        "embedder": embedder.name,
        "analysis": load_analyser(settings.analysis, folder=settings.home).fingerprint,
        "chunks": settings.chunks.model_dump(),
    }
    try:
        yield ProductIndexFactory(
            settings=settings,
            clock=clock,
            embedder=embedder,
            passage_embedder=cached,
            shape=json.dumps(shape, sort_keys=True),
        )
    finally:
        await cached.close()


def locate_settings(settings: Settings, home: Path) -> Settings:
    """Return the settings with everything kept in another home, and no sources."""
    return settings.model_copy(
        update={
            "home": home,
            "database": DatabaseSettings(),
            "store": StoreSettings(),
            "sources": {},
        }
    )

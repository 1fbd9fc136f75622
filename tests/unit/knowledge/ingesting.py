"""An index in a temporary folder, for tests of ingestion and retrieval; words only by default."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from core.clock import FixedClock
from core.database import Database
from core.settings import ChunkSettings, IngestSettings, RerankSettings, RetrievalSettings
from knowledge.access import OPERATOR, ReadableClasses
from knowledge.access_registry import AccessRegistry
from knowledge.analysis import Analyser
from knowledge.directory import Directory
from knowledge.documents import Status
from knowledge.embedding import Embedder
from knowledge.embedding.none import NoEmbedder
from knowledge.ingest_batch import IngestParts
from knowledge.ingestion import SyncRun
from knowledge.ledger import Ledger
from knowledge.ledger_writer import LedgerWriter
from knowledge.retrieval.pipeline import Retriever
from knowledge.retrieval.rerank import Reranker
from knowledge.retrieval.titles import TitleCatalogue
from knowledge.run_logs import RunLogs
from knowledge.source import Source
from knowledge.stores import IndexShape, PassageFilter
from knowledge.stores.lancedb import open_lancedb_store
from knowledge.sync_report import SyncReport
from knowledge.term_statistics import TermIndex

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """An index and everything around it."""

    parts: IngestParts
    logs: RunLogs
    retriever: Retriever
    term_index: TermIndex
    shape: IndexShape

    async def sync(self, source: Source, *, accept_deletions: bool = False) -> SyncReport:
        """Run one sync."""
        run = SyncRun(source, self.parts, self.logs, accept_deletions=accept_deletions)
        return await run.run()

    async def texts(
        self,
        question: str,
        access: ReadableClasses = OPERATOR,
        *,
        as_of: datetime | None = None,
        statuses: frozenset[Status] = frozenset({Status.CURRENT}),
    ) -> list[str]:
        """Return the texts a search finds, best first."""
        where = PassageFilter(access=access, as_of=as_of, statuses=statuses)
        found = await self.retriever.search(question, where, limit=20)
        return [hit.text for hit in found.hits]


@asynccontextmanager
async def open_workbench(
    database: Database,
    folder: Path,
    *,
    ingest: IngestSettings | None = None,
    embedder: Embedder | None = None,
    reranker: Reranker | None = None,
    retrieval: RetrievalSettings | None = None,
) -> AsyncIterator[Workbench]:
    """Open an index in a folder."""
    embedder, analyser = embedder or NoEmbedder(), Analyser()
    shape = IndexShape(
        embedder=embedder.name, dimension=embedder.dimension, analysis=analyser.fingerprint
    )
    store = await open_lancedb_store(folder / "passages", shape)
    ledger, term_index = Ledger(database), TermIndex(database)
    try:
        yield Workbench(
            parts=IngestParts(
                ledger=ledger,
                writer=LedgerWriter(database),
                registry=AccessRegistry(database, Directory(database)),
                store=store,
                embedder=embedder,
                analyser=analyser,
                chunks=ChunkSettings(passage_tokens=40, section_tokens=200),
                ingest=ingest or IngestSettings(),
                clock=FixedClock(NOW),
            ),
            logs=RunLogs.of(database),
            retriever=Retriever(
                store=store,
                ledger=ledger,
                term_index=term_index,
                titles=TitleCatalogue(ledger),
                analyser=analyser,
                embedder=embedder,
                reranker=reranker,
                settings=retrieval or RetrievalSettings(),
                rerank_settings=RerankSettings(),
            ),
            term_index=term_index,
            shape=shape,
        )
    finally:
        await store.close()

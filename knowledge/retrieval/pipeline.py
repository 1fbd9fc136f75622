"""The retrieval pipeline: the stages in their order, each with a record of what it saw."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from core.settings import RerankSettings, RetrievalSettings
from knowledge.access import ReadableClasses
from knowledge.analysis import Analyser
from knowledge.documents import Hit
from knowledge.embedding import Embedder
from knowledge.ledger import Ledger
from knowledge.retrieval import Evidence, Retrieval, StageRecord, Sufficiency
from knowledge.retrieval.cut import cut_hits
from knowledge.retrieval.fusion import fuse
from knowledge.retrieval.lock import check_hits
from knowledge.retrieval.preferences import prefer_guides, prefer_metadata
from knowledge.retrieval.recall import recall
from knowledge.retrieval.rerank import Reranker, rerank
from knowledge.retrieval.rescoring import rescore
from knowledge.retrieval.sections import gather_evidence
from knowledge.retrieval.sufficiency import judge_sufficiency
from knowledge.stores import PassageFilter, PassageStore
from knowledge.term_statistics import TermIndex

ROWS_RECORDED = 10


@dataclass(slots=True)
class _Stages:
    """Collects the records of one search."""

    records: list[StageRecord] = field(default_factory=list)
    since: float = field(default_factory=time.perf_counter)

    def note(self, stage: str, hits: Sequence[Hit], note: str = "") -> None:
        """Record a stage that has just ended."""
        now = time.perf_counter()
        rows = tuple((str(hit.passage_id), hit.score) for hit in hits[:ROWS_RECORDED])
        took_ms = (now - self.since) * 1000
        self.records.append(StageRecord(stage=stage, took_ms=took_ms, rows=rows, note=note))
        self.since = now

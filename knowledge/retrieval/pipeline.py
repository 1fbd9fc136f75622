"""The retrieval pipeline: the stages in their order, each with a record of what it saw."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.settings import RerankSettings, RetrievalSettings
from knowledge.analysis import Analyser
from knowledge.documents import Hit
from knowledge.embedding import Embedder
from knowledge.ledger import Ledger
from knowledge.ledger_records import TermStatistics
from knowledge.retrieval import Retrieval, StageRecord, Sufficiency
from knowledge.retrieval.cut import cut_hits
from knowledge.retrieval.fusion import fuse
from knowledge.retrieval.lock import check_hits
from knowledge.retrieval.preferences import prefer_guides, prefer_metadata
from knowledge.retrieval.recall import Recalled, recall
from knowledge.retrieval.rerank import Reranker, rerank
from knowledge.retrieval.rescoring import rescore
from knowledge.retrieval.sections import gather_evidence
from knowledge.retrieval.sufficiency import judge_sufficiency
from knowledge.stores import PassageFilter, PassageStore, Vector
from knowledge.term_statistics import TermIndex

ROWS_RECORDED = 10


@dataclass(slots=True)
class _Stages:
    """Collects the records of one search."""

    records: list[StageRecord] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)
    since: float = field(default_factory=time.perf_counter)

    def note(self, stage: str, hits: Sequence[Hit] = (), note: str = "") -> None:
        """Record a stage that has just ended."""
        now = time.perf_counter()
        rows = tuple((str(hit.passage_id), hit.score) for hit in hits[:ROWS_RECORDED])
        self.records.append(
            StageRecord(stage=stage, took_ms=(now - self.since) * 1000, rows=rows, note=note)
        )
        self.since = now

    @property
    def took_ms(self) -> float:
        """Milliseconds since the search began."""
        return (time.perf_counter() - self.began) * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A question as the routes need it."""

    text: str
    terms: Mapping[str, float]
    codes: Sequence[str]
    vector: Vector | None
    statistics: TermStatistics


class Retriever:
    """Finds the passages and sections that answer a question, for a reader."""

    def __init__(
        self,
        *,
        store: PassageStore,
        ledger: Ledger,
        term_index: TermIndex,
        analyser: Analyser,
        embedder: Embedder,
        reranker: Reranker | None,
        settings: RetrievalSettings,
        rerank_settings: RerankSettings,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._term_index = term_index
        self._analyser = analyser
        self._embedder = embedder
        self._reranker = reranker
        self._settings = settings
        self._rerank_settings = rerank_settings

    def with_settings(self, settings: RetrievalSettings) -> "Retriever":
        """Return retrieval over the same index with other stages switched on."""
        return Retriever(
            store=self._store,
            ledger=self._ledger,
            term_index=self._term_index,
            analyser=self._analyser,
            embedder=self._embedder,
            reranker=self._reranker,
            settings=settings,
            rerank_settings=self._rerank_settings,
        )

    async def search(
        self, question: str, where: PassageFilter, *, limit: int | None = None
    ) -> Retrieval:
        """Search under the filter's rights and judge whether the evidence is enough.

        Args:
            where: Who reads, and what is searched; its level is ignored.
            limit: Passages at most, near ties aside; None = as set. Evidence is gathered for as
                many sections as set, whatever the limit.

        Raises:
            TransientError: A remote embedder did not answer.
        """
        stages = _Stages()
        asked = await self._prepare(question)
        stages.note("analyse", note=" ".join(asked.terms))
        recalled = await self._recall(asked, where)
        _note_recall(stages, recalled)
        hits = await self._rank(asked, recalled, where, stages)
        sufficiency = self._judge(asked, hits)
        stages.note("sufficiency", note=f"{sufficiency.confidence:.2f}")
        kept = cut_hits(hits, limit=limit or self._settings.limit)
        stages.note("cut", kept)
        evidence = await gather_evidence(
            self._store, kept, access=where.access, limit=self._settings.limit
        )
        stages.note("sections", [one.hit for one in evidence])
        return Retrieval(
            question=question,
            terms={
                term: weight * asked.statistics.idf(term) for term, weight in asked.terms.items()
            },
            hits=tuple(kept),
            evidence=tuple(evidence),
            sufficiency=sufficiency,
            stages=tuple(stages.records),
            took_ms=stages.took_ms,
        )

    async def _prepare(self, question: str) -> _Question:
        terms = self._analyser.query_terms(question)
        statistics, vector = await asyncio.gather(
            self._term_index.load(terms), self._embed(question)
        )
        return _Question(
            text=question,
            terms=terms,
            codes=self._analyser.codes(question),
            vector=vector,
            statistics=statistics,
        )

    async def _embed(self, question: str) -> Vector | None:
        if self._embedder.dimension == 0 or self._settings.recall_vector == 0:
            return None
        return await self._embedder.embed_query(question)

    async def _recall(self, asked: _Question, where: PassageFilter) -> Recalled:
        settings = self._settings
        return await recall(
            self._store,
            terms=list(asked.terms),
            codes=asked.codes if settings.metadata else (),
            vector=asked.vector,
            where=where,
            terms_limit=settings.recall_terms,
            vector_limit=settings.recall_vector,
            sections_limit=settings.recall_vector if settings.two_levels else 0,
        )

    async def _rank(
        self, asked: _Question, recalled: Recalled, where: PassageFilter, stages: _Stages
    ) -> list[Hit]:
        """Fuse, lock, rescore, prefer, rerank; what the ledger denies goes before all scoring."""
        hits = fuse(recalled, method=self._settings.fusion)
        stages.note("fuse", hits)
        hits = await check_hits(
            self._ledger, hits, where.access, only_current=_is_current_only(where)
        )
        stages.note("lock", hits)
        if self._settings.rescore:
            hits = rescore(hits, asked.terms, asked.statistics)
            stages.note("rescore", hits)
        if self._settings.metadata:
            hits = prefer_metadata(list(asked.terms), prefer_guides(asked.text, hits))
            stages.note("prefer", hits)
        if self._reranker is not None:
            hits = await rerank(
                self._reranker, asked.text, hits, candidates=self._rerank_settings.candidates
            )
            stages.note("rerank", hits, note=self._reranker.name)
        return hits

    def _judge(self, asked: _Question, hits: Sequence[Hit]) -> Sufficiency:
        if not self._settings.sufficiency:
            return Sufficiency(is_enough=bool(hits), confidence=1.0 if hits else 0.0, features={})
        return judge_sufficiency(asked.terms, hits, asked.statistics)


def _is_current_only(where: PassageFilter) -> bool:
    return where.as_of is None and not where.any_time


def _note_recall(stages: _Stages, recalled: Recalled) -> None:
    stages.note("recall: words", recalled.terms)
    stages.note("recall: vectors", recalled.vector)
    stages.note("recall: sections", recalled.sections)
    stages.note("recall: codes", recalled.codes)

"""The retrieval pipeline: the stages in their order, each with a record of what it saw."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.settings import RerankSettings, RetrievalSettings
from knowledge.analysis import Analyser
from knowledge.documents import Hit, Status
from knowledge.embedding import Embedder
from knowledge.languages import detect_language, is_all_foreign
from knowledge.ledger import Ledger
from knowledge.ledger_records import TermStatistics
from knowledge.retrieval import Retrieval, Sufficiency
from knowledge.retrieval.candidates import AskedQuestion, Candidates, StageLog
from knowledge.retrieval.coverage import LITTLE, measure_coverage
from knowledge.retrieval.cut import cut_hits
from knowledge.retrieval.fates import Sifting, judge_fates
from knowledge.retrieval.fusion import fuse
from knowledge.retrieval.named_pages import find_named_documents, lift_named
from knowledge.retrieval.page_dates import resolve_dates
from knowledge.retrieval.preferences import prefer_guides, prefer_metadata
from knowledge.retrieval.recall import Recalled, recall, recall_foreign
from knowledge.retrieval.rerank import Reranker, rerank
from knowledge.retrieval.rescoring import rescore
from knowledge.retrieval.sections import gather_evidence, gather_further, load_candidates
from knowledge.retrieval.sufficiency import FITTED_EMBEDDER, Judged, judge_sufficiency
from knowledge.retrieval.titles import TitleCatalogue
from knowledge.stores import Level, PassageFilter, PassageStore, Vector
from knowledge.term_statistics import TermIndex

NAMED_PASSAGES = 16
COVERING_HITS = 10
MOST_LOOKED_UP = 16
FURTHER_DOCUMENTS = 8


class Retriever:
    """Finds the passages and sections that answer a question, for a reader."""

    def __init__(
        self,
        *,
        store: PassageStore,
        ledger: Ledger,
        term_index: TermIndex,
        titles: TitleCatalogue,
        analyser: Analyser,
        embedder: Embedder,
        reranker: Reranker | None,
        settings: RetrievalSettings,
        rerank_settings: RerankSettings,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._term_index = term_index
        self._titles = titles
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
            titles=self._titles,
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
        log = StageLog()
        terms = self._analyser.query_terms(question)
        log.note("analyse", note=" ".join(terms))
        where = await resolve_dates(self._ledger, where)
        asked, recalled = await self._recall(question, terms, where)
        for route in ("terms", "vector", "foreign", "codes"):
            log.note(f"recall: {route}", getattr(recalled, route))
        fused = self._fuse(asked, recalled)
        log.note("fuse", fused)
        admitted = await self._load_candidates(fused, where)
        log.note("lock", admitted.hits)
        ordered = await self._order(asked, admitted, where, log)
        candidates = await self._rerank(asked, ordered, log)
        sufficiency = self._judge(asked, candidates, recalled.foreign)
        log.note("sufficiency", note=f"{sufficiency.confidence:.2f}")
        kept = cut_hits(candidates.hits, limit=limit or self._settings.limit)
        evidence = gather_evidence(kept, candidates.sections, limit=self._settings.limit)
        further = gather_further(
            candidates.hits, candidates.sections, evidence, limit=FURTHER_DOCUMENTS
        )
        log.note("cut", kept)
        sifting = Sifting(
            recalled=recalled,
            fused=fused,
            admitted=admitted.hits,
            before_rerank=ordered.hits,
            ranked=candidates.hits,
            kept=kept,
            sections=self._settings.limit,
            is_enough=sufficiency.is_enough,
        )
        return Retrieval(
            question=question,
            terms=asked.statistics.weigh(asked.terms),
            hits=tuple(kept),
            evidence=tuple(evidence),
            further=tuple(further),
            sufficiency=sufficiency,
            stages=tuple(log.records),
            took_ms=log.took_ms,
            fates=judge_fates(sifting),
        )

    async def _recall(
        self, question: str, terms: Mapping[str, float], where: PassageFilter
    ) -> tuple[AskedQuestion, Recalled]:
        settings = self._settings
        language = detect_language(question) if settings.across_languages else None
        codes = self._analyser.codes(question)
        statistics, recalled = await asyncio.gather(
            self._term_index.load(terms),
            recall(
                self._store,
                terms=list(terms),
                codes=codes if settings.metadata else (),
                question=self._embed(question),
                where=where,
                terms_limit=settings.recall_terms,
                vector_limit=settings.recall_vector,
            ),
        )
        asked = AskedQuestion(
            text=question,
            language=language,
            terms=terms,
            codes=codes,
            vector=recalled.question,
            statistics=await self._hide_unreadable(statistics, recalled.terms, where),
        )
        if language and self._finds_little(asked, recalled):
            recalled = await recall_foreign(
                self._store,
                recalled,
                where=where,
                asked_in=language,
                limit=settings.recall_foreign,
            )
        return asked, recalled

    async def _hide_unreadable(
        self, statistics: TermStatistics, found: Sequence[Hit], where: PassageFilter
    ) -> TermStatistics:
        """Count words that stand in nothing the reader may read as if they stood nowhere.

        How rare a word is decides what is found and whether it is enough; otherwise a question
        could try out which words stand in other people's pages.
        """
        if where.access.is_operator:
            return statistics
        seen = {term for hit in found for term in hit.terms.split()}
        doubtful = [
            term
            for term, count in statistics.document_frequency.items()
            if count and term not in seen
        ]
        # Rights alone count here: what a question asks for besides them hides nothing.
        readable_ever = PassageFilter(
            access=where.access, any_time=True, statuses=frozenset(Status)
        )
        looked_up = await asyncio.gather(
            *(
                self._store.search_terms([term], readable_ever, limit=1)
                for term in doubtful[:MOST_LOOKED_UP]
            )
        )
        readable = {term for term, hits in zip(doubtful, looked_up, strict=False) if hits}
        hidden = dict.fromkeys((term for term in doubtful if term not in readable), 0)
        return replace(statistics, document_frequency={**statistics.document_frequency, **hidden})

    def _finds_little(self, asked: AskedQuestion, recalled: Recalled) -> bool:
        """Tell whether words, which stop at the border of a language, found too little."""
        texts = [hit.terms for hit in recalled.terms[:COVERING_HITS]]
        return measure_coverage(asked.terms, asked.statistics, texts) < LITTLE

    async def _embed(self, question: str) -> Vector | None:
        if self._embedder.dimension == 0 or self._settings.recall_vector == 0:
            return None
        return await self._embedder.embed_query(question)

    async def _load_candidates(self, hits: Sequence[Hit], where: PassageFilter) -> Candidates:
        return await load_candidates(
            self._store, self._ledger, hits, where, two_levels=self._settings.two_levels
        )

    async def _order(
        self, asked: AskedQuestion, candidates: Candidates, where: PassageFilter, log: StageLog
    ) -> Candidates:
        settings = self._settings
        if settings.rescore:
            candidates = self._rescore(asked, candidates)
            log.note("rescore", candidates.hits)
        if settings.named_pages:
            candidates = await self._lift_named(asked, candidates, where)
            log.note("named pages", candidates.hits)
        if settings.metadata:
            hits = prefer_guides(asked.text, candidates.hits)
            candidates = candidates.ordered(prefer_metadata(asked.text, hits))
            log.note("prefer", candidates.hits)
        return candidates

    async def _rerank(
        self, asked: AskedQuestion, candidates: Candidates, log: StageLog
    ) -> Candidates:
        if self._reranker is None:
            return candidates
        hits = await rerank(
            self._reranker,
            asked.text,
            candidates.hits,
            candidates=self._rerank_settings.candidates,
        )
        log.note("rerank", hits, note=self._reranker.name)
        return candidates.ordered(hits)

    def _rescore(self, asked: AskedQuestion, candidates: Candidates) -> Candidates:
        rescored = rescore(
            candidates.hits,
            asked.terms,
            asked.statistics,
            asked_in=asked.language,
            sections=candidates.sections,
            vector=asked.vector,
        )
        return candidates.ordered(rescored)

    def _fuse(self, asked: AskedQuestion, recalled: Recalled) -> list[Hit]:
        return fuse(
            recalled,
            method=self._settings.fusion,
            asked_in=asked.language,
            limit=self._settings.candidates,
        )

    async def _lift_named(
        self, asked: AskedQuestion, candidates: Candidates, where: PassageFilter
    ) -> Candidates:
        """Lift pages that the question or the best hits name; fetch those that recall missed."""
        named = find_named_documents(asked.text, candidates.hits, await self._titles.load())
        missed = frozenset(named) - {hit.document_id for hit in candidates.hits}
        if where.documents:
            missed &= where.documents
        if missed:
            named_only = replace(where, level=Level.PASSAGE, documents=missed)
            hits = await self._store.search_terms(
                list(asked.terms), named_only, limit=NAMED_PASSAGES
            )
            found = self._fuse(asked, Recalled(terms=tuple(hits), question=asked.vector))
            candidates = candidates.joined(await self._load_candidates(found, where))
            if self._settings.rescore:
                candidates = self._rescore(asked, candidates)
                named = find_named_documents(asked.text, candidates.hits, await self._titles.load())
        return candidates.ordered(lift_named(candidates.hits, named))

    def _judge(
        self, asked: AskedQuestion, candidates: Candidates, foreign: Sequence[Hit]
    ) -> Sufficiency:
        hits = candidates.hits
        if not self._settings.sufficiency:
            return Sufficiency(is_enough=bool(hits), confidence=1.0 if hits else 0.0, features={})
        is_fitted = self._embedder.name.startswith(FITTED_EMBEDDER)
        far = [
            hit for hit in foreign if asked.language and is_all_foreign(hit.text, asked.language)
        ]
        is_led = bool(hits and far) and hits[0].passage_id == far[0].passage_id
        cosines = [hit.scores["vector"] for hit in hits if is_fitted and "vector" in hit.scores]
        return judge_sufficiency(
            Judged(
                question=asked.text,
                terms=asked.terms,
                hits=hits,
                sections=candidates.sections,
                statistics=asked.statistics,
                cosine=max(cosines, default=None),
                codes=len(asked.codes),
                foreign=[hit.score for hit in far] if is_fitted and is_led else [],
            ),
            self._analyser,
        )

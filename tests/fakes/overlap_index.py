"""A small index over a data set that ranks by shared words: quick, exact, without a store."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from core.settings import RetrievalSettings
from evaluation.datasets import CorpusItem, Dataset, Query
from evaluation.records import GivenAnswer
from evaluation.source import build_document_id
from knowledge.access import AccessNo
from knowledge.documents import Hit, PassageId, PassageKind, SectionId, Status
from knowledge.progress import Progress
from knowledge.retrieval import Retrieval, StageRecord, Sufficiency

MOMENT = datetime(2026, 11, 30, tzinfo=UTC)
ENOUGH = 0.5


def split_words(text: str) -> set[str]:
    return set(text.lower().replace("?", " ").replace(".", " ").split())


def build_hit(item: CorpusItem, score: float, part: int = 0) -> Hit:
    document_id = build_document_id(item.corpus_id)
    return Hit(
        passage_id=PassageId(f"{document_id}#{part}"),
        section_id=SectionId(document_id),
        document_id=document_id,
        title=item.title,
        heading_path=(item.title,),
        text=item.text,
        kind=PassageKind.PROSE,
        url="",
        page=None,
        space="",
        source="eval",
        labels=(),
        status=Status.CURRENT,
        version_number=1,
        version_label="",
        updated_at=MOMENT,
        valid_from=MOMENT,
        valid_to=None,
        access_no=AccessNo(1),
        position=part,
        score=score,
    )


@dataclass
class OverlapIndex:
    """Finds items by the words they share with the question; knows how busy it has been."""

    dataset: Dataset
    searches: list[str] = field(default_factory=list)
    as_of: list[datetime | None] = field(default_factory=list)
    running: int = 0
    most_running: int = 0

    def build_searcher(self, settings: RetrievalSettings) -> "OverlapSearcher":
        return OverlapSearcher(self, settings)

    def build_answerer(self) -> "OverlapAnswerer":
        return OverlapAnswerer(OverlapSearcher(self, RetrievalSettings()))


@dataclass
class OverlapSearcher:
    index: OverlapIndex
    settings: RetrievalSettings

    async def search(
        self, question: str, *, limit: int, as_of: datetime | None = None
    ) -> Retrieval:
        self.index.running += 1
        self.index.most_running = max(self.index.most_running, self.index.running)
        await asyncio.sleep(0)
        self.index.running -= 1
        self.index.searches.append(question)
        self.index.as_of.append(as_of)
        words = split_words(question)
        scored = [
            (len(words & split_words(f"{item.title} {item.text}")), item)
            for item in self.index.dataset.corpus
        ]
        scored.sort(key=lambda pair: (-pair[0], pair[1].corpus_id))
        found = [(count, item) for count, item in scored if count and self.settings.recall_terms]
        # Two passages of every item, so that callers have to rank items by their best one.
        hits = [build_hit(item, count, part) for count, item in found for part in (0, 1)]
        confidence = found[0][0] / len(words) if found else 0.0
        return Retrieval(
            question=question,
            terms=dict.fromkeys(words, 1.0),
            hits=tuple(hits[:limit]),
            evidence=(),
            sufficiency=Sufficiency(
                is_enough=confidence >= ENOUGH,
                confidence=confidence,
                features={"coverage": confidence},
            ),
            stages=(StageRecord(stage="bm25", took_ms=1.5, rows=()),),
            took_ms=2.0,
        )


@dataclass
class OverlapAnswerer:
    searcher: OverlapSearcher

    async def answer(self, query: Query) -> GivenAnswer:
        retrieval = await self.searcher.search(query.question, limit=1)
        if not retrieval.sufficiency.is_enough:
            return GivenAnswer(outcome="not_found", text="", cited=(), took_ms=1.0)
        hit = retrieval.hits[0]
        return GivenAnswer(outcome="answered", text=hit.text, cited=(hit.document_id,), took_ms=3.0)


@dataclass
class OverlapIndexer:
    """Opens an index a set and remembers which."""

    opened: list[OverlapIndex] = field(default_factory=list)
    closed: int = 0

    @asynccontextmanager
    async def open(self, dataset: Dataset, progress: Progress) -> AsyncIterator[OverlapIndex]:
        del progress
        index = OverlapIndex(dataset)
        self.opened.append(index)
        yield index
        self.closed += 1

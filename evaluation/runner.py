"""Runs question sets through retrieval: several variants over the same index, in one run."""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.settings import RetrievalSettings
from evaluation.datasets import Dataset, Part, Query
from evaluation.progress import StepCounter
from evaluation.records import (
    AskedQuestion,
    GivenAnswer,
    QueryRecord,
    Role,
    build_record,
)
from knowledge.progress import Progress
from knowledge.retrieval import Retrieval

SEARCH_LIMIT = 200
"""Passages asked for, so that 50 different items are ranked even where items were split."""


class Searcher(Protocol):
    """Retrieval over one corpus with settings of its own."""

    async def search(
        self, question: str, *, limit: int, as_of: datetime | None = None
    ) -> Retrieval:
        """Return up to `limit` passages, best first, and what the gate thinks of them."""
        ...


class Answerer(Protocol):
    """The product's `ask` over one corpus."""

    async def answer(self, query: Query) -> GivenAnswer:
        """Reply to the last turn of the question, in the light of the turns before it."""
        ...


class Index(Protocol):
    """The index of one corpus, open for reading."""

    def build_searcher(self, settings: RetrievalSettings) -> Searcher:
        """Return retrieval with these settings; cheap, the index is shared."""
        ...

    def build_answerer(self) -> Answerer:
        """Return the product's `ask`, retrieving as the first variant does."""
        ...


class Indexer(Protocol):
    """Builds the index of a corpus, or opens the one that a former run has built."""

    def open(self, dataset: Dataset, progress: Progress) -> AbstractAsyncContextManager[Index]:
        """Return the index of the set's corpus; it is closed at the end of the block."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is run.

    Attributes:
        variants: Settings by name; the first is the one that is reported on.
        foreign_questions: How many questions of the other sets each corpus is asked.
        has_answers: Put each question to `ask` too, with the first variant's settings.
        part: Only this half of the questions; None = all.
        concurrency: Questions at once; more than 1 makes the measured times dishonest.
    """

    variants: Mapping[str, RetrievalSettings]
    foreign_questions: int = 50
    has_answers: bool = False
    part: Part | None = None
    concurrency: int = 1

    @property
    def main_variant(self) -> str:
        """The variant that is reported on."""
        return next(iter(self.variants))


async def run_evaluation(
    datasets: Sequence[Dataset], plan: Plan, indexer: Indexer, progress: Progress
) -> list[QueryRecord]:
    """Put every question to its corpus with every variant; records in that order."""
    records: list[QueryRecord] = []
    for number, dataset in enumerate(datasets, start=1):
        questions = choose_questions(dataset, datasets, plan)
        async with indexer.open(dataset, progress) as index:
            for variant, settings in plan.variants.items():
                ask = _Asking(
                    variant=variant,
                    searcher=index.build_searcher(settings),
                    answerer=(
                        index.build_answerer()
                        if plan.has_answers and variant == plan.main_variant
                        else None
                    ),
                )
                title = f"{number}/{len(datasets)} {dataset.name} · {variant}"
                steps = StepCounter(progress, title, total=len(questions))
                records += await _ask_all(questions, ask, plan.concurrency, steps)
    return records


def choose_questions(
    dataset: Dataset, datasets: Sequence[Dataset], plan: Plan
) -> list[AskedQuestion]:
    """Return the set's own questions, then questions of the other sets in turn."""
    own = [
        AskedQuestion(dataset=dataset.name, origin=dataset.name, role=Role.OWN, query=query)
        for query in dataset.queries
        if plan.part in (None, query.part)
    ]
    others = [other for other in datasets if other.name != dataset.name]
    return own + _choose_foreign(dataset, others, plan)


def _choose_foreign(dataset: Dataset, others: Sequence[Dataset], plan: Plan) -> list[AskedQuestion]:
    """Take from each other set in turn; which questions depends on their ids alone."""
    queues = [
        (other, sorted(_answerable(other, plan.part), key=lambda one: _shuffle(one, dataset)))
        for other in others
    ]
    depth = max((len(queue) for _, queue in queues), default=0)
    chosen = [
        AskedQuestion(
            dataset=dataset.name, origin=other.name, role=Role.FOREIGN, query=queue[place]
        )
        for place in range(depth)
        for other, queue in queues
        if place < len(queue)
    ]
    return chosen[: plan.foreign_questions]


def _answerable(dataset: Dataset, part: Part | None) -> Iterator[Query]:
    return (
        query for query in dataset.queries if query.is_answerable and part in (None, query.part)
    )


def _shuffle(query: Query, dataset: Dataset) -> str:
    return hashlib.sha256(f"{dataset.name}\x1f{query.query_id}".encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    variant: str
    searcher: Searcher
    answerer: Answerer | None

    async def search(self, query: Query) -> Retrieval:
        # Retrieval knows no conversation: a follow-up is searched with what was said before it.
        question = "\n".join((*query.history, query.question))
        return await self.searcher.search(question, limit=SEARCH_LIMIT, as_of=query.as_of)

    async def measure(self, asked: AskedQuestion) -> QueryRecord:
        started = time.perf_counter()
        retrieval = await self.search(asked.query)
        took_ms = (time.perf_counter() - started) * 1000
        answer = await self.answerer.answer(asked.query) if self.answerer else None
        return build_record(
            asked, variant=self.variant, retrieval=retrieval, took_ms=took_ms, answer=answer
        )


async def _ask_all(
    questions: Sequence[AskedQuestion], asking: _Asking, concurrency: int, steps: StepCounter
) -> list[QueryRecord]:
    if not questions:
        return []
    # The first search of a variant opens files and fills caches; it is not timed.
    await asking.search(questions[0].query)

    async def measure(asked: AskedQuestion) -> QueryRecord:
        record = await asking.measure(asked)
        steps.advance()
        return record

    return await _map_in_order(questions, measure, concurrency=concurrency)


async def _map_in_order(
    items: Sequence[AskedQuestion],
    work: Callable[[AskedQuestion], Awaitable[QueryRecord]],
    *,
    concurrency: int,
) -> list[QueryRecord]:
    """Do the work on every item, at most `concurrency` at once; results in the items' order."""
    results: dict[int, QueryRecord] = {}
    waiting = iter(enumerate(items))

    async def take() -> None:
        for place, item in waiting:
            results[place] = await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(items))):
                group.create_task(take())
    except ExceptionGroup as failures:
        # One reason is enough, and callers know our errors, not groups of them.
        raise failures.exceptions[0] from failures
    return [results[place] for place in range(len(items))]

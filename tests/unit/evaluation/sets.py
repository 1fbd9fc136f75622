"""Two tiny question sets whose figures can be worked out by hand."""

from datetime import UTC, datetime

from evaluation.datasets import CorpusId, CorpusItem, Dataset, Query, hash_corpus


def build_set(name: str, texts: dict[str, str], queries: list[Query]) -> Dataset:
    corpus = tuple(
        CorpusItem(corpus_id=CorpusId(key), title="", text=text, meta={})
        for key, text in texts.items()
    )
    return Dataset(
        name=name, corpus=corpus, queries=tuple(queries), content_hash=hash_corpus(corpus)
    )


def ids(*names: str) -> tuple[CorpusId, ...]:
    return tuple(CorpusId(name) for name in names)


ENGINES = build_set(
    "engines",
    {
        "e1": "the diesel engine needs oil every month",
        "e2": "the petrol engine needs spark plugs",
        "e3": "wash the car every week",
    },
    [
        Query(
            query_id="eq1",
            question="diesel engine oil",
            lang="en",
            kind="fact",
            evidence_ids=ids("e1"),
            must=(("every month",),),
            expected_points=("needs oil every month", "use filters"),
        ),
        Query(
            query_id="eq2",
            question="engine petrol diesel",
            lang="en",
            kind="list",
            evidence_ids=ids("e1", "e2"),
            history=("about my car",),
            as_of=datetime(2026, 1, 1, tzinfo=UTC),
        ),
        Query(query_id="eq3", question="engine price in japan", lang="en", kind="none"),
    ],
)
GARDEN = build_set(
    "garden",
    {"g1": "water roses at dawn", "g2": "prune apple trees in winter"},
    [
        Query(
            query_id="gq1",
            question="prune roses dawn",
            lang="en",
            kind="fact",
            evidence_ids=ids("g2"),
        ),
        Query(
            query_id="gq2",
            question="苹果树 何时 修剪",
            lang="zh",
            kind="fact",
            evidence_ids=ids("g2"),
        ),
    ],
)

"""What a run notes of every question, from which all figures are computed."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from evaluation.answer_metrics import holds_required, measure_point_coverage
from evaluation.datasets import CorpusId, Query
from evaluation.metrics import (
    Right,
    measure_citation_precision,
    measure_ndcg,
    measure_recall,
    measure_reciprocal_rank,
    rank_items,
)
from evaluation.source import parse_corpus_id
from knowledge.documents import DocumentId
from knowledge.retrieval import Retrieval

REFUSALS = frozenset({"not_found", "no_access"})


class Role(StrEnum):
    """Whether a question belongs to the corpus it was put to."""

    OWN = "own"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question as put to a corpus.

    Attributes:
        dataset: The set whose corpus was searched.
        origin: The set the question comes from; another one for a foreign question.
    """

    dataset: str
    origin: str
    role: Role
    query: Query

    @property
    def is_answerable(self) -> bool:
        """Whether this corpus holds the answer."""
        return self.role is Role.OWN and self.query.is_answerable


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingScores:
    """How well the right items were ranked."""

    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    reciprocal_rank: float
    ndcg_at_10: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """What the product replied, as `ask` shows it."""

    outcome: str
    text: str
    cited: tuple[DocumentId, ...]
    took_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerScores:
    """How good a reply was; None where the question gives nothing to judge by."""

    outcome: str
    text: str
    took_ms: float
    holds_required: bool | None
    point_coverage: float | None
    citation_precision: float | None

    @property
    def is_refused(self) -> bool:
        """Whether the reply says that nothing was found."""
        return self.outcome in REFUSALS


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRecord:
    """One question searched, and perhaps answered, by one variant.

    Attributes:
        ranking: Corpus items, best first, each once.
        scores: None for a question that this corpus does not answer.
        is_refused: The gate held the evidence to be insufficient.
        stages_ms: Time by stage, as retrieval reports it.
    """

    asked: AskedQuestion
    variant: str
    ranking: tuple[CorpusId, ...]
    scores: RankingScores | None
    confidence: float
    is_refused: bool
    features: Mapping[str, float]
    took_ms: float
    stages_ms: Mapping[str, float]
    answer: AnswerScores | None = None


def build_record(
    asked: AskedQuestion,
    *,
    variant: str,
    retrieval: Retrieval,
    took_ms: float,
    answer: GivenAnswer | None = None,
) -> QueryRecord:
    """Judge one search; `took_ms` is what the caller waited."""
    ranking = rank_items(parse_corpus_id(hit.document_id) for hit in retrieval.hits)
    right = _build_right(asked)
    return QueryRecord(
        asked=asked,
        variant=variant,
        ranking=tuple(CorpusId(item) for item in ranking),
        scores=_score_ranking(ranking, right) if right else None,
        confidence=retrieval.sufficiency.confidence,
        is_refused=not retrieval.sufficiency.is_enough,
        features=dict(retrieval.sufficiency.features),
        took_ms=took_ms,
        stages_ms={stage.stage: stage.took_ms for stage in retrieval.stages},
        answer=_score_answer(answer, asked.query, right) if answer else None,
    )


def build_json(record: QueryRecord) -> dict[str, object]:
    """Return a record as one JSON line, for looking at single questions and for calibration."""
    query, scores, answer = record.asked.query, record.scores, record.answer
    return {
        "dataset": record.asked.dataset,
        "variant": record.variant,
        "id": query.query_id,
        "origin": record.asked.origin,
        "role": record.asked.role.value,
        "part": query.part,
        "kind": query.kind,
        "lang": query.lang,
        "question": query.question,
        "is_answerable": record.asked.is_answerable,
        "evidence_ids": list(query.evidence_ids),
        "ranking": list(record.ranking),
        "recall_at_1": scores.recall_at_1 if scores else None,
        "recall_at_5": scores.recall_at_5 if scores else None,
        "recall_at_10": scores.recall_at_10 if scores else None,
        "reciprocal_rank": scores.reciprocal_rank if scores else None,
        "ndcg_at_10": scores.ndcg_at_10 if scores else None,
        "confidence": record.confidence,
        "is_refused": record.is_refused,
        "features": dict(record.features),
        "took_ms": round(record.took_ms, 3),
        "stages_ms": {name: round(value, 3) for name, value in record.stages_ms.items()},
        "outcome": answer.outcome if answer else None,
        "answer": answer.text if answer else None,
        "holds_required": answer.holds_required if answer else None,
        "point_coverage": answer.point_coverage if answer else None,
        "citation_precision": answer.citation_precision if answer else None,
    }


def _build_right(asked: AskedQuestion) -> Right | None:
    if not asked.is_answerable:
        return None
    return Right.of(asked.query.evidence_ids, asked.query.alt_evidence_ids)


def _score_ranking(ranking: tuple[str, ...], right: Right) -> RankingScores:
    return RankingScores(
        recall_at_1=measure_recall(ranking, right, depth=1),
        recall_at_5=measure_recall(ranking, right, depth=5),
        recall_at_10=measure_recall(ranking, right, depth=10),
        reciprocal_rank=measure_reciprocal_rank(ranking, right),
        ndcg_at_10=measure_ndcg(ranking, right),
    )


def _score_answer(answer: GivenAnswer, query: Query, right: Right | None) -> AnswerScores:
    cited = [parse_corpus_id(document_id) for document_id in answer.cited]
    return AnswerScores(
        outcome=answer.outcome,
        text=answer.text,
        took_ms=answer.took_ms,
        holds_required=(holds_required(answer.text, query.must) if right and query.must else None),
        point_coverage=(
            measure_point_coverage(answer.text, query.expected_points) if right else None
        ),
        citation_precision=measure_citation_precision(cited, right) if right else None,
    )

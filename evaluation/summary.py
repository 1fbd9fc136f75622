"""From records to the figures of a run: by set, by variant, by kind of question."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from evaluation.metrics import (
    CurvePoint,
    build_refusal_curve,
    compute_mean,
    compute_percentile,
    compute_share,
    find_operating_point,
    measure_separation,
)
from evaluation.records import QueryRecord, RankingScores, Role

MOST_WRONGLY_REFUSED = 0.05
UNANSWERABLE = "unanswerable"
FOREIGN = "foreign"
FOREIGN_SAME_LANGUAGE = "foreign_same_language"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of one group of questions; None where nothing could be measured.

    Attributes:
        questions: Own questions, those without an answer among them.
        not_found_right: Share of own unanswerable questions that the gate refused.
        wrongly_refused: Share of answerable questions that the gate refused.
        foreign_refused: Share of other sets' questions that the gate refused.
        answer_*: The same of `ask`, and how good its replies were; only in runs with answers.
    """

    questions: int
    answerable: int
    recall_at_1: float | None
    recall_at_5: float | None
    recall_at_10: float | None
    mrr: float | None
    ndcg_at_10: float | None
    not_found_right: float | None
    wrongly_refused: float | None
    foreign_refused: float | None
    latency_ms_p50: float | None
    latency_ms_p95: float | None
    answer_right: float | None = None
    answer_point_coverage: float | None = None
    answer_citation_precision: float | None = None
    answer_not_found_right: float | None = None
    answer_wrongly_refused: float | None = None
    answer_foreign_refused: float | None = None
    answer_ms_p50: float | None = None
    answer_ms_p95: float | None = None


COUNTS = ("questions", "answerable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """How well the confidence tells answerable from unanswerable questions.

    Attributes:
        shipped: What the product's own gate refused, by group; `answerable` = wrongly.
        counts: Questions by group.
        separation: Chance that an answerable question has the higher confidence, by group.
        best: The strictest point with at most MOST_WRONGLY_REFUSED of the answerable refused.
    """

    shipped: Mapping[str, float]
    counts: Mapping[str, int]
    separation: Mapping[str, float]
    curve: tuple[CurvePoint, ...]
    best: CurvePoint | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSummary:
    """One variant: each set's figures, and their mean over the sets."""

    datasets: Mapping[str, Figures]
    mean: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A whole run; the first variant is the one reported on.

    Attributes:
        kinds: Figures of the main variant by set and kind of question.
        languages: Figures of the main variant by language of the question, over all sets.
        refusals: Of the main variant, by set and over all sets.
        stages_ms: Median and 95th percentile of each stage's time, over all sets.
    """

    main_variant: str
    variants: Mapping[str, VariantSummary]
    kinds: Mapping[str, Mapping[str, Figures]]
    languages: Mapping[str, Figures]
    refusals_by_dataset: Mapping[str, Refusals]
    refusals: Refusals
    stages_ms: Mapping[str, tuple[float, float]]

    @property
    def main(self) -> VariantSummary:
        """The variant that is reported on."""
        return self.variants[self.main_variant]


def build_summary(records: Sequence[QueryRecord], *, main_variant: str) -> RunSummary:
    """Compute all figures; variants and sets keep the order of the records."""
    main = [record for record in records if record.variant == main_variant]
    by_variant = _group(records, lambda record: record.variant)
    by_dataset = _group(main, lambda record: record.asked.dataset)
    own = [record for record in main if record.asked.role is Role.OWN]
    return RunSummary(
        main_variant=main_variant,
        variants={name: _summarise_variant(group) for name, group in by_variant.items()},
        kinds={
            name: _figures_by(_own(group), lambda record: record.asked.query.kind)
            for name, group in by_dataset.items()
        },
        languages=_figures_by(own, lambda record: record.asked.query.lang),
        refusals_by_dataset={name: build_refusals(group) for name, group in by_dataset.items()},
        refusals=build_refusals(main),
        stages_ms=_summarise_stages(main),
    )


def build_figures(records: Sequence[QueryRecord]) -> Figures:
    """Compute the figures of one group of questions."""
    own = _own(records)
    answerable = [record for record in own if record.asked.is_answerable]
    unanswerable = [record for record in own if not record.asked.is_answerable]
    foreign = [record for record in records if record.asked.role is Role.FOREIGN]
    times = [record.took_ms for record in records]
    answers = [record.answer for record in records if record.answer]
    answer_times = [answer.took_ms for answer in answers]

    def mean(read: Callable[[RankingScores], float]) -> float | None:
        return compute_mean(read(record.scores) for record in answerable if record.scores)

    return Figures(
        questions=len(own),
        answerable=len(answerable),
        recall_at_1=mean(lambda scores: scores.recall_at_1),
        recall_at_5=mean(lambda scores: scores.recall_at_5),
        recall_at_10=mean(lambda scores: scores.recall_at_10),
        mrr=mean(lambda scores: scores.reciprocal_rank),
        ndcg_at_10=mean(lambda scores: scores.ndcg_at_10),
        not_found_right=_share_refused(unanswerable),
        wrongly_refused=_share_refused(answerable),
        foreign_refused=_share_refused(foreign),
        latency_ms_p50=compute_percentile(times, 50),
        latency_ms_p95=compute_percentile(times, 95),
        answer_right=compute_share(
            answer.holds_required for answer in answers if answer.holds_required is not None
        ),
        answer_point_coverage=compute_mean(answer.point_coverage for answer in answers),
        answer_citation_precision=compute_mean(answer.citation_precision for answer in answers),
        answer_not_found_right=_share_answers_refused(unanswerable),
        answer_wrongly_refused=_share_answers_refused(answerable),
        answer_foreign_refused=_share_answers_refused(foreign),
        answer_ms_p50=compute_percentile(answer_times, 50),
        answer_ms_p95=compute_percentile(answer_times, 95),
    )


def build_refusals(records: Sequence[QueryRecord]) -> Refusals:
    """Compare the confidence of answerable and unanswerable questions."""
    own = _own(records)
    foreign = [record for record in records if record.asked.role is Role.FOREIGN]
    languages = {
        name: {record.asked.query.lang for record in group if record.asked.is_answerable}
        for name, group in _group(own, lambda record: record.asked.dataset).items()
    }
    answerable = [record for record in own if record.asked.is_answerable]
    groups = {
        UNANSWERABLE: [record for record in own if not record.asked.is_answerable],
        FOREIGN: foreign,
        FOREIGN_SAME_LANGUAGE: [
            record
            for record in foreign
            if record.asked.query.lang in languages.get(record.asked.dataset, set())
        ],
    }
    groups = {name: group for name, group in groups.items() if group}
    confidences = [record.confidence for record in answerable]
    others = {name: [record.confidence for record in group] for name, group in groups.items()}
    curve = build_refusal_curve(confidences, others)
    separation = {name: measure_separation(confidences, values) for name, values in others.items()}
    shares = {
        name: _share_refused(group) for name, group in {"answerable": answerable, **groups}.items()
    }
    return Refusals(
        shipped={name: share for name, share in shares.items() if share is not None},
        counts={"answerable": len(answerable), **{k: len(group) for k, group in groups.items()}},
        separation={name: value for name, value in separation.items() if value is not None},
        curve=curve,
        best=find_operating_point(curve, most_wrongly_refused=MOST_WRONGLY_REFUSED),
    )


def average_figures(all_figures: Sequence[Figures]) -> Figures:
    """Return the mean over sets, each counting alike; counts are added up."""
    values: dict[str, float | None] = {}
    for field in fields(Figures):
        column = [getattr(figures, field.name) for figures in all_figures]
        values[field.name] = sum(column) if field.name in COUNTS else compute_mean(column)
    return Figures(**values)  # type: ignore[arg-type]  # counts are whole numbers


def _summarise_variant(records: Sequence[QueryRecord]) -> VariantSummary:
    datasets = _figures_by(records, lambda record: record.asked.dataset)
    return VariantSummary(datasets=datasets, mean=average_figures(list(datasets.values())))


def _summarise_stages(records: Sequence[QueryRecord]) -> dict[str, tuple[float, float]]:
    times: dict[str, list[float]] = {}
    for record in records:
        for stage, took_ms in record.stages_ms.items():
            times.setdefault(stage, []).append(took_ms)
    return {
        stage: (compute_percentile(values, 50) or 0.0, compute_percentile(values, 95) or 0.0)
        for stage, values in times.items()
    }


def _figures_by(
    records: Iterable[QueryRecord], key: Callable[[QueryRecord], str]
) -> dict[str, Figures]:
    return {name: build_figures(group) for name, group in _group(records, key).items()}


def _group(
    records: Iterable[QueryRecord], key: Callable[[QueryRecord], str]
) -> dict[str, list[QueryRecord]]:
    groups: dict[str, list[QueryRecord]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def _own(records: Iterable[QueryRecord]) -> list[QueryRecord]:
    return [record for record in records if record.asked.role is Role.OWN]


def _share_refused(records: Iterable[QueryRecord]) -> float | None:
    return compute_share(record.is_refused for record in records)


def _share_answers_refused(records: Iterable[QueryRecord]) -> float | None:
    return compute_share(record.answer.is_refused for record in records if record.answer)

"""A run as JSON: the stable form that is printed, kept and compared."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from core.settings import RetrievalSettings
from evaluation.metrics import CurvePoint
from evaluation.summary import Figures, Refusals, RunSummary, VariantSummary

FORMAT = 1
"""Raised when a key changes its meaning; new keys do not count."""
DIGITS = 4
CURVE_POINTS = 101
"""A curve over many questions is thinned to about this many points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """Under which circumstances a run was made."""

    made_at: datetime
    seconds: float
    embedder: str
    index: str
    cores: int
    concurrency: int
    part: str
    is_cross: bool
    variants: Mapping[str, RetrievalSettings]


def build_result(summary: RunSummary, info: RunInfo) -> dict[str, object]:
    """Return the run as JSON values; `datasets` and `mean` are those of the main variant."""
    return {
        **_variant_json(summary.main),
        "variant": summary.main_variant,
        "variants": {
            name: {**_variant_json(variant), "settings": info.variants[name].model_dump()}
            for name, variant in summary.variants.items()
        },
        "kinds": {
            dataset: {kind: figures_json(figures) for kind, figures in kinds.items()}
            for dataset, kinds in summary.kinds.items()
        },
        "languages": {lang: figures_json(figures) for lang, figures in summary.languages.items()},
        "refusals": {
            **_refusals_json(summary.refusals),
            "datasets": {
                name: _refusals_json(refusals)
                for name, refusals in summary.refusals_by_dataset.items()
            },
        },
        "stages_ms": {
            stage: {"p50": _round(p50), "p95": _round(p95)}
            for stage, (p50, p95) in summary.stages_ms.items()
        },
        "run": {
            "format": FORMAT,
            "made_at": info.made_at.isoformat(),
            "seconds": round(info.seconds, 1),
            "embedder": info.embedder,
            "index": info.index,
            "cores": info.cores,
            "concurrency": info.concurrency,
            "part": info.part,
            "cross": info.is_cross,
        },
    }


def figures_json(figures: Figures) -> dict[str, object]:
    """Return figures as JSON values; the keys of `ask` only when it was measured."""
    values: dict[str, object] = {key: _round(value) for key, value in asdict(figures).items()}
    if figures.answer_ms_p50 is None:
        return {key: value for key, value in values.items() if not key.startswith("answer_")}
    return values


def thin_curve(curve: tuple[CurvePoint, ...]) -> tuple[CurvePoint, ...]:
    """Keep about CURVE_POINTS points, evenly spread, the first and the last among them."""
    if len(curve) <= CURVE_POINTS:
        return curve
    step = (len(curve) - 1) / (CURVE_POINTS - 1)
    return tuple(curve[round(place * step)] for place in range(CURVE_POINTS))


def _variant_json(variant: VariantSummary) -> dict[str, object]:
    return {
        "datasets": {name: figures_json(figures) for name, figures in variant.datasets.items()},
        "mean": figures_json(variant.mean),
    }


def _refusals_json(refusals: Refusals) -> dict[str, object]:
    return {
        "questions": dict(refusals.counts),
        "shipped": {name: _round(share) for name, share in refusals.shipped.items()},
        "separation": {name: _round(value) for name, value in refusals.separation.items()},
        "best_within_5_percent": _point_json(refusals.best) if refusals.best else None,
        "curve": [_point_json(point) for point in thin_curve(refusals.curve)],
    }


def _point_json(point: CurvePoint) -> dict[str, object]:
    return {
        "threshold": round(point.threshold, 6),
        "wrongly_refused": _round(point.wrongly_refused),
        **{name: _round(share) for name, share in point.rightly_refused.items()},
    }


def _round(value: float | None) -> float | int | None:
    return round(value, DIGITS) if isinstance(value, float) else value

"""Which stages of retrieval run in a variant, so that each can be measured alone."""

from collections.abc import Mapping, Sequence
from typing import Literal

from core.settings import RetrievalSettings

SHIPPED = "shipped"
Simple = Literal["bm25", "vector", "rrf"]
Stage = Literal["rescore", "two_levels", "named_pages", "metadata", "across_languages"]

SIMPLE_NAMES: tuple[Simple, ...] = ("bm25", "vector", "rrf")
STAGES: tuple[Stage, ...] = (
    "rescore",
    "two_levels",
    "named_pages",
    "metadata",
    "across_languages",
)

_ALL_STAGES_OFF: Mapping[str, object] = dict.fromkeys(STAGES, False)
_SIMPLE: Mapping[Simple, Mapping[str, object]] = {
    "bm25": {"recall_vector": 0, **_ALL_STAGES_OFF},
    "vector": {"recall_terms": 0, **_ALL_STAGES_OFF},
    "rrf": {"fusion": "rrf", **_ALL_STAGES_OFF},
}


def build_simple(shipped: RetrievalSettings, name: Simple) -> RetrievalSettings:
    """Return words alone, vectors alone, or the two joined by rank and nothing else."""
    return shipped.model_copy(update=dict(_SIMPLE[name]))


def turn_off(settings: RetrievalSettings, stages: Sequence[Stage]) -> RetrievalSettings:
    """Return the settings without these stages."""
    return settings.model_copy(update=dict.fromkeys(stages, False))


def name_variant(stages_off: Sequence[Stage]) -> str:
    """Name the shipped settings without these stages."""
    return " ".join((SHIPPED, *(f"no-{stage.replace('_', '-')}" for stage in stages_off)))


def build_ablations(
    shipped: RetrievalSettings, name: str = SHIPPED
) -> dict[str, RetrievalSettings]:
    """Return the settings first, then the simple pipelines and each stage left out.

    A stage that the settings do not use is not listed.
    """
    other_fusion = "rrf" if shipped.fusion == "score" else "score"
    return {
        name: shipped,
        **{name: build_simple(shipped, name) for name in SIMPLE_NAMES},
        **{
            f"without {stage}": turn_off(shipped, [stage])
            for stage in STAGES
            if getattr(shipped, stage)
        },
        f"{other_fusion} fusion": shipped.model_copy(update={"fusion": other_fusion}),
    }

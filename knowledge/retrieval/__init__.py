"""From a question to the evidence that answers it; every stage leaves a record."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from knowledge.documents import Hit, PassageId


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A section that was found, with the passages of it that matched.

    Attributes:
        hit: The section's best passage; a citation points to it.
        section_text: The whole section as Markdown, readable under the same rule as the hit.
        passages: All matched passages of the section, best first, `hit` included.
    """

    hit: Hit
    section_text: str
    passages: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sufficiency:
    """Whether the evidence is good enough to answer from.

    Attributes:
        confidence: Calibrated chance (0..1) that the evidence holds the answer.
        reasons: What spoke against it, in words for the trace.
    """

    is_enough: bool
    confidence: float
    features: Mapping[str, float]
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRecord:
    """What one stage saw: its name, how long it took and its best rows (passage id, score)."""

    stage: str
    took_ms: float
    rows: tuple[tuple[str, float], ...]
    note: str = ""


class Fate(StrEnum):
    """Why a passage is among the evidence, or is not.

    Kept = the first of its section. Same section = it goes with a kept one. Section limit = it was
    kept, its section came too late. Reranked = the cross-encoder put it below the cut. Below
    threshold = all of the evidence was judged to be too little.
    """

    KEPT = "kept"
    SAME_SECTION = "same_section"
    SECTION_LIMIT = "section_limit"
    BELOW_THRESHOLD = "below_threshold"
    CUT = "cut"
    RERANKED = "reranked"
    LOCKED = "locked"
    FUSION = "fusion"


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageFate:
    """One passage, what every stage gave it, and what became of it."""

    passage_id: PassageId
    fate: Fate
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The outcome of one search.

    Attributes:
        hits: Passages, best first.
        evidence: The hits gathered by section, best first.
        further: The best section of each of the next documents, best first: what they say may
            contradict the evidence.
        fates: What became of the passages that were found, best first.
        terms: The question's terms, rare ones with more weight (idf of the whole index).
    """

    question: str
    terms: Mapping[str, float]
    hits: tuple[Hit, ...]
    evidence: tuple[Evidence, ...]
    sufficiency: Sufficiency
    stages: tuple[StageRecord, ...]
    took_ms: float
    further: tuple[Evidence, ...] = ()
    fates: tuple[PassageFate, ...] = ()

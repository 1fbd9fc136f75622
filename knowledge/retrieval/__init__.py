"""From a question to the evidence that answers it; every stage leaves a record."""

from collections.abc import Mapping
from dataclasses import dataclass

from knowledge.documents import Hit


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The outcome of one search.

    Attributes:
        hits: Passages, best first.
        evidence: The hits gathered by section, best first.
        further: The best section of each of the next documents, best first: what they say may
            contradict the evidence.
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

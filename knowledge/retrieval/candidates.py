"""What the stages hand on: the question as the routes need it, and the candidates."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from knowledge.documents import Hit, PassageId
from knowledge.languages import Language
from knowledge.ledger_records import TermStatistics
from knowledge.retrieval import StageRecord
from knowledge.stores import Vector

ROWS_RECORDED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question, analysed.

    Attributes:
        language: None = languages are not told apart.
        vector: None with words only.
        statistics: Of the whole index, for the question's terms.
    """

    text: str
    language: Language | None
    terms: Mapping[str, float]
    codes: Sequence[str]
    vector: Vector | None
    statistics: TermStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Passages that may be shown, best first, with their sections.

    Attributes:
        sections: Section rows by the passage they belong to; lone passages have none.
    """

    hits: tuple[Hit, ...]
    sections: Mapping[PassageId, Hit] = field(default_factory=dict)

    def ordered(self, hits: Sequence[Hit]) -> "Candidates":
        """Return the same candidates in another order, with other scores."""
        return replace(self, hits=tuple(hits))

    def joined(self, others: "Candidates") -> "Candidates":
        """Return these and the others that are not among them."""
        known = {hit.passage_id for hit in self.hits}
        return Candidates(
            hits=(*self.hits, *(hit for hit in others.hits if hit.passage_id not in known)),
            sections={**others.sections, **self.sections},
        )


@dataclass(slots=True)
class StageLog:
    """Collects the records of one search."""

    records: list[StageRecord] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)
    since: float = field(default_factory=time.perf_counter)

    def note(self, stage: str, hits: Sequence[Hit] = (), note: str = "") -> None:
        """Record a stage that has just ended."""
        now = time.perf_counter()
        rows = tuple((str(hit.passage_id), hit.score) for hit in hits[:ROWS_RECORDED])
        self.records.append(
            StageRecord(stage=stage, took_ms=(now - self.since) * 1000, rows=rows, note=note)
        )
        self.since = now

    @property
    def took_ms(self) -> float:
        """Milliseconds since the search began."""
        return (time.perf_counter() - self.began) * 1000

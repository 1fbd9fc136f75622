"""Collects the steps of one question for its trace: times, scores, passage ids, never text."""

from collections.abc import Sequence

from pydantic import JsonValue

from knowledge.retrieval import Retrieval


class TraceSteps:
    """The steps so far, in order."""

    def __init__(self) -> None:
        self._steps: list[dict[str, JsonValue]] = []

    def note(
        self,
        step: str,
        *,
        took_ms: float | None = None,
        rows: Sequence[tuple[str, float]] = (),
        note: str = "",
    ) -> None:
        """Add a step.

        Args:
            step: What was done.
            took_ms: None = not timed on its own.
            rows: Passage ids with their scores.
            note: What a reader of the trace should know.
        """
        self._steps.append(
            {
                "step": step,
                "took_ms": None if took_ms is None else round(took_ms, 2),
                "rows": [[passage_id, round(score, 5)] for passage_id, score in rows],
                "note": note,
            }
        )

    def add_retrieval(self, retrieval: Retrieval, audience: str) -> None:
        """Add every stage of a search."""
        for stage in retrieval.stages:
            self.note(
                f"{stage.stage} ({audience})",
                took_ms=stage.took_ms,
                rows=stage.rows,
                note=stage.note,
            )
        judged = retrieval.sufficiency
        verdict = "enough" if judged.is_enough else "not enough"
        self.note(
            f"sufficiency ({audience})",
            note="; ".join((f"{verdict}, {judged.confidence:.2f}", *judged.reasons)),
        )

    def to_json(self) -> list[JsonValue]:
        """Return the steps as a trace keeps them."""
        return list(self._steps)

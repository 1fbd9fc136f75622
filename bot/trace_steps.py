"""Collects the steps of one question for its trace: times, scores, passage ids, never text."""

import time
from collections.abc import Sequence

from pydantic import JsonValue

from core.models.metering import Meter
from knowledge.retrieval import Retrieval

UNDERSTAND = "understand"
"""The step that tells how a question was understood, with the passages that rests on."""


class TraceSteps:
    """The steps so far, in order.

    Attributes:
        meter: Counts what models are used; what it counted since the step before goes to a step.
    """

    def __init__(self) -> None:
        self.meter = Meter()
        self._steps: list[dict[str, JsonValue]] = []
        self._began = time.perf_counter()

    def note(
        self,
        step: str,
        *,
        took_ms: float | None = None,
        rows: Sequence[tuple[str, float]] = (),
        note: str = "",
        is_ok: bool | None = None,
        ended_ms: float | None = None,
    ) -> None:
        """Add a step.

        Args:
            step: What was done.
            took_ms: None = not timed on its own.
            rows: Passage ids with their scores.
            note: What a reader of the trace should know.
            is_ok: Whether a tool did what it was called for; None = no tool.
            ended_ms: When it ended, from the start of the question; None = just now.
        """
        ended_ms = self._now_ms() if ended_ms is None else ended_ms
        entry: dict[str, JsonValue] = {
            "step": step,
            "took_ms": None if took_ms is None else round(took_ms, 2),
            "rows": [[passage_id, round(score, 5)] for passage_id, score in rows],
            "note": note,
            "at_ms": round(max(0.0, ended_ms - (took_ms or 0.0)), 2),
        }
        if is_ok is not None:
            entry["is_ok"] = is_ok
        used = self.meter.take_lap()
        if used.calls:
            entry["usage"] = {
                "calls": used.calls,
                "prompt_tokens": used.prompt_tokens,
                "completion_tokens": used.completion_tokens,
                "cost": used.cost,
            }
        self._steps.append(entry)

    def note_hidden(self, kinds: Sequence[str]) -> None:
        """Add what was not said, by its kinds; nothing when there are none."""
        if kinds:
            self.note("hidden", note=", ".join(kinds))

    def add_retrieval(self, retrieval: Retrieval, audience: str) -> None:
        """Add every stage of a search."""
        ended_ms = self._now_ms() - retrieval.took_ms
        for stage in retrieval.stages:
            ended_ms += stage.took_ms
            self.note(
                f"{stage.stage} ({audience})",
                took_ms=stage.took_ms,
                rows=stage.rows,
                note=stage.note,
                ended_ms=ended_ms,
            )
        judged = retrieval.sufficiency
        verdict = "enough" if judged.is_enough else "not enough"
        self.note(
            f"sufficiency ({audience})",
            note="; ".join((f"{verdict}, {judged.confidence:.2f}", *judged.reasons)),
        )
        self._steps[-1]["fates"] = [
            [one.passage_id, one.fate.value, dict(one.scores)] for one in retrieval.fates
        ]

    def _now_ms(self) -> float:
        return (time.perf_counter() - self._began) * 1000

    def to_json(self) -> list[JsonValue]:
        """Return the steps as a trace keeps them."""
        return list(self._steps)

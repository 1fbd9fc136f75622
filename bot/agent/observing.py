"""From a tool's outcome to what is kept of it: trimmed, and without what must not leave."""

from collections.abc import Callable, Sequence

from bot.agent.notebook import Observation
from bot.agent.tool_runs import RunOutcome, ToolRun
from bot.agent.tools import ToolResult
from bot.trace_steps import TraceSteps
from knowledge.access import ReadableClasses
from knowledge.retrieval import Evidence

PASSAGES_SHOWN = 3


def build_observation(
    run: ToolRun,
    outcome: RunOutcome,
    *,
    step: int,
    readable: ReadableClasses,
    is_kept: Callable[[Evidence], bool],
) -> Observation:
    """Keep what the model may be shown of an outcome.

    Args:
        run: What was called.
        outcome: What it gave.
        step: In which step.
        readable: What everybody who listens may read.
        is_kept: Tells evidence that the model must not be shown.
    """
    result = None if outcome.result is None else _hide_kept(outcome.result, is_kept)
    shown, for_all = choose_shown(result.evidence if result else (), readable)
    return Observation(
        step=step,
        call_id=run.call_id,
        tool=run.tool.name,
        arguments=run.arguments,
        result=result,
        error=outcome.error,
        text=result.text if result else "",
        evidence=shown,
        for_all=for_all,
        took_ms=outcome.took_ms,
    )


def choose_shown(
    evidence: Sequence[Evidence], readable: ReadableClasses
) -> tuple[tuple[Evidence, ...], tuple[Evidence, ...]]:
    """Return the passages of a result that are used, and those of them all listeners may read."""
    for_all: list[Evidence] = []
    alone: list[Evidence] = []
    for one in evidence:
        is_for_all = all(readable.admits(hit.access_no) for hit in (one.hit, *one.passages))
        (for_all if is_for_all else alone).append(one)
    return (*for_all[:PASSAGES_SHOWN], *alone[:PASSAGES_SHOWN]), tuple(for_all[:PASSAGES_SHOWN])


def note_observation(steps: TraceSteps, observation: Observation) -> None:
    """Write into the trace what a tool found, by ids, and how long it took."""
    result = observation.result
    notes = result.notes if result else (observation.error,)
    found = "" if observation.has_found or result is None else "found nothing"
    steps.note(
        f"tool: {observation.tool}",
        took_ms=observation.took_ms,
        rows=observation.rows,
        note="; ".join(filter(None, (found, *notes))),
        is_ok=result is not None,
    )


def _hide_kept(result: ToolResult, is_kept: Callable[[Evidence], bool]) -> ToolResult:
    """Leave out what must not be shown to the model, words of it included."""
    allowed = tuple(one for one in result.evidence if not is_kept(one))
    if len(allowed) == len(result.evidence):
        return result
    return ToolResult(
        text="",
        evidence=allowed,
        is_for_asker_alone=result.is_for_asker_alone,
        has_found=bool(allowed),
        notes=(*result.notes, "left out what must not leave for this model"),
    )

"""From an answered question to the trace that is kept of it."""

from collections.abc import Sequence
from datetime import datetime

import structlog

from bot.memory.recollection import name_asker
from bot.trace import Trace, TraceStore
from bot.trace_steps import TraceSteps
from core.messages import Answer
from knowledge.documents import Hit
from knowledge.readers import Reader

DIRECT = "dm"

_log = structlog.get_logger(__name__)


def build_trace(
    answer: Answer,
    question: str,
    reader: Reader,
    steps: TraceSteps,
    *,
    cited: Sequence[Hit],
    at: datetime,
) -> Trace:
    """Return the trace of an answer.

    Args:
        cited: What the answer, or its private part, rests on.
        at: When it was given.
    """
    used = steps.meter.usage
    took_ms = round(answer.took_ms, 1)
    return Trace(
        trace_id=answer.trace_id,
        at=at,
        asker=None if reader.is_operator else name_asker(reader),
        place=reader.channel.channel_id if reader.channel else DIRECT,
        question=question,
        outcome=answer.outcome,
        payload={
            "steps": steps.to_json(),
            "took_ms": took_ms,
            "cited": list(dict.fromkeys(str(hit.passage_id) for hit in cited)),
        },
        route=answer.route,
        took_ms=took_ms,
        tokens=used.tokens,
        cost=used.cost,
    )


async def keep_trace(store: TraceStore, trace: Trace) -> None:
    """Keep a trace; an answer is given even when that fails."""
    try:
        await store.save(trace)
    except Exception:  # noqa: BLE001 - every question ends in a reply
        _log.exception("trace_not_kept", trace_id=trace.trace_id)

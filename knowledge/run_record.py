"""How a run is recorded, whatever it does and however it ends."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from core.clock import Clock
from core.errors import ZhixingError
from core.leases import LeaseLostError
from knowledge.runs import RunId, RunKind, RunLog, RunStatus, StartedBy
from knowledge.source import CountedSource, Source


@dataclass(slots=True, kw_only=True)
class RunRecord:
    """What a run has to say of itself by its end.

    Attributes:
        counts: What it has done, by name.
        is_partial: Something failed, the rest is done.
        troubles: What broke off while the rest went on, in words for operators.
    """

    run_id: RunId
    counts: Mapping[str, int] = field(default_factory=dict)
    is_partial: bool = False
    troubles: Sequence[str] = ()


class CallMeter:
    """Counts the calls that a run makes to its source, from now on."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._before = self._total()

    def counts(self) -> dict[str, int]:
        """Return the number by its name in the run; nothing for a source that makes no calls."""
        if not isinstance(self._source, CountedSource):
            return {}
        return {"api_calls": self._total() - self._before}

    def _total(self) -> int:
        source = self._source
        return sum(source.calls.values()) if isinstance(source, CountedSource) else 0


@asynccontextmanager
async def record_run(
    runs: RunLog, source: str, clock: Clock, *, kind: RunKind, started_by: StartedBy
) -> AsyncIterator[RunRecord]:
    """Record what happens in the block as a run of the source, its error as the run's."""
    run_id = await runs.start_run(source, clock.now(), kind=kind, started_by=started_by)
    record = RunRecord(run_id=run_id)
    error, status = "stopped before its end", RunStatus.FAILED
    try:
        yield record
        is_partial = record.is_partial or bool(record.troubles)
        error, status = "; ".join(record.troubles), RunStatus.DONE
        if is_partial:
            status = RunStatus.PARTIAL
    except ZhixingError as problem:
        error = str(problem)
        raise
    except Exception as problem:
        error = f"failed unexpectedly: {problem!r}"
        raise
    finally:
        # Who lost the lease may not write; the new owner marks the run as broken off.
        with suppress(LeaseLostError):
            await runs.end_run(run_id, status, record.counts, clock.now(), error=error)

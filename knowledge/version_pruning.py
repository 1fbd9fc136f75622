"""Old versions go: beyond a number, and replaced longer ago than so many days."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import pairwise

from core.tables import chunked
from knowledge.ingest_batch import IngestParts, settle
from knowledge.run_logs import RunLogs
from knowledge.run_record import record_run
from knowledge.runs import RunKind, StartedBy

DOCUMENTS_AT_ONCE = 100


async def prune_versions(
    source: str,
    parts: IngestParts,
    logs: RunLogs,
    *,
    history_days: int,
    started_by: StartedBy = StartedBy.PERSON,
) -> int:
    """Drop a source's old versions, and runs older than they are remembered.

    Args:
        source: Its name.
        parts: With a writer that is fenced by the source's lease.
        logs: Fenced alike.
        history_days: For how long runs are remembered.
        started_by: Who wanted it, for the history of runs.

    Returns:
        How many versions were dropped.
    """
    now = parts.clock.now()
    async with record_run(
        logs.runs, source, parts.clock, kind=RunKind.PRUNING, started_by=started_by
    ) as record:
        moments = await parts.ledger.load_version_moments(source)
        old = {
            document_id: numbers
            for document_id, one in moments.items()
            if (
                numbers := find_old_versions(
                    one,
                    now=now,
                    kept=parts.ingest.versions_kept,
                    days=parts.ingest.versions_days,
                )
            )
        }
        for some in chunked(sorted(old), DOCUMENTS_AT_ONCE):
            await settle(parts, await parts.writer.drop_versions({one: old[one] for one in some}))
        # Of deleted pages too: their text is to be gone from the files within a day.
        await parts.store.purge()
        dropped = sum(map(len, old.values()))
        runs = await logs.runs.drop_old_runs(source, now - timedelta(days=history_days))
        record.counts = {"versions": dropped, "documents": len(old), "runs": runs}
    return dropped


def find_old_versions(
    moments: Mapping[int, datetime], *, now: datetime, kept: int, days: int
) -> list[int]:
    """Return the versions of one document that are not kept; never the one in force. Pure.

    Args:
        moments: When each version came into force.
        now: Today.
        kept: How many versions are kept, the one in force included.
        days: How long a version is kept after another one has replaced it; 0 = without limit.
    """
    numbers = sorted(moments)
    cut = now - timedelta(days=days)
    return [
        number
        for age, (number, after) in enumerate(pairwise(numbers))
        if len(numbers) - age > kept or (days and moments[after] < cut)
    ]

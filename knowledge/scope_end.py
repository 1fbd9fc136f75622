"""What follows from a scope's complete listing: deletions, holds, and the proof of completeness."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from datetime import datetime

from knowledge.access import OPERATOR
from knowledge.completeness import ScopeCount, count_scope
from knowledge.deletions import Disappearance, judge_disappearance
from knowledge.documents import DocumentId, Status
from knowledge.holds import Hold
from knowledge.ingest_batch import IngestParts
from knowledge.run_logs import RunLogs
from knowledge.source import KnownDocument
from knowledge.stores import PassageFilter

_EVERY_PASSAGE = PassageFilter(access=OPERATOR, any_time=True, statuses=frozenset(Status))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedScope:
    """A scope whose listing has ended well.

    Attributes:
        seen: Documents that this run has seen there.
        resumed_since: When the first of the runs began that this one continues; None = it
            continues none. What those have seen was listed as well.
    """

    source: str
    scope: str
    seen: Set[DocumentId]
    resumed_since: datetime | None


class ScopeEnd:
    """Decides, for one source and run, what a listing without some documents means."""

    def __init__(self, parts: IngestParts, logs: RunLogs, *, accepts_deletions: bool) -> None:
        self._parts = parts
        self._logs = logs
        self._accepts = accepts_deletions

    async def judge(
        self, listed: ListedScope, known: Mapping[DocumentId, KnownDocument]
    ) -> tuple[Disappearance, Set[DocumentId]]:
        """Compare the listing with the ledger, and raise or end the scope's hold.

        Returns:
            What is missing and whether it is held, and everything that was listed.
        """
        seen = listed.seen | await self._find_seen_before(listed)
        await self._clear_stale_failures(listed, seen)
        ours = [key for key, one in known.items() if one.scope == listed.scope]
        verdict = judge_disappearance(
            listed.scope, ours, seen, error="", settings=self._parts.ingest
        )
        if verdict.is_held and await self._is_accepted(listed, verdict.missing):
            verdict = replace(verdict, is_held=False, reason="")
        if verdict.is_held:
            await self._hold(listed, verdict)
        return verdict, seen

    async def release(self, listed: ListedScope) -> None:
        """End the scope's hold: what was missing is back, or has been deleted."""
        holds = await self._logs.holds.load_holds(listed.source)
        if any(hold.scope == listed.scope for hold in holds):
            await self._logs.holds.release_hold(listed.source, listed.scope)

    async def count(self, listed: ListedScope, seen: Set[DocumentId]) -> ScopeCount:
        """Count source and index, document by document and row by row."""
        indexed = await self._parts.ledger.load_ids(listed.source, listed.scope)
        failures = await self._logs.failures.load_failures(listed.source)
        where = replace(
            _EVERY_PASSAGE, sources=frozenset({listed.source}), scopes=frozenset({listed.scope})
        )
        rows = await self._parts.ledger.count_passages(listed.source, listed.scope)
        return count_scope(
            listed.source,
            listed.scope,
            self._parts.clock.now(),
            listed=seen,
            indexed=indexed,
            reasons={one.last.document_id: one.last.reason for one in failures},
            rows_owed=abs(rows - await self._parts.store.count(where)),
        )

    async def _find_seen_before(self, listed: ListedScope) -> Set[DocumentId]:
        """Return what the broken-off runs that this one continues have seen of the scope."""
        since = listed.resumed_since
        if since is None:
            return frozenset()
        checked = await self._parts.ledger.load_ids(
            listed.source, listed.scope, checked_since=since
        )
        failures = await self._logs.failures.load_failures(listed.source)
        failed = {
            one.last.document_id
            for one in failures
            if one.last.scope == listed.scope and one.last.at >= since
        }
        return frozenset(checked) | failed

    async def _is_accepted(self, listed: ListedScope, missing: frozenset[DocumentId]) -> bool:
        """Tell whether a person agreed: now, or earlier to at least these documents."""
        if self._accepts:
            return True
        holds = await self._logs.holds.load_holds(listed.source)
        return any(
            hold.scope == listed.scope and hold.accepted_at and missing <= set(hold.missing)
            for hold in holds
        )

    async def _hold(self, listed: ListedScope, verdict: Disappearance) -> None:
        await self._logs.holds.raise_hold(
            Hold(
                source=listed.source,
                scope=listed.scope,
                raised_at=self._parts.clock.now(),
                missing=tuple(sorted(verdict.missing)),
                reason=verdict.reason,
            )
        )

    async def _clear_stale_failures(self, listed: ListedScope, seen: Set[DocumentId]) -> None:
        """Forget failures of documents that the source does not even list any more."""
        recorded = await self._logs.failures.load_failures(listed.source)
        gone = [
            one.last.document_id
            for one in recorded
            if one.last.scope == listed.scope and one.last.document_id not in seen
        ]
        if gone:
            await self._logs.failures.clear_failures(gone)

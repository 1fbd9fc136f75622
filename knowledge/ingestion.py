"""A sync run: what a source says has changed, brought in batch by batch, resumable at any point."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog

from core.errors import PermanentError, TransientError, ZhixingError
from knowledge.access import AccessRule
from knowledge.deletions import judge_disappearance
from knowledge.documents import Document, DocumentId
from knowledge.failures import Failure, FailureLog
from knowledge.holds import Hold, HoldLog
from knowledge.ingest_batch import (
    IngestParts,
    change_rules,
    remove_documents,
    settle,
    store_documents,
)
from knowledge.progress import NoProgress, Progress, build_report
from knowledge.runs import RunLog, RunStatus
from knowledge.source import (
    AccessChanged,
    Change,
    Checkpoint,
    Failed,
    Gone,
    KnownDocument,
    ScopeListed,
    Source,
    Unchanged,
    Upserted,
)
from knowledge.sync_report import SyncReport

CHECKED_AT_ONCE = 2_000
READ_AHEAD = 20_000
RETRY_AFTER = timedelta(minutes=10)

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncLogs:
    """Where a run writes what happened."""

    runs: RunLog
    failures: FailureLog
    holds: HoldLog


class SyncRun:
    """One run over one source. Use once."""

    def __init__(
        self,
        source: Source,
        parts: IngestParts,
        logs: SyncLogs,
        *,
        progress: Progress | None = None,
        accept_deletions: bool = False,
    ) -> None:
        self._source = source
        self._parts = parts
        self._logs = logs
        self._progress = progress or NoProgress()
        self._accepts_deletions = accept_deletions
        self._report = SyncReport()
        self._known: dict[DocumentId, KnownDocument] = {}
        self._listed: set[DocumentId] = set()
        self._pending: list[Upserted] = []
        self._confirmed: dict[DocumentId, str] = {}
        self._rules: dict[DocumentId, AccessRule] = {}
        self._failed: dict[DocumentId, Failure] = {}
        self._listing: _Listing | None = None
        self._started = time.monotonic()

    async def run(self) -> SyncReport:
        """Bring the index in step with the source.

        One document that fails is recorded with its reason and never stops the run.

        Raises:
            SettingsError: The source is set up wrongly.
            TransientError: The source stopped answering; the next run resumes.
        """
        now = self._parts.clock.now
        await recover(self._parts)
        run_id = await self._logs.runs.start_run(self._source.name, now())
        error = "stopped before its end"
        status = RunStatus.FAILED
        try:
            await self._follow()
            status = RunStatus.PARTIAL if self._report.failures else RunStatus.DONE
            error = ""
        except ZhixingError as problem:
            error = str(problem)
            raise
        finally:
            self._report.seconds = time.monotonic() - self._started
            await self._logs.runs.end_run(run_id, status, self._report.counts(), now(), error=error)
        return self._report

    async def _follow(self) -> None:
        self._known = await self._parts.ledger.known_documents(self._source.name)
        recorded = await self._logs.failures.load_failures(self._source.name)
        self._failed = {one.last.document_id: one.last for one in recorded}
        cursor = await self._logs.runs.load_cursor(self._source.name)
        self._listing = _Listing(self._source.discover(cursor, self._known))
        try:
            async for change in self._listing.changes():
                await self._take(change)
                if len(self._pending) >= self._parts.ingest.batch_documents:
                    await self._flush()
            await self._flush()
        finally:
            await self._listing.close()

    async def _take(self, change: Change) -> None:
        match change:
            case Upserted():
                self._see(change.document_id)
                self._schedule(change)
            case Unchanged():
                self._see(change.document_id)
                self._report.unchanged += 1
                self._confirmed[change.document_id] = change.token
                if len(self._confirmed) >= CHECKED_AT_ONCE:
                    await self._confirm()
            case AccessChanged():
                self._rules[change.document_id] = change.rule
            case Failed():
                self._see(change.document_id)
                await self._fail(change, change.reason, is_permanent=True)
            case Gone():
                await self._flush()
                await self._remove([change.document_id])
            case ScopeListed():
                await self._flush()
                await self._end_scope(change)
            case Checkpoint():
                await self._flush()
                await self._logs.runs.save_cursor(self._source.name, change.cursor)

    def _schedule(self, change: Upserted) -> None:
        """Take a document on, unless it has failed before and would fail again."""
        failed = self._failed.get(change.document_id)
        if failed and failed.stands(change.token, self._parts.clock.now()):
            self._report.failures[change.document_id] = failed.reason
        else:
            self._pending.append(change)

    def _see(self, document_id: DocumentId) -> None:
        self._listed.add(document_id)
        self._report.seen += 1

    async def _flush(self) -> None:
        """Do everything taken so far: rules first, so that they hold even if fetching fails."""
        if self._rules:
            rules, self._rules = self._rules, {}
            for document_id in await change_rules(self._parts, rules):
                await self._read_again(document_id)
        pending, self._pending = self._pending, []
        if pending:
            await self._store(await self._fetch_all(pending))
        await self._confirm()
        self._show()

    async def _read_again(self, document_id: DocumentId) -> None:
        record = await self._parts.ledger.find_document(document_id)
        taken = {change.document_id for change in self._pending}
        if record and record.source == self._source.name and document_id not in taken:
            self._pending.append(
                Upserted(document_id=document_id, scope=record.scope, locator=record.locator)
            )

    async def _fetch_all(self, changes: Sequence[Upserted]) -> list[Document]:
        limit = asyncio.Semaphore(self._parts.ingest.concurrent_fetches)

        async def fetch(change: Upserted) -> Document | None:
            async with limit:
                return await self._fetch(change)

        fetched = await asyncio.gather(*(fetch(change) for change in changes))
        return [document for document in fetched if document is not None]

    async def _fetch(self, change: Upserted) -> Document | None:
        try:
            return await self._source.fetch(change)
        except PermanentError as error:
            await self._fail(change, str(error), is_permanent=True)
        except TransientError as error:
            await self._fail(change, str(error), is_permanent=False)
        except Exception as error:  # noqa: BLE001 - one document must never stop the run
            _log.exception("fetch_failed", document_id=change.document_id)
            reason = f"reading {change.locator!r} failed unexpectedly: {error!r}"
            await self._fail(change, reason, is_permanent=True)
        return None

    async def _store(self, documents: Sequence[Document]) -> None:
        try:
            self._report.count(await store_documents(self._parts, documents))
        except (TransientError, ZhixingError):
            raise
        except Exception:
            if len(documents) == 1:
                raise
            _log.exception("batch_failed", documents=len(documents))
            await self._store_one_by_one(documents)

    async def _store_one_by_one(self, documents: Sequence[Document]) -> None:
        """Find the document that breaks a batch, record it, and bring in the rest."""
        for document in documents:
            try:
                self._report.count(await store_documents(self._parts, [document]))
            except ZhixingError:
                raise
            except Exception as error:  # noqa: BLE001 - one document must never stop the run
                _log.exception("document_failed", document_id=document.document_id)
                change = Upserted(
                    document_id=document.document_id,
                    scope=document.scope,
                    locator=document.locator,
                )
                reason = f"{document.locator!r} could not be indexed: {error!r}"
                await self._fail(change, reason, is_permanent=True)

    async def _fail(self, change: Upserted | Failed, reason: str, *, is_permanent: bool) -> None:
        at = self._parts.clock.now()
        known = self._known.get(change.document_id)
        if isinstance(change, Upserted):
            locator, token = change.locator, change.token
        else:
            locator, token = known.locator if known else change.document_id, ""
        self._report.failures[change.document_id] = reason
        await self._logs.failures.record_failures(
            [
                Failure(
                    document_id=change.document_id,
                    source=self._source.name,
                    scope=change.scope,
                    locator=locator,
                    token=token,
                    reason=reason,
                    is_permanent=is_permanent,
                    at=at,
                    next_try_at=None if is_permanent else at + RETRY_AFTER,
                )
            ]
        )

    async def _confirm(self) -> None:
        confirmed, self._confirmed = self._confirmed, {}
        if confirmed:
            tokens = {key: token for key, token in confirmed.items() if token}
            await self._parts.writer.mark_checked(
                list(confirmed), self._parts.clock.now(), tokens=tokens
            )

    async def _end_scope(self, listed: ScopeListed) -> None:
        if listed.error:
            self._report.alarms.append(f"listing {listed.scope!r} failed: {listed.error}")
            return
        await self._clear_stale_failures(listed.scope)
        ours = [key for key, known in self._known.items() if known.scope == listed.scope]
        verdict = judge_disappearance(
            listed.scope, ours, self._listed, error=listed.error, settings=self._parts.ingest
        )
        if verdict.is_held and not await self._is_accepted(listed.scope, verdict.missing):
            await self._hold(listed.scope, verdict.missing, verdict.reason)
            return
        await self._remove(sorted(verdict.missing))
        await self._release(listed.scope)

    async def _is_accepted(self, scope: str, missing: frozenset[DocumentId]) -> bool:
        """Tell whether a person agreed: now, or earlier to at least these documents."""
        if self._accepts_deletions:
            return True
        holds = await self._logs.holds.load_holds(self._source.name)
        return any(
            hold.scope == scope and hold.accepted_at and missing <= set(hold.missing)
            for hold in holds
        )

    async def _hold(self, scope: str, missing: frozenset[DocumentId], reason: str) -> None:
        self._report.held += len(missing)
        self._report.alarms.append(reason)
        await self._logs.holds.raise_hold(
            Hold(
                source=self._source.name,
                scope=scope,
                raised_at=self._parts.clock.now(),
                missing=tuple(sorted(missing)),
                reason=reason,
            )
        )

    async def _release(self, scope: str) -> None:
        holds = await self._logs.holds.load_holds(self._source.name)
        if any(hold.scope == scope for hold in holds):
            await self._logs.holds.release_hold(self._source.name, scope)

    async def _clear_stale_failures(self, scope: str) -> None:
        """Forget failures of documents that the source does not even list any more."""
        recorded = await self._logs.failures.load_failures(self._source.name)
        gone = [
            one.last.document_id
            for one in recorded
            if one.last.scope == scope and one.last.document_id not in self._listed
        ]
        if gone:
            await self._logs.failures.clear_failures(gone)

    async def _remove(self, ids: Sequence[DocumentId]) -> None:
        ours = [one for one in ids if one in self._known]
        if ours:
            await remove_documents(self._parts, ours)
            await self._parts.store.optimize()
            self._report.removed += len(ours)

    def _show(self) -> None:
        self._progress.update(
            build_report(
                self._source.name,
                done=self._report.seen,
                total=self._listing.total if self._listing else None,
                failed=len(self._report.failures),
                elapsed_s=time.monotonic() - self._started,
            )
        )


class _Listing:
    """Reads a source's changes ahead of their processing, which tells early how many there are."""

    def __init__(self, changes: AsyncIterator[Change]) -> None:
        self._queue: asyncio.Queue[Change | None] = asyncio.Queue(maxsize=READ_AHEAD)
        self._count = 0
        self._reader = asyncio.create_task(self._read(changes))

    @property
    def total(self) -> int | None:
        """Return how many documents the source listed; None while it is still listing."""
        return self._count if self._reader.done() else None

    async def changes(self) -> AsyncIterator[Change]:
        """Yield the changes in order; an error of the listing is raised in its place."""
        while (change := await self._queue.get()) is not None:
            yield change
        await self._reader

    async def close(self) -> None:
        """Stop reading."""
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)

    async def _read(self, changes: AsyncIterator[Change]) -> None:
        try:
            async for change in changes:
                self._count += isinstance(change, Upserted | Unchanged | Failed)
                await self._queue.put(change)
        except ZhixingError:
            await self._queue.put(None)
            raise
        await self._queue.put(None)


async def recover(parts: IngestParts) -> None:
    """Finish what a killed run left half done: remove unknown rows, repeat owed operations."""
    unfinished = await parts.writer.load_unfinished()
    if unfinished.passage_ids:
        await parts.store.delete_passages(unfinished.passage_ids)
        await parts.writer.clear_intents(unfinished.passage_ids)
    await settle(parts, unfinished.operations)
    if unfinished.passage_ids or unfinished.operations:
        await parts.store.optimize()

"""A sync run: what a source says has changed, brought in batch by batch, resumable at any point."""

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog

from core.errors import PermanentError, TransientError, ZhixingError
from knowledge.access import AccessRule
from knowledge.documents import Document, DocumentId
from knowledge.failures import Failure, FailureRecord
from knowledge.forgotten import Forgotten, leave_out_forgotten
from knowledge.ingest_batch import (
    IngestParts,
    change_rules,
    remove_documents,
    settle,
    store_documents,
)
from knowledge.listing import Listing, SeenDocuments
from knowledge.progress import NoProgress, Progress, build_report
from knowledge.run_logs import RunLogs
from knowledge.run_record import CallMeter, record_run
from knowledge.runs import RunId, RunKind, StartedBy
from knowledge.scope_end import ListedScope, ScopeEnd
from knowledge.source import (
    AccessChanged,
    Change,
    Checkpoint,
    Cursor,
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
# A page that goes on failing is tried again after 10, 20, 40 minutes and so on, to 21 hours.
RETRY_AFTER = timedelta(minutes=10)
MOST_DOUBLINGS = 7
FORGOTTEN = "forgotten with `zhixing forget`; it comes back once it changes at its source"

_log = structlog.get_logger()


class SyncRun:
    """One run over one source. Use once."""

    def __init__(
        self,
        source: Source,
        parts: IngestParts,
        logs: RunLogs,
        *,
        progress: Progress | None = None,
        accept_deletions: bool = False,
        kind: RunKind = RunKind.SYNC,
        started_by: StartedBy = StartedBy.PERSON,
    ) -> None:
        """Prepare.

        Args:
            source: What to bring in.
            parts: With a writer that is fenced by the source's lease.
            logs: Fenced alike.
            progress: Who shows how far it is; None = nobody.
            accept_deletions: Believe every disappearance; a person has agreed.
            kind: A reconciliation lists everything again, wherever the cursor stands.
            started_by: Who wanted it, for the history of runs.
        """
        self._source = source
        self._parts = parts
        self._logs = logs
        self._progress = progress or NoProgress()
        self._kind = kind
        self._started_by = started_by
        self._scope_end = ScopeEnd(parts, logs, accepts_deletions=accept_deletions)
        self._report = SyncReport()
        self._known: dict[DocumentId, KnownDocument] = {}
        self._seen = SeenDocuments()
        self._pending: list[Upserted] = []
        self._confirmed: dict[DocumentId, str] = {}
        self._broken_off: list[str] = []
        self._rules: dict[DocumentId, AccessRule] = {}
        self._failed: dict[DocumentId, FailureRecord] = {}
        self._forgotten: dict[DocumentId, list[Forgotten]] = {}
        self._resumed_since: datetime | None = None
        self._run_id = RunId(0)
        self._listing: Listing | None = None
        self._calls = CallMeter(source)
        self._started = time.monotonic()

    async def run(self) -> SyncReport:
        """Bring the index in step with the source.

        One document that fails is recorded with its reason and never stops the run.

        Raises:
            SettingsError: The source is set up wrongly.
            TransientError: The source stopped answering, or another process has taken the source
                over; the next run resumes.
        """
        await recover(self._parts)
        async with record_run(
            self._logs.runs,
            self._source.name,
            self._parts.clock,
            kind=self._kind,
            started_by=self._started_by,
        ) as record:
            self._run_id = record.run_id
            try:
                await self._follow()
            finally:
                self._report.seconds = time.monotonic() - self._started
                record.counts = {**self._report.counts(), **self._calls.counts()}
                record.is_partial = bool(self._report.failures)
                record.troubles = self._broken_off
        return self._report

    async def _follow(self) -> None:
        name, now = self._source.name, self._parts.clock.now()
        self._known = await self._parts.ledger.known_documents(name)
        recorded = await self._logs.failures.load_failures(name)
        self._failed = {one.last.document_id: one for one in recorded}
        self._forgotten = await self._logs.forgotten.load()
        cursor = await self._choose_cursor(now)
        self._listing = Listing(self._source.discover(cursor, self._known))
        try:
            async for change in self._listing.changes():
                await self._take(change)
                if len(self._pending) >= self._parts.ingest.batch_documents:
                    await self._flush()
            await self._take_owed(now)
            await self._flush()
            await self._parts.store.optimize()
        finally:
            await self._listing.close()
        await self._logs.runs.end_listing(name)

    async def _choose_cursor(self, now: datetime) -> Cursor:
        """Return where to resume; a reconciliation that was broken off goes on where it stopped."""
        name, runs = self._source.name, self._logs.runs
        is_afresh = False
        if self._kind is RunKind.RECONCILIATION:
            last = await runs.find_last_content_run(name, before=self._run_id)
            is_afresh = last is None or not (last.kind is self._kind and last.is_broken)
        self._resumed_since = await runs.begin_listing(name, now, is_afresh=is_afresh)
        return await runs.load_cursor(name)

    async def _take_owed(self, now: datetime) -> None:
        """Read what the listing did not name: due failures, and pages whose text is owed anew."""
        due = await self._logs.failures.load_failures(self._source.name, due_at=now)
        owed: list[Failure | KnownDocument] = [one.last for one in due]
        owed += [known for known in self._known.values() if not known.token]
        self._pending += [
            Upserted(
                document_id=one.document_id, scope=one.scope, locator=one.locator, token=one.token
            )
            for one in owed
            if one.document_id not in self._seen
        ]

    async def _take(self, change: Change) -> None:
        match change:
            case Upserted():
                self._see(change)
                self._schedule(change)
            case Unchanged():
                self._see(change)
                self._report.unchanged += 1
                self._confirmed[change.document_id] = change.token
                if len(self._confirmed) >= CHECKED_AT_ONCE:
                    await self._confirm()
            case AccessChanged():
                self._rules[change.document_id] = change.rule
            case Failed():
                self._see(change)
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
        if failed and failed.last.stands(change.token, self._parts.clock.now()):
            self._report.failures[change.document_id] = failed.last.reason
        else:
            self._pending.append(change)

    def _see(self, change: Upserted | Unchanged | Failed) -> None:
        self._seen.add(change.scope, change.document_id)
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
        return [
            document
            for change, one in zip(changes, fetched, strict=True)
            if one is not None and (document := await self._leave_out(change, one))
        ]

    async def _leave_out(self, change: Upserted, document: Document) -> Document | None:
        kept = leave_out_forgotten(document, self._forgotten)
        if kept is None:
            await self._fail(change, FORGOTTEN, is_permanent=True)
        return kept

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
        before = self._failed.get(change.document_id)
        wait = RETRY_AFTER * 2 ** min(before.attempts if before else 0, MOST_DOUBLINGS)
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
                    next_try_at=None if is_permanent else at + wait,
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

    async def _end_scope(self, ended: ScopeListed) -> None:
        if ended.error:
            self._broken_off.append(f"listing {ended.scope!r} failed: {ended.error}")
            self._report.alarms.append(self._broken_off[-1])
            return
        listed = ListedScope(
            source=self._source.name,
            scope=ended.scope,
            seen=self._seen.of(ended.scope),
            resumed_since=self._resumed_since,
        )
        verdict, seen = await self._scope_end.judge(listed, self._known)
        if verdict.is_held:
            self._report.held += len(verdict.missing)
            self._report.alarms.append(verdict.reason)
        else:
            await self._remove(sorted(verdict.missing))
            await self._scope_end.release(listed)
        count = await self._scope_end.count(listed, seen)
        await self._logs.completeness.save(self._run_id, count)

    async def _remove(self, ids: Sequence[DocumentId]) -> None:
        ours = [one for one in ids if one in self._known]
        if ours:
            await remove_documents(self._parts, ours)
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


async def recover(parts: IngestParts) -> None:
    """Finish what a killed run left half done: remove unknown rows, repeat owed operations."""
    unfinished = await parts.writer.load_unfinished()
    if unfinished.passage_ids:
        await parts.store.delete_passages(unfinished.passage_ids)
        await parts.writer.clear_intents(unfinished.passage_ids)
    await settle(parts, unfinished.operations)
    if unfinished.passage_ids or unfinished.operations:
        await parts.store.optimize()

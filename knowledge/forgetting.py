"""Forgetting on purpose: a page, or one version of it, out of everything that was made from it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from knowledge.chunking import build_indexed_text
from knowledge.documents import Hit, PassageId
from knowledge.forgotten import WHOLE_PAGE, Forgotten, describe_state
from knowledge.ingest_batch import EVERY_ROW, IngestParts, settle
from knowledge.ledger_records import DocumentRecord, IndexRow, TermDelta, VersionRecord
from knowledge.run_logs import RunLogs
from knowledge.run_record import record_run
from knowledge.runs import RunKind, StartedBy
from knowledge.stores import Level

ROWS_AT_MOST = 100_000

ForgetPassages = Callable[[Sequence[PassageId]], Awaitable[int]]
"""Drops what a part of the product keeps about passages; returns how many of its things went."""


@runtime_checkable
class ForgetfulEmbedder(Protocol):
    """An embedder that keeps something of the texts it has read."""

    async def forget_passages(self, texts: Sequence[str]) -> None:
        """Remove everything derived from the texts."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport:
    """What went.

    Attributes:
        versions: How many versions of the page.
        rows: Rows of the index, sections too, and those in which other pages show the page's text.
        vectors: Texts whose vectors were taken out of the cache.
        memories: By name, what else remembered those rows.
    """

    versions: int
    rows: int
    vectors: int
    memories: dict[str, int]


class Forgetting:
    """Purges ledger, index, vector cache and whatever else remembers.

    Args:
        parts: With a writer that is fenced by the source's lease.
        logs: Fenced alike; the history of runs says that something was forgotten, not what it was.
        memories: What other packages keep about passages, by name.
    """

    def __init__(
        self, parts: IngestParts, logs: RunLogs, *, memories: dict[str, ForgetPassages]
    ) -> None:
        self._parts = parts
        self._logs = logs
        self._memories = memories

    async def forget_page(self, page: DocumentRecord) -> ForgetReport:
        """Forget a page with its history; it stays away until it changes at its source."""
        ledger = self._parts.ledger
        own = (await ledger.load_rows([page.document_id])).get(page.document_id, [])
        borrowed = await ledger.load_rows_including(page.document_id)
        versions = await ledger.load_versions(page.document_id)
        rows = [*own, *borrowed]
        hits = await self._load_hits(rows)
        in_force = {row.passage_id for row in rows if row.valid_to is None}
        terms = [hit.terms for hit in hits[Level.PASSAGE] if hit.passage_id in in_force]

        async def forget() -> None:
            forgotten = replace(
                self._mark(page, WHOLE_PAGE, versions[-1]),
                state=describe_state(
                    content_hash=page.content_hash, number=page.version_number, token=page.token
                ),
            )
            entries = await self._parts.writer.delete_documents(
                [page.document_id],
                terms=TermDelta.of((), terms),
                forgotten=[forgotten],
                borrowed=[row.passage_id for row in borrowed],
            )
            await settle(self._parts, entries)

        return await self._forget(page, rows, hits, forget, versions=len(versions))

    async def forget_version(self, page: DocumentRecord, version: VersionRecord) -> ForgetReport:
        """Forget one former version, and the text that stood in no other one that is kept.

        Raises:
            SettingsError: It is the version in force.
        """
        ledger, key = self._parts.ledger, page.document_id
        before = (await ledger.load_rows([key])).get(key, [])
        hits = await self._load_hits([row for row in before if row.valid_to is not None])
        dropped: list[IndexRow] = []

        async def forget() -> None:
            entries = await self._parts.writer.drop_versions(
                {key: [version.number]}, forgotten=[self._mark(page, version.number, version)]
            )
            await settle(self._parts, entries)
            left = {row.passage_id for row in (await ledger.load_rows([key])).get(key, [])}
            dropped.extend(row for row in before if row.passage_id not in left)

        return await self._forget(page, dropped, hits, forget, versions=1)

    async def _forget(
        self,
        page: DocumentRecord,
        rows: Sequence[IndexRow],
        hits: dict[Level, list[Hit]],
        forget: Callable[[], Awaitable[None]],
        *,
        versions: int,
    ) -> ForgetReport:
        """Forget and record it. `rows` may be filled by `forget`."""
        async with record_run(
            self._logs.runs,
            page.source,
            self._parts.clock,
            kind=RunKind.FORGETTING,
            started_by=StartedBy.PERSON,
        ) as record:
            await forget()
            await self._parts.store.purge(with_other_shapes=True)
            ids = {row.passage_id for row in rows}
            gone = [hit for some in hits.values() for hit in some if hit.passage_id in ids]
            report = ForgetReport(
                versions=versions,
                rows=len(ids),
                vectors=await self._forget_vectors(page, gone),
                memories={
                    name: await forget_in(sorted(ids)) for name, forget_in in self._memories.items()
                },
            )
            record.counts = {"versions": versions, "rows": len(ids), **report.memories}
            await self._parts.writer.purge_files()
        return report

    async def _load_hits(self, rows: Sequence[IndexRow]) -> dict[Level, list[Hit]]:
        ids = {row.passage_id for row in rows}
        found: dict[Level, list[Hit]] = {level: [] for level in Level}
        for level in Level:
            where = replace(
                EVERY_ROW, level=level, documents=frozenset(row.document_id for row in rows)
            )
            if ids:
                hits = await self._parts.store.list_hits(where, limit=ROWS_AT_MOST)
                found[level] = [hit for hit in hits if hit.passage_id in ids]
        return found

    async def _forget_vectors(self, page: DocumentRecord, hits: Sequence[Hit]) -> int:
        """Take vectors out of the cache; another page with the same text is embedded again."""
        embedder = self._parts.embedder
        if not hits or not isinstance(embedder, ForgetfulEmbedder):
            return 0
        texts = await asyncio.to_thread(lambda: [self._index(page, hit) for hit in hits])
        await embedder.forget_passages(texts)
        return len(texts)

    def _index(self, page: DocumentRecord, hit: Hit) -> str:
        return build_indexed_text(
            hit.title,
            hit.heading_path,
            hit.text,
            settings=self._parts.chunks,
            count_tokens=self._parts.embedder.count_tokens,
            max_tokens=self._parts.embedder.max_tokens,
            breadcrumbs=page.breadcrumbs,
        )

    def _mark(self, page: DocumentRecord, number: int, version: VersionRecord) -> Forgotten:
        return Forgotten(
            document_id=page.document_id,
            number=number,
            at=version.at,
            forgotten_at=self._parts.clock.now(),
        )

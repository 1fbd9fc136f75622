"""A new index beside the one in use: another embedder, other words, or files that got lost.

The rows keep their ids, texts and lives, so that the ledger stays as it is and no history is lost.
Questions go on being answered from the old index until the new one is complete.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from knowledge.chunking import build_indexed_text
from knowledge.documents import DocumentId, Hit
from knowledge.ingest_batch import EVERY_ROW, IngestParts
from knowledge.ledger_records import DocumentRecord, TermDelta
from knowledge.progress import Progress, build_report
from knowledge.stores import Level, PassageStore, StoredPassage, Vector

DOCUMENTS_AT_ONCE = 64
ROWS_AT_MOST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    hit: Hit
    level: Level
    record: DocumentRecord


async def rebuild_index(
    parts: IngestParts, old: PassageStore, sources: Sequence[str], progress: Progress
) -> TermDelta:
    """Copy every row that the ledger knows from the old store into `parts.store`, analysed anew.

    Rows that are there already, of a rebuild that was broken off or from before another index was
    in use, are written again; those that the ledger has forgotten meanwhile are taken out.

    Returns:
        The statistics of the new index, to replace those of the old one.
    """
    started = time.monotonic()
    if await parts.store.count():
        await _remove_forgotten(parts)
    terms: list[str] = []
    done = 0
    documents = [one for name in sources for one in await parts.ledger.known_documents(name)]
    for start in range(0, len(documents), DOCUMENTS_AT_ONCE):
        batch = documents[start : start + DOCUMENTS_AT_ONCE]
        rows = [row async for row in _read_rows(parts, old, batch)]
        stored = await _build_stored(parts, rows)
        await parts.store.upsert(stored)
        await parts.store.optimize(more_follows=True)
        terms += [
            one.terms for one in stored if one.level is Level.PASSAGE and one.valid_to is None
        ]
        done += len(batch)
        progress.update(
            build_report(
                "rebuilding the index",
                done=done,
                total=len(documents),
                failed=0,
                elapsed_s=time.monotonic() - started,
            )
        )
    await parts.store.optimize()
    return TermDelta.of(terms)


async def _remove_forgotten(parts: IngestParts) -> None:
    for level in Level:
        where = replace(EVERY_ROW, level=level)
        ids = [hit.passage_id for hit in await parts.store.list_hits(where, limit=ROWS_AT_MOST)]
        known = await parts.ledger.check_rows(ids)
        await parts.store.delete_passages([one for one in ids if one not in known])


async def _read_rows(
    parts: IngestParts, old: PassageStore, batch: Sequence[DocumentId]
) -> AsyncIterator[_Row]:
    records = await parts.ledger.load_documents(batch)
    known = await parts.ledger.load_rows(list(records))
    levels = {row.passage_id: row for rows in known.values() for row in rows}
    for level in Level:
        where = replace(EVERY_ROW, level=level, documents=frozenset(records))
        for hit in await old.list_hits(where, limit=ROWS_AT_MOST):
            row = levels.get(hit.passage_id)
            if row is not None:
                # The ledger has today's class and life of the row.
                current = replace(hit, access_no=row.access_no, valid_to=row.valid_to)
                yield _Row(hit=current, level=level, record=records[hit.document_id])


async def _build_stored(parts: IngestParts, rows: Sequence[_Row]) -> list[StoredPassage]:
    texts = await asyncio.to_thread(lambda: [_index(parts, row) for row in rows])
    analysed = await asyncio.to_thread(
        lambda: [(parts.analyser.index_terms(t), parts.analyser.codes(t)) for t in texts]
    )
    vectors = await parts.embedder.embed_passages(texts) if parts.embedder.dimension else None
    return [
        _convert(row, terms, codes, None if vectors is None else vectors[number])
        for number, (row, (terms, codes)) in enumerate(zip(rows, analysed, strict=True))
    ]


def _index(parts: IngestParts, row: _Row) -> str:
    return build_indexed_text(
        row.hit.title,
        row.hit.heading_path,
        row.hit.text,
        settings=parts.chunks,
        count_tokens=parts.embedder.count_tokens,
        max_tokens=parts.embedder.max_tokens,
        breadcrumbs=row.record.breadcrumbs,
    )


def _convert(
    row: _Row, terms: Sequence[str], codes: Sequence[str], vector: Vector | None
) -> StoredPassage:
    hit, record = row.hit, row.record
    return StoredPassage(
        passage_id=hit.passage_id,
        level=row.level,
        section_id=hit.section_id,
        document_id=hit.document_id,
        source=hit.source,
        space=hit.space,
        scope=record.scope,
        title=hit.title,
        heading_path=hit.heading_path,
        text=hit.text,
        terms=" ".join(terms),
        codes=tuple(codes),
        kind=hit.kind,
        url=hit.url,
        page=hit.page,
        position=hit.position,
        labels=hit.labels,
        author=record.author,
        status=hit.status,
        version_number=hit.version_number,
        version_label=hit.version_label,
        updated_at=hit.updated_at,
        valid_from=hit.valid_from,
        valid_to=hit.valid_to,
        access_no=hit.access_no,
        vector=vector,
    )

"""One batch of documents, from their text to index and ledger, in steps a crash cannot break."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from core.clock import Clock
from core.settings import ChunkSettings, IngestSettings
from knowledge.access import OPERATOR, AccessNo, AccessRule
from knowledge.access_registry import AccessRegistry
from knowledge.analysis import Analyser
from knowledge.chunking import build_chunks
from knowledge.document_plan import DocumentPlan, build_patch, build_stored, plan_document
from knowledge.documents import Content, Document, DocumentId, PassageId, Status
from knowledge.embedding import Embedder, Vectors
from knowledge.ledger import Ledger
from knowledge.ledger_records import (
    AccessChange,
    DocumentCommit,
    DocumentRecord,
    IndexRow,
    TermDelta,
    VersionRecord,
)
from knowledge.ledger_writer import LedgerWriter
from knowledge.outbox import (
    DeletePassages,
    EndValidity,
    OutboxEntry,
    PatchRows,
    StoreOperation,
    apply_operations,
)
from knowledge.stores import (
    Level,
    MetadataPatch,
    PassageFilter,
    PassageStore,
    StoredPassage,
)
from knowledge.timeline import Chunk, NewRow

EVERY_ROW = PassageFilter(access=OPERATOR, any_time=True, statuses=frozenset(Status))


@dataclass(slots=True, kw_only=True)
class BatchCounts:
    """What a batch did."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    rows_added: int = 0
    rows_closed: int = 0
    rows_embedded: int = 0
    failures: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestParts:
    """What bringing in documents needs; chosen once, in bootstrap."""

    ledger: Ledger
    writer: LedgerWriter
    registry: AccessRegistry
    store: PassageStore
    embedder: Embedder
    analyser: Analyser
    chunks: ChunkSettings
    ingest: IngestSettings
    clock: Clock


async def store_documents(parts: IngestParts, documents: Sequence[Document]) -> BatchCounts:
    """Bring in documents: rows into the store, then the ledger, then what the store still owes.

    Writing the same documents again changes nothing. What is written is found at once;
    `store.optimize()` is owed at the end of the run.
    """
    counts = BatchCounts()
    if not documents:
        return counts
    before = await parts.ledger.load_documents([one.document_id for one in documents])
    previous = await _drop_rewritten(parts, documents, before)
    await change_rules(
        parts,
        {
            one.document_id: one.access
            for one in documents
            if one.document_id in previous
            and previous[one.document_id].access_id != one.access.access_id
        },
    )
    plans = await _plan(parts, documents, previous)
    access = await _number_rules(parts.registry, plans)
    rows = await _build_rows(parts, plans, access, counts)
    await parts.writer.record_intents([row.passage_id for row in rows])
    await parts.store.upsert(rows)
    terms = await _count_terms(parts.store, plans, rows)
    entries = await parts.writer.commit_batch(
        [_build_commit(plan, access) for plan in plans],
        terms=terms,
        operations=_build_operations(plans, previous, access),
    )
    await settle(parts, entries)
    await parts.store.optimize(more_follows=True)
    _count(counts, plans, before)
    return counts


async def settle(parts: IngestParts, entries: Sequence[OutboxEntry]) -> None:
    """Do on the store what the ledger has committed, and cross it off."""
    if entries:
        await apply_operations(parts.store, entries)
        await parts.writer.clear_outbox([entry.entry_id for entry in entries])


async def change_rules(
    parts: IngestParts, rules: Mapping[DocumentId, AccessRule]
) -> set[DocumentId]:
    """Put documents under new rules; in force as soon as this returns, nothing is re-indexed.

    Text that joins such a rule with another one can only be tightened from here, because the rows
    do not say which pages lie between; reading the page it stands on sets it right.

    Returns:
        Other documents with text of these, to be read again.
    """
    joined = {one: await parts.ledger.load_joined_rows(one) for one in rules}
    # A row that joins two changed rules needs one class that both are part of.
    joint: dict[PassageId, AccessRule] = {}
    for document_id, rows in joined.items():
        for row in rows:
            before = joint.get(row.passage_id) or await parts.registry.get_rule(row.access_no)
            joint[row.passage_id] = before & rules[document_id]
    numbers = {one: await parts.registry.number_of(rule) for one, rule in joint.items()}
    changes = [
        AccessChange(
            document_id=document_id,
            access_no=await parts.registry.number_of(rule),
            access_id=rule.access_id,
            rows={row.passage_id: numbers[row.passage_id] for row in joined[document_id]},
        )
        for document_id, rule in rules.items()
    ]
    containing = {
        row.document_id
        for document_id, rows in joined.items()
        for row in rows
        if row.document_id != document_id
    }
    await settle(parts, await parts.writer.change_access(changes))
    return containing


async def remove_documents(parts: IngestParts, ids: Sequence[DocumentId]) -> None:
    """Take documents out of ledger and index, their history too."""
    rows = await parts.ledger.load_rows(ids, only_open=True)
    passages = [
        row.passage_id for held in rows.values() for row in held if row.level is Level.PASSAGE
    ]
    removed = await _load_terms(parts.store, passages)
    await settle(parts, await parts.writer.delete_documents(ids, terms=TermDelta.of((), removed)))


async def _drop_rewritten(
    parts: IngestParts,
    documents: Sequence[Document],
    previous: Mapping[DocumentId, DocumentRecord],
) -> Mapping[DocumentId, DocumentRecord]:
    """Take out the documents whose history is another one now; return those that stay.

    Unchanged text comes back under its own ids. After a crash in between, the source has a
    document that the ledger does not know, and it is read whole.
    """
    rewritten = {
        one.document_id for one in documents if one.rewrites_history and one.document_id in previous
    }
    if rewritten:
        await remove_documents(parts, sorted(rewritten))
    return {key: one for key, one in previous.items() if key not in rewritten}


async def _load_terms(store: PassageStore, ids: Sequence[PassageId]) -> list[str]:
    return [row.terms for row in await store.get(ids, EVERY_ROW)] if ids else []


async def _plan(
    parts: IngestParts,
    documents: Sequence[Document],
    previous: Mapping[DocumentId, DocumentRecord],
) -> list[DocumentPlan]:
    held = [one.document_id for one in documents if one.document_id in previous]
    rows = await parts.ledger.load_rows(held)
    plans = []
    for document in documents:
        is_known = document.document_id in previous
        plan = partial(
            plan_document,
            document,
            previous=previous.get(document.document_id),
            rows=rows.get(document.document_id, []),
            versions=await parts.ledger.load_versions(document.document_id) if is_known else [],
            access_no=await parts.registry.number_of(document.access),
            now=parts.clock.now(),
            versions_kept=parts.ingest.versions_kept if document.keeps_history else 1,
            build_rows=_chunker(parts, document),
        )
        plans.append(await asyncio.to_thread(plan))
    return plans


def _chunker(parts: IngestParts, document: Document) -> Callable[[Content], Sequence[Chunk]]:
    def build_rows(content: Content) -> Sequence[Chunk]:
        chunks = build_chunks(
            document.document_id,
            content,
            settings=parts.chunks,
            count_tokens=parts.embedder.count_tokens,
            max_tokens=parts.embedder.max_tokens,
            breadcrumbs=document.breadcrumbs,
        )
        return (*chunks.passages, *chunks.sections)

    return build_rows


async def _number_rules(
    registry: AccessRegistry, plans: Sequence[DocumentPlan]
) -> dict[str, AccessNo]:
    rules = {rule.access_id: rule for plan in plans for rule in plan.rules()}
    return {access_id: await registry.number_of(rule) for access_id, rule in rules.items()}


async def _build_rows(
    parts: IngestParts,
    plans: Sequence[DocumentPlan],
    access: Mapping[str, AccessNo],
    counts: BatchCounts,
) -> list[StoredPassage]:
    new = [(plan, row) for plan in plans for row in plan.timeline.opened.values()]
    texts = [row.chunk.indexed_text for _, row in new]
    analysed = await asyncio.to_thread(_analyse, parts.analyser, texts)
    vectors = await _embed(parts.embedder, texts)
    counts.rows_embedded = len(texts) if vectors is not None else 0
    return [
        build_stored(
            row,
            plan,
            access=access,
            terms=terms,
            codes=codes,
            vector=None if vectors is None else vectors[number],
        )
        for number, ((plan, row), (terms, codes)) in enumerate(zip(new, analysed, strict=True))
    ]


def _analyse(analyser: Analyser, texts: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    return [(analyser.index_terms(text), analyser.codes(text)) for text in texts]


async def _embed(embedder: Embedder, texts: Sequence[str]) -> Vectors | None:
    if embedder.dimension == 0:
        return None
    return await embedder.embed_passages(texts)


async def _count_terms(
    store: PassageStore, plans: Sequence[DocumentPlan], rows: Sequence[StoredPassage]
) -> TermDelta:
    """Statistics count passages in force: opened ones are added, closed ones taken out."""
    added = [row.terms for row in rows if row.level is Level.PASSAGE and row.valid_to is None]
    closed = [
        row.passage_id
        for plan in plans
        for row in plan.rows
        if row.passage_id in plan.timeline.closed and row.level is Level.PASSAGE
    ]
    return TermDelta.of(added, await _load_terms(store, closed))


def _build_commit(plan: DocumentPlan, access: Mapping[str, AccessNo]) -> DocumentCommit:
    return DocumentCommit(
        document=plan.record,
        versions=tuple(
            VersionRecord(
                number=one.version.number,
                at=one.version.at,
                title=one.title,
                author=one.version.author,
                message=one.version.message,
                label=one.version.label,
            )
            for one in plan.timeline.versions
        ),
        dropped_versions=plan.dropped_versions,
        links=plan.document.links,
        opened=tuple(_build_index_row(row, plan, access) for row in plan.timeline.opened.values()),
        closed=plan.timeline.closed,
        dropped=plan.dropped,
        reclassed=plan.find_reclassed(access),
    )


def _build_index_row(row: NewRow, plan: DocumentPlan, access: Mapping[str, AccessNo]) -> IndexRow:
    return IndexRow(
        passage_id=row.passage_id,
        document_id=plan.document.document_id,
        key=row.chunk.key,
        level=row.level,
        section_id=row.chunk.section_id,
        access_no=access[plan.rule_of(row.chunk).access_id],
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        included_from=row.chunk.included_from,
    )


def _build_operations(
    plans: Sequence[DocumentPlan],
    previous: Mapping[DocumentId, DocumentRecord],
    access: Mapping[str, AccessNo],
) -> list[StoreOperation]:
    operations: list[StoreOperation] = []
    dropped = tuple(key for plan in plans for key in plan.dropped)
    patches = [build_patch(plan, previous.get(plan.document.document_id)) for plan in plans]
    changed = [patch for patch in patches if patch is not None]
    for plan in plans:
        for at in sorted(set(plan.timeline.closed.values())):
            ids = tuple(key for key, moment in plan.timeline.closed.items() if moment == at)
            operations.append(EndValidity(passage_ids=ids, valid_to=at))
        changed += [
            MetadataPatch(
                document_id=plan.document.document_id, access_no=number, passage_ids=(passage_id,)
            )
            for passage_id, number in plan.find_reclassed(access).items()
        ]
    if changed:
        operations.append(PatchRows(patches=tuple(changed)))
    if dropped:
        operations.append(DeletePassages(passage_ids=dropped))
    return operations


def _count(
    counts: BatchCounts,
    plans: Sequence[DocumentPlan],
    previous: Mapping[DocumentId, DocumentRecord],
) -> None:
    for plan in plans:
        timeline = plan.timeline
        counts.rows_added += len(timeline.opened)
        counts.rows_closed += len(timeline.closed)
        if plan.document.document_id not in previous:
            counts.added += 1
        elif timeline.versions or build_patch(plan, previous[plan.document.document_id]):
            counts.changed += 1
        else:
            counts.unchanged += 1

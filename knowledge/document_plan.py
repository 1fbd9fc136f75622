"""What bringing in one document changes: rows, versions, classes, metadata. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from knowledge.access import AccessNo, AccessRule
from knowledge.documents import Content, Document, PassageId
from knowledge.ledger_records import DocumentRecord, IndexRow, VersionRecord
from knowledge.stores import MetadataPatch, StoredPassage, Vector
from knowledge.timeline import (
    Chunk,
    NewRow,
    OpenRow,
    Timeline,
    find_rows_between,
    plan_timeline,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPlan:
    """A document and everything that changes with it.

    Attributes:
        dropped: Closed rows that only belong to versions which are no longer kept.
        dropped_versions: Their numbers.
        rows: What the ledger held before, closed rows too.
    """

    document: Document
    record: DocumentRecord
    timeline: Timeline
    dropped: tuple[PassageId, ...] = ()
    dropped_versions: tuple[int, ...] = ()
    rows: tuple[IndexRow, ...] = ()

    def rules(self) -> set[AccessRule]:
        """Return the rules of all rows that open or stay."""
        opened = [row.chunk for row in self.timeline.opened.values()]
        return {self.rule_of(chunk) for chunk in (*opened, *self.timeline.kept.values())}

    def find_reclassed(self, access: Mapping[str, AccessNo]) -> dict[PassageId, AccessNo]:
        """Return the rows that stay but whose rule is another one now, with its class.

        `access` has the class numbers of all `rules()` by access id.
        """
        before = {row.passage_id: row.access_no for row in self.rows}
        now = {
            passage_id: access[self.rule_of(chunk).access_id]
            for passage_id, chunk in self.timeline.kept.items()
        }
        return {key: number for key, number in now.items() if number != before[key]}

    def rule_of(self, chunk: Chunk) -> AccessRule:
        """Return the rule of a chunk: the document's, joined with that of included text."""
        access = self.document.access
        return access if chunk.rule is None else access & chunk.rule


def plan_document(
    document: Document,
    *,
    previous: DocumentRecord | None,
    rows: Sequence[IndexRow],
    versions: Sequence[VersionRecord],
    access_no: AccessNo,
    now: datetime,
    versions_kept: int,
    build_rows: Callable[[Content], Sequence[Chunk]],
) -> DocumentPlan:
    """Compare a fetched document with what the ledger holds of it.

    Args:
        rows: All rows of the document, closed ones too.
        versions: Versions the ledger knows, oldest first.
        build_rows: Cuts one version's content into passages and sections.
    """
    timeline = plan_timeline(
        document.document_id,
        _kept_contents(document, versions_kept),
        [
            OpenRow(passage_id=row.passage_id, key=row.key, level=row.level)
            for row in rows
            if row.valid_to is None
        ],
        last_number=previous.version_number if previous else 0,
        last_at=previous.updated_at if previous else None,
        build_rows=build_rows,
    )
    current = timeline.versions[-1].version if timeline.versions else None
    record = DocumentRecord(
        document_id=document.document_id,
        source=document.source,
        scope=document.scope,
        locator=document.locator,
        url=document.url,
        title=document.content.title,
        token=document.token,
        content_hash=document.content_hash,
        access_no=access_no,
        access_id=document.access.access_id,
        version_number=current.number if current else _number_of(previous),
        version_label=document.content.version.label,
        updated_at=current.at if current else _updated_at(previous, now),
        first_seen_at=previous.first_seen_at if previous else now,
        checked_at=now,
        status=document.status,
        space=document.space,
        author=document.author,
        labels=document.labels,
        breadcrumbs=document.breadcrumbs,
        notes=document.notes,
    )
    moments = {one.number: one.at for one in versions}
    moments |= {one.version.number: one.version.at for one in timeline.versions}
    unkept = _find_old_versions(moments, versions_kept) | _find_redacted(document, moments)
    kept = [at for number, at in moments.items() if number not in unkept]
    return DocumentPlan(
        document=document,
        record=record,
        timeline=timeline,
        dropped=find_rows_between(_end_rows(rows, timeline), kept) if unkept else (),
        dropped_versions=tuple(sorted(unkept & {one.number for one in versions})),
        rows=tuple(rows),
    )


def _end_rows(rows: Sequence[IndexRow], timeline: Timeline) -> list[IndexRow]:
    """Return the rows as they are once this plan is carried out."""
    return [
        replace(row, valid_to=timeline.closed.get(row.passage_id, row.valid_to)) for row in rows
    ]


def _kept_contents(document: Document, kept: int) -> tuple[Content, ...]:
    older = document.history[-(kept - 1) :] if kept > 1 else ()
    return (*older, document.content)


def _number_of(previous: DocumentRecord | None) -> int:
    return previous.version_number if previous else 1


def _updated_at(previous: DocumentRecord | None, now: datetime) -> datetime:
    return previous.updated_at if previous else now


def _find_old_versions(moments: Mapping[int, datetime], kept: int) -> set[int]:
    """Return the versions beyond the number that is kept."""
    return set(sorted(moments)[:-kept])


def _find_redacted(document: Document, moments: Mapping[int, datetime]) -> set[int]:
    """Return versions that the source has removed from the middle of its history.

    What is older than the history it gives may simply not have been asked for.
    """
    given = {content.version.number for content in document.history}
    if not given or 0 in given:
        return set()
    newest = document.content.version.number
    return {one for one in moments if min(given) < one < newest and one not in given}


def build_patch(plan: DocumentPlan, previous: DocumentRecord | None) -> MetadataPatch | None:
    """Return the document-level values that all rows need anew; None when nothing changed.

    Title, version and time are not among them: a row keeps those of the version whose text it is,
    and what is shown of a row in force comes from the ledger.
    """
    if previous is None:
        return None
    new = plan.record
    patch = MetadataPatch(
        document_id=new.document_id,
        url=_changed(new.url, previous.url),
        space=_changed(new.space, previous.space),
        scope=_changed(new.scope, previous.scope),
        labels=_changed(new.labels, previous.labels),
        author=_changed(new.author, previous.author),
        status=_changed(new.status, previous.status),
    )
    return None if patch == MetadataPatch(document_id=new.document_id) else patch


def _changed(new: T, old: T) -> T | None:
    return None if new == old else new


def build_stored(
    row: NewRow,
    plan: DocumentPlan,
    *,
    access: Mapping[str, AccessNo],
    terms: Sequence[str],
    codes: Sequence[str],
    vector: Vector | None,
) -> StoredPassage:
    """Build a row of the index.

    Args:
        access: Class numbers by access id.
        vector: The row's vector, or None with the embedder `none`.
    """
    chunk, version, document = row.chunk, row.content.version, plan.document
    return StoredPassage(
        passage_id=row.passage_id,
        level=row.level,
        section_id=chunk.section_id,
        document_id=document.document_id,
        source=document.source,
        space=document.space,
        scope=document.scope,
        title=row.content.title,
        heading_path=chunk.heading_path,
        text=chunk.text,
        terms=" ".join(terms),
        codes=tuple(codes),
        kind=chunk.kind,
        url=document.url,
        page=chunk.page,
        position=chunk.position,
        labels=document.labels,
        author=document.author,
        status=document.status,
        version_number=version.number,
        version_label=version.label,
        updated_at=version.at,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        access_no=access[plan.rule_of(chunk).access_id],
        vector=vector,
    )

"""What the ledger takes in and gives out. Frozen and pure."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from knowledge.access import AccessNo
from knowledge.documents import DocumentId, Link, PassageId, SectionId, Status
from knowledge.stores import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    """A document as it was last brought in; attributes as in `Document`.

    Attributes:
        access_no, access_id: Class of the document's own rule.
        updated_at: When the current version came into force at the source.
        first_seen_at: When it was first brought in; a later commit does not change it.
        checked_at: When the source last confirmed it.
        held_since: The source has not confirmed it since then, and that is not believed yet.
        notes: What could not be read though the rest could.
    """

    document_id: DocumentId
    source: str
    scope: str
    locator: str
    url: str
    title: str
    token: str
    access_no: AccessNo
    access_id: str
    version_number: int
    updated_at: datetime
    first_seen_at: datetime
    checked_at: datetime
    version_label: str = ""
    content_hash: str = ""
    status: Status = Status.CURRENT
    space: str = ""
    author: str = ""
    labels: tuple[str, ...] = ()
    breadcrumbs: tuple[str, ...] = ()
    held_since: datetime | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRecord:
    """One version of a document; attributes as in `Version`."""

    number: int
    at: datetime
    title: str
    author: str = ""
    message: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRow:
    """A row of the passage index, without its text.

    Attributes:
        access_no: Class of today; for included text that of both rules together.
        included_from: The page the text comes from, when it is not the document itself.
    """

    passage_id: PassageId
    document_id: DocumentId
    key: str
    level: Level
    section_id: SectionId
    access_no: AccessNo
    valid_from: datetime
    valid_to: datetime | None = None
    included_from: DocumentId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowState:
    """What has to be known of a row before its text may leave retrieval.

    Attributes:
        version_number, version_label, updated_at: Of its document today.
    """

    document_id: DocumentId
    access_no: AccessNo
    valid_to: datetime | None
    held_since: datetime | None
    version_number: int
    version_label: str
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TermDelta:
    """How the statistics of the index change; negative where rows leave.

    Attributes:
        rows: Rows that are counted.
        length: Their terms, repetitions included.
        document_frequency: By term, the number of those rows that hold it.
    """

    rows: int = 0
    length: int = 0
    document_frequency: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, added: Iterable[str], removed: Iterable[str] = ()) -> Self:
        """Count rows given by their terms, separated by single spaces."""
        rows, length = 0, 0
        frequency: dict[str, int] = {}
        for sign, texts in ((1, added), (-1, removed)):
            for text in texts:
                terms = text.split()
                rows += sign
                length += sign * len(terms)
                for term in set(terms):
                    frequency[term] = frequency.get(term, 0) + sign
        changed = {term: change for term, change in frequency.items() if change}
        return cls(rows=rows, length=length, document_frequency=changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class TermStatistics:
    """The whole index's statistics for some terms, as BM25 needs them.

    Attributes:
        rows: Counted rows of the index.
        average_length: Terms a row; 0 for an empty index.
        document_frequency: For every term that was asked for; 0 where no row holds it.
    """

    rows: int
    average_length: float
    document_frequency: Mapping[str, int]

    def idf(self, term: str) -> float:
        """Return the term's inverse document frequency, above 0 also for terms in most rows.

        Source: the BM25 form with 1 added inside the logarithm, as Lucene has it.
        """
        count = self.document_frequency.get(term, 0)
        return math.log(1 + (self.rows - count + 0.5) / (count + 0.5))

    def weigh(self, terms: Mapping[str, float]) -> dict[str, float]:
        """Return weighted terms with their rarity counted in."""
        return {term: weight * self.idf(term) for term, weight in terms.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCommit:
    """Everything that changes in the ledger with one document.

    Attributes:
        versions: New or corrected ones; others of the document stay.
        dropped_versions: Numbers to forget.
        links: All links of the current version; they replace the earlier ones.
        opened: New rows, already closed ones among them when history is filled back.
        closed: Rows that end, with the moment they do; a row that has ended stays as it is.
        dropped: Rows to forget.
        reclassed: Rows that stay under another access class.
    """

    document: DocumentRecord
    versions: tuple[VersionRecord, ...] = ()
    dropped_versions: tuple[int, ...] = ()
    links: tuple[Link, ...] = ()
    opened: tuple[IndexRow, ...] = ()
    closed: Mapping[PassageId, datetime] = field(default_factory=dict)
    dropped: tuple[PassageId, ...] = ()
    reclassed: Mapping[PassageId, AccessNo] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessChange:
    """A document's new rule.

    Attributes:
        access_no, access_id: Class of the document's own rule; its rows of its own text follow.
        rows: New classes of rows that join this rule with another one: text included in this
            document, and text of this document included elsewhere.
    """

    document_id: DocumentId
    access_no: AccessNo
    access_id: str
    rows: Mapping[PassageId, AccessNo] = field(default_factory=dict)

"""The passage store: what an index of passages must do, whichever product keeps it.

Rows come in two levels: small passages that are matched, and the sections they belong to. Text
arrives already analysed (terms separated by spaces), so that every store ranks words alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from knowledge.access import AccessNo, ReadableClasses
from knowledge.documents import DocumentId, Hit, PassageId, PassageKind, SectionId, Status
from knowledge.languages import Language

Vector = NDArray[np.float32]


class Level(StrEnum):
    """A small matched passage, or the whole section it belongs to."""

    PASSAGE = "passage"
    SECTION = "section"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassage:
    """A row of the index.

    Attributes:
        terms: Analysed terms separated by single spaces, repetitions kept.
        codes: Exact codes in the text (K8-023, 10.0.3.7), folded; matched as whole values.
        vector: L2-normalised, of the embedder's dimension; None with the embedder `none`.
        valid_to: None = in force.
    """

    passage_id: PassageId
    level: Level
    section_id: SectionId
    document_id: DocumentId
    source: str
    space: str
    scope: str
    title: str
    heading_path: tuple[str, ...]
    text: str
    terms: str
    codes: tuple[str, ...]
    kind: PassageKind
    url: str
    page: int | None
    position: int
    labels: tuple[str, ...]
    author: str
    status: Status
    version_number: int
    version_label: str
    updated_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    access_no: AccessNo
    vector: Vector | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageFilter:
    """What a search may return. `access` has no default: a search without a reader is no search.

    Attributes:
        as_of: None = text in force now (open end); else text in force at that moment
            (valid_from <= as_of < valid_to).
        any_time: Search all versions; `as_of` is then ignored.
        statuses: Document states allowed.
        scopes, sources, spaces, labels, documents, sections: Empty = no restriction; else one of.
            A label must equal one of the passage's labels exactly.
        languages: Of the text itself (`languages.detect_language`); empty = any.
        author: Empty = anybody.
        updated_after, updated_before: Bounds on the document's `updated_at`, the first included,
            the second not.
    """

    access: ReadableClasses
    level: Level = Level.PASSAGE
    as_of: datetime | None = None
    any_time: bool = False
    statuses: frozenset[Status] = frozenset({Status.CURRENT})
    scopes: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    spaces: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    documents: frozenset[DocumentId] = frozenset()
    sections: frozenset[SectionId] = frozenset()
    languages: frozenset[Language] = frozenset()
    author: str = ""
    updated_after: datetime | None = None
    updated_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexShape:
    """What an index was made for; another shape needs another index beside it."""

    embedder: str
    dimension: int
    analysis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataPatch:
    """New document-level values for all rows of a document; None = leave as it is."""

    document_id: DocumentId
    access_no: AccessNo | None = None
    status: Status | None = None
    title: str | None = None
    url: str | None = None
    space: str | None = None
    scope: str | None = None
    labels: tuple[str, ...] | None = None
    author: str | None = None
    version_number: int | None = None
    version_label: str | None = None
    updated_at: datetime | None = None
    passage_ids: tuple[PassageId, ...] = field(default=())
    """Only these rows; empty = every row of the document, old versions too."""


class PassageStore(Protocol):
    """An index of passages with words, vectors, time and access.

    Searches filter inside the index, never afterwards. Results are ordered by score, best first,
    ties by passage id; scores are comparable within one result only. Every hit brings its vector,
    where the row has one. An empty query, an empty
    index or a filter that admits nothing gives an empty list. All write methods may be called
    twice with the same arguments without further effect. One writer at a time; readers go on.
    """

    async def upsert(self, passages: Sequence[StoredPassage]) -> None:
        """Write rows, replacing those with the same passage_id."""
        ...

    async def end_validity(self, ids: Sequence[PassageId], valid_to: datetime) -> None:
        """Close rows; unknown ids are ignored, closed rows stay as they are."""
        ...

    async def patch(self, patches: Sequence[MetadataPatch]) -> None:
        """Change document-level values without touching text, terms or vectors."""
        ...

    async def delete_documents(self, ids: Sequence[DocumentId]) -> None:
        """Remove all rows of these documents and of no other, whatever their number."""
        ...

    async def delete_passages(self, ids: Sequence[PassageId]) -> None:
        """Remove these rows."""
        ...

    async def search_terms(
        self, terms: Sequence[str], where: PassageFilter, *, limit: int
    ) -> list[Hit]:
        """Rank rows by BM25 over their terms (any of the query's terms may match)."""
        ...

    async def search_vector(self, vector: Vector, where: PassageFilter, *, limit: int) -> list[Hit]:
        """Rank rows by cosine similarity, the score being the cosine (-1..1)."""
        ...

    async def find_codes(
        self, codes: Sequence[str], where: PassageFilter, *, limit: int
    ) -> list[Hit]:
        """Return rows that hold at least one of the exact codes, most codes first."""
        ...

    async def get(self, ids: Sequence[PassageId], where: PassageFilter) -> list[Hit]:
        """Return those of the rows that the filter admits (its level is ignored), any order."""
        ...

    async def list_hits(self, where: PassageFilter, *, limit: int) -> list[Hit]:
        """Return rows the filter admits, ordered by document and position, score 0."""
        ...

    async def count(self, where: PassageFilter | None = None) -> int:
        """Count rows; without a filter all of them, old versions and sections too."""
        ...

    async def optimize(self, *, more_follows: bool = False) -> None:
        """Bring indexes up to date with what was written; call at the end of a batch.

        Args:
            more_follows: Another batch comes at once, so that what costs much may wait for the
                last one. What was written is found in either case.
        """
        ...

    async def purge(self, *, with_other_shapes: bool = False) -> None:
        """Leave nothing in files or indexes of rows that were deleted or replaced before.

        Searches find what they found. It costs as much as rewriting the whole index, so it is for
        text that has to be gone, and for once a day; without effect where nothing is dead.

        Args:
            with_other_shapes: Remove the indexes of other shapes as well, which still hold what
                they held; only while the index in use is this one.
        """
        ...

    async def close(self) -> None:
        """Release files and threads. Safe to call twice."""
        ...

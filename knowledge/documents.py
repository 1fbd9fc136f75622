"""The normal form of knowledge: every source yields it, every store keeps it. Frozen and pure."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NewType
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from knowledge.access import AccessNo, AccessRule
from knowledge.languages import Language

DocumentId = NewType("DocumentId", str)
"""`SOURCE:NATIVE_ID`, stable over renames and moves, such as `handbook:ops/disk.md`."""
SectionId = NewType("SectionId", str)
PassageId = NewType("PassageId", str)

_NAMESPACE = UUID("6c0b1c6e-5d0f-5c39-9a54-2f3a2a0f7d11")


class Status(StrEnum):
    """Whether a document is in force. Drafts are never synced."""

    CURRENT = "current"
    ARCHIVED = "archived"


class PassageKind(StrEnum):
    """What the text of a passage is, which decides how it may be quoted."""

    PROSE = "prose"
    STEPS = "steps"
    LIST = "list"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One state of a document at its source.

    Attributes:
        number: Counts up from 1; 0 from sources that do not count: ingestion then does.
        at: When the source says this state came into force; never the time of the sync.
        label: What people call it, such as `v12` or `2026-08`; empty when they don't.
    """

    number: int
    at: datetime
    author: str = ""
    message: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyPart:
    """A run of Markdown under one access rule.

    A document's own text carries no rule and no origin. Text that comes in from another page
    (include, embed, synced block) is a part of its own, readable only by those who may read both
    pages. A line `page_mark(n)` says that what follows stands on page n of the file.
    """

    markdown: str
    included_from: DocumentId | None = None
    included_rule: AccessRule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link from a document to another one of the same source, for the graph."""

    target: DocumentId
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The text of a document in one version."""

    title: str
    parts: tuple[BodyPart, ...]
    version: Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page, file or row as its source has it now.

    Attributes:
        locator: Where the source keeps it today (a path, a page id); changes on a move.
        scope: The unit whose listing is complete or not as a whole: a space, a root folder.
        breadcrumbs: Titles from the root down to, not including, the document.
        token: Changes whenever content or metadata change at the source; compared, not read.
        history: Older versions known to the source, oldest first; may be empty.
        rewrites_history: Versions were removed or numbered anew at the source: everything held of
            the document gives way to `history` and `content`.
        keeps_history: False = what it said before is dropped when it changes.
        content_hash: Hash of the source's bytes, by which a rename is recognised.
    """

    document_id: DocumentId
    source: str
    scope: str
    locator: str
    url: str
    content: Content
    access: AccessRule
    token: str
    content_hash: str = ""
    status: Status = Status.CURRENT
    space: str = ""
    author: str = ""
    labels: tuple[str, ...] = ()
    breadcrumbs: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    history: tuple[Content, ...] = ()
    keeps_history: bool = True
    rewrites_history: bool = False
    notes: tuple[str, ...] = ()
    """What could not be read though the rest could, in words for `zhixing status`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A parent: the text under one heading, whole, given to the model and quoted from.

    Attributes:
        section_id: Derived from the document and the heading path, so that it outlives edits.
        key: Hash of heading path and text; equal keys in two versions mean unchanged text.
        page: First page of the file the section stands on; None where there are no pages.
        rule: None = the document's rule alone; else the rule of included text, to be joined.
    """

    section_id: SectionId
    key: str
    document_id: DocumentId
    heading_path: tuple[str, ...]
    text: str
    indexed_text: str
    kind: PassageKind
    position: int
    page: int | None = None
    included_from: DocumentId | None = None
    rule: AccessRule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A child: the small piece of a section that is matched.

    `text` is what is quoted; `indexed_text` adds the title and heading chain in front and is what
    is embedded and analysed. For a table every passage repeats the header. Other attributes as in
    `Section`; a section that is one single passage has no row of its own in the index.
    """

    section_id: SectionId
    key: str
    document_id: DocumentId
    heading_path: tuple[str, ...]
    text: str
    indexed_text: str
    kind: PassageKind
    position: int
    page: int | None = None
    included_from: DocumentId | None = None
    rule: AccessRule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage found for a question, with what every stage thought of it.

    Attributes:
        score: The score of the last stage; higher is better; comparable within one result only.
        scores: Score by stage name (`bm25`, `vector`, `fused`, `rescored`, `reranked`, ...).
        valid_to: None = this text is in force.
        version_number, version_label, updated_at: Of text in force those of its document today,
            once the ledger was asked (`retrieval.lock`); else of the version that wrote the text.
        written_in: What people call the version that wrote text in force, which may be an older
            one; empty = the one named by `version_number`.
        is_unconfirmed_since: The source could not confirm the document since then; None = it can.
        language: Of the text (`languages.detect_language`).
        vector: Of the row, L2-normalised, for exact comparison; None without one.
    """

    passage_id: PassageId
    section_id: SectionId
    document_id: DocumentId
    title: str
    heading_path: tuple[str, ...]
    text: str
    kind: PassageKind
    url: str
    page: int | None
    space: str
    source: str
    labels: tuple[str, ...]
    status: Status
    version_number: int
    version_label: str
    updated_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    access_no: AccessNo
    position: int
    terms: str = ""
    language: Language = Language.OTHER
    score: float = 0.0
    scores: dict[str, float] = field(default_factory=dict)
    written_in: str = ""
    is_unconfirmed_since: datetime | None = None
    vector: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)


def name_version(number: int, label: str) -> str:
    """Return what people call a version."""
    return label or f"v{number}"


def page_mark(page: int) -> str:
    """Return the line that marks the start of a page inside Markdown."""
    return f"<!-- page {page} -->"


def build_section_id(
    document_id: DocumentId, heading_path: tuple[str, ...], ordinal: int
) -> SectionId:
    """Derive a section's id; `ordinal` tells apart sections with equal heading paths, from 0."""
    return SectionId(_build_id(document_id, *heading_path, str(ordinal)))


def build_passage_id(document_id: DocumentId, key: str, valid_from: datetime) -> PassageId:
    """Derive the id of an index row from what it is, so that writing it twice is harmless.

    `valid_from` is part of it: text that goes and comes back (A, B, A) keeps both its lives.
    """
    return PassageId(_build_id(document_id, key, valid_from.isoformat()))


def _build_id(*parts: str) -> str:
    return str(uuid5(_NAMESPACE, "\x1f".join(parts)))

"""Puts a document together from what a file says, where it lies and who may read it. Pure."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from urllib.parse import quote

from connectors.files.converted import Converted
from connectors.files.embeds import Expansion
from connectors.files.file_token import FileToken
from connectors.files.walk import FoundFile
from knowledge.access import AccessRule
from knowledge.documents import Content, Document, DocumentId, Link, Status, Version


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """What is known of a file beside its text.

    Attributes:
        space: The operator's name for the source's department; empty = the first folder's name.
        now: Dates in the future are not believed.
    """

    source: str
    space: str
    document_id: DocumentId
    found: FoundFile
    content_hash: str
    rule: AccessRule
    setup: str
    now: datetime


def build_document(
    facts: FileFacts, converted: Converted, expansion: Expansion, links: tuple[Link, ...]
) -> Document:
    """Build the document of a converted file."""
    path = facts.found.path
    folders = tuple(PurePosixPath(path).parts[:-1])
    at, note = _choose_moment(facts, converted, expansion)
    notes = (*converted.notes, *expansion.notes, *((note,) if note else ()))
    version = Version(
        number=converted.version, at=at, author=converted.author, label=converted.version_label
    )
    token = FileToken(
        size=facts.found.size,
        mtime_ns=facts.found.mtime_ns,
        setup=facts.setup,
        lacks_ocr=converted.needs_ocr,
        embeds=tuple(expansion.states),
    )
    return Document(
        document_id=facts.document_id,
        source=facts.source,
        scope=facts.source,
        locator=path,
        url=quote(path),
        content=Content(
            title=converted.title or PurePosixPath(path).stem,
            parts=tuple(expansion.parts),
            version=version,
        ),
        access=facts.rule,
        token=token.encode(),
        content_hash=facts.content_hash,
        status=Status.ARCHIVED if converted.is_archived else Status.CURRENT,
        space=facts.space or (folders[0] if folders else ""),
        author=converted.author,
        labels=converted.labels,
        breadcrumbs=folders,
        links=links,
        notes=tuple(dict.fromkeys(notes)),
    )


def _choose_moment(
    facts: FileFacts, converted: Converted, expansion: Expansion
) -> tuple[datetime, str]:
    """Return when this state came into force: the author's word, else the file's time.

    Embedded text that changed later moves it on: the page reads differently since then.
    """
    own = _from_ns(facts.found.mtime_ns)
    note = ""
    if converted.at is not None and converted.at > facts.now:
        note = f"its date {converted.at.date().isoformat()} lies in the future and is not used"
    elif converted.at is not None:
        own = converted.at
    latest = max(own, _from_ns(expansion.latest_ns)) if expansion.latest_ns else own
    return min(latest, facts.now), note


def _from_ns(moment_ns: int) -> datetime:
    return datetime.fromtimestamp(moment_ns / 1e9, UTC)

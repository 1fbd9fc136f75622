"""Hits for tests of pure stages."""

from datetime import UTC, datetime

import numpy as np

from knowledge.access import AccessNo
from knowledge.documents import DocumentId, Hit, PassageId, PassageKind, SectionId, Status
from knowledge.languages import detect_language
from knowledge.stores import Vector

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def make_hit(
    passage: str,
    score: float = 0.0,
    *,
    section: str = "",
    document: str = "d",
    title: str = "Page",
    terms: str = "",
    text: str = "",
    vector: Vector | None = None,
) -> Hit:
    return Hit(
        passage_id=PassageId(passage),
        section_id=SectionId(section or f"s-{passage}"),
        document_id=DocumentId(document),
        title=title,
        heading_path=(title,),
        text=text or passage,
        kind=PassageKind.PROSE,
        url="",
        page=None,
        space="",
        source="files",
        labels=(),
        status=Status.CURRENT,
        version_number=1,
        version_label="",
        updated_at=LONG_AGO,
        valid_from=LONG_AGO,
        valid_to=None,
        access_no=AccessNo(1),
        position=0,
        terms=terms,
        score=score,
        vector=vector,
        language=detect_language(text),
    )


def unit(*values: float) -> Vector:
    """A vector of length 1 in the direction of the values."""
    vector = np.array(values, np.float32)
    return vector / np.linalg.norm(vector)

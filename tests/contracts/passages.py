"""Rows and filters for the tests of passage stores, with everything but the point at issue."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from knowledge.access import OPERATOR, AccessNo, ReadableClasses
from knowledge.documents import DocumentId, Hit, PassageId, PassageKind, SectionId, Status
from knowledge.stores import (
    IndexShape,
    Level,
    PassageFilter,
    PassageStore,
    StoredPassage,
    Vector,
)

OpenStore = Callable[[IndexShape], Awaitable[PassageStore]]

DIMENSION = 8
SHAPE = IndexShape(embedder="seeded", dimension=DIMENSION, analysis="1")
WORDS_ONLY = IndexShape(embedder="none", dimension=0, analysis="1")
START = datetime(2026, 1, 1, tzinfo=UTC)
EVERYTHING = PassageFilter(access=OPERATOR)
ALL_TIMES = PassageFilter(access=OPERATOR, any_time=True, statuses=frozenset(Status))


def build_passage(name: str, terms: str = "common", **changes: Any) -> StoredPassage:
    """Return a row in force with id `name`, of document `doc-NAME`, readable by class 1."""
    plain = StoredPassage(
        passage_id=PassageId(name),
        level=Level.PASSAGE,
        section_id=SectionId(f"section-{name}"),
        document_id=DocumentId(f"doc-{name}"),
        source="wiki",
        space="ops",
        scope="wiki/ops",
        title=f"Title of {name}",
        heading_path=("Guide 指南", "Step, one"),
        text=f"Text of {name}. 正文。",
        terms=terms,
        codes=(),
        kind=PassageKind.PROSE,
        url=f"https://wiki.example/{name}",
        page=None,
        position=0,
        labels=(),
        author="wang.li",
        status=Status.CURRENT,
        version_number=1,
        version_label="",
        updated_at=START,
        valid_from=START,
        valid_to=None,
        access_no=AccessNo(1),
        vector=None,
    )
    return replace(plain, **changes)


def build_filter(**changes: Any) -> PassageFilter:
    """Return a filter that admits everything in force, but for the changes."""
    return replace(EVERYTHING, **changes)


def build_reader(*numbers: int, last_known: int = 10) -> ReadableClasses:
    """Return what a reader of these classes may see, of 1..last_known."""
    readable = frozenset(AccessNo(number) for number in numbers)
    known = frozenset(AccessNo(number) for number in range(1, last_known + 1))
    return ReadableClasses(
        numbers=readable, denied=known - readable, last_known=AccessNo(last_known)
    )


def build_vector(*values: float) -> Vector:
    """Return a vector of length one whose first components are in the ratio of the values."""
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def list_ids(hits: list[Hit]) -> list[str]:
    """Return the hits' passage ids in their order."""
    return [hit.passage_id for hit in hits]


def list_vectors(hits: list[Hit]) -> dict[PassageId, Vector]:
    """Return the vectors the hits bring, by id; hits without one are left out."""
    return {hit.passage_id: hit.vector for hit in hits if hit.vector is not None}

"""Rows of the LanceDB table: their Arrow schema, and conversion from passages and to hits.

What is searched, filtered or ordered by has a column; the whole passage is kept as JSON in one
column more, because fetching 60 rows of 21 columns takes 6 ms longer than fetching that one.
Times are whole microseconds since 1970 in UTC, so that they compare as integers; a passage in
force has OPEN_END_US as its end, which is beyond every date, so that no filter asks for nulls.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from knowledge.access import AccessNo
from knowledge.documents import DocumentId, Hit, PassageId, PassageKind, SectionId, Status
from knowledge.languages import Language, detect_language
from knowledge.stores import Level, StoredPassage, Vector

OPEN_END_US = 2**62
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

# The number counts up with the form of the JSON, so that a folder of another form is recognised.
PASSAGE_COLUMN = "passage_2"
VECTOR_COLUMN = "vector"


def to_microseconds(moment: datetime) -> int:
    """Return whole microseconds since 1970 in UTC.

    Raises:
        ValueError: The moment has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone; give stored times an explicit one")
    return (moment - _EPOCH) // _MICROSECOND


def name_in_force(level: Level, status: Status) -> str:
    """Return the value that rows in force have in the column `in_force`; closed ones have none.

    Level, status and end are filtered by in nearly every search; one bitmap instead of three takes
    a tenth off its time.
    """
    return f"{level} {status}"


def build_schema(dimension: int) -> pa.Schema:
    """Return the table's schema; dimension 0 leaves the vector column out."""
    fields = [
        pa.field(name, kind, nullable=name != "passage_id") for name, (kind, _) in _COLUMNS.items()
    ]
    if dimension:
        fields.append(pa.field(VECTOR_COLUMN, pa.list_(pa.float32(), dimension)))
    return pa.schema(fields)


def build_rows(passages: Iterable[StoredPassage], dimension: int) -> pa.Table:
    """Turn passages into a table; of passages with the same id only the last one is kept.

    LanceDB writes a row for each of them otherwise.

    Raises:
        ValueError: A vector has another length or is not finite, or a time has no zone.
    """
    rows = list({passage.passage_id: passage for passage in passages}.values())
    columns = {name: [value(row) for row in rows] for name, (_, value) in _COLUMNS.items()}
    vectors = [_checked_vector(row, dimension) for row in rows]
    if dimension:
        columns[VECTOR_COLUMN] = _build_vectors(vectors, dimension)
    return pa.table(columns, schema=build_schema(dimension))


def _checked_vector(row: StoredPassage, dimension: int) -> Vector | None:
    if row.vector is None:
        return None
    if row.vector.shape != (dimension,):
        raise ValueError(
            f"passage {row.passage_id!r} has a vector of shape {row.vector.shape}, the index "
            f"holds ({dimension},); embed it with the index's own embedder"
        )
    if not np.isfinite(row.vector).all():
        raise ValueError(f"passage {row.passage_id!r} has a vector that is not finite")
    # Without direction it has no cosine with anything.
    return row.vector if row.vector.any() else None


def _build_vectors(vectors: Sequence[Vector | None], dimension: int) -> pa.Array:
    missing = np.array([vector is None for vector in vectors], dtype=bool)
    matrix = np.zeros((len(vectors), dimension), dtype=np.float32)
    for number, vector in enumerate(vectors):
        if vector is not None:
            matrix[number] = vector
    return pa.FixedSizeListArray.from_arrays(
        pa.array(matrix.reshape(-1)), dimension, mask=pa.array(missing)
    )


def read_passages(rows: pa.Table) -> list[StoredPassage]:
    """Turn rows with PASSAGE_COLUMN, and vectors where fetched, back into passages."""
    found = zip(rows[PASSAGE_COLUMN].to_pylist(), _vectors_of(rows), strict=True)
    return [_decode(json.loads(text), vector) for text, vector in found]


def build_hits(rows: pa.Table, scores: Sequence[float], stage: str = "") -> list[Hit]:
    """Turn rows with PASSAGE_COLUMN into hits, in their order.

    Args:
        rows: One row a hit.
        scores: The hits' scores.
        stage: Name under which the score is noted; empty = not noted.
    """
    found = zip(rows[PASSAGE_COLUMN].to_pylist(), _vectors_of(rows), scores, strict=True)
    return [_build_hit(json.loads(text), vector, score, stage) for text, vector, score in found]


def list_columns(dimension: int) -> list[str]:
    """Return the columns that whole hits are built from."""
    return [PASSAGE_COLUMN, VECTOR_COLUMN] if dimension else [PASSAGE_COLUMN]


def read_cosines(rows: pa.Table, question: Vector) -> list[float]:
    """Return each row's cosine with the question, exactly; the index compares bytes."""
    vectors = [vector for vector in _vectors_of(rows) if vector is not None]
    if not vectors:
        return []
    matrix = np.stack(vectors)
    lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(question)
    cosines: list[float] = np.clip(matrix @ question / lengths, -1.0, 1.0).tolist()
    return cosines


def _vectors_of(rows: pa.Table) -> list[Vector | None]:
    """Return the rows' vectors; None where there is none, or the column was not fetched."""
    if VECTOR_COLUMN not in rows.column_names or not len(rows):
        return [None] * len(rows)
    column = rows[VECTOR_COLUMN].combine_chunks()
    # Read as one matrix, for reading them one by one takes ten times as long; nulls are not in it.
    matrix = iter(column.flatten().to_numpy().reshape(-1, column.type.list_size))
    return [next(matrix) if is_valid else None for is_valid in column.is_valid().to_pylist()]


def _build_hit(values: Mapping[str, Any], vector: Vector | None, score: float, stage: str) -> Hit:
    return Hit(
        passage_id=PassageId(values["passage_id"]),
        section_id=SectionId(values["section_id"]),
        document_id=DocumentId(values["document_id"]),
        title=values["title"],
        heading_path=tuple(values["heading_path"]),
        text=values["text"],
        kind=PassageKind(values["kind"]),
        url=values["url"],
        page=values["page"],
        space=values["space"],
        source=values["source"],
        labels=tuple(values["labels"]),
        status=Status(values["status"]),
        version_number=values["version_number"],
        version_label=values["version_label"],
        updated_at=_to_moment(values["updated_at"]),
        valid_from=_to_moment(values["valid_from"]),
        valid_to=_to_end(values["valid_to"]),
        access_no=AccessNo(values["access_no"]),
        position=values["position"],
        terms=values["terms"],
        language=Language(values["language"]),
        score=score,
        scores={stage: score} if stage else {},
        vector=vector,
    )


def _encode(row: StoredPassage) -> str:
    values = {
        "passage_id": row.passage_id,
        "level": row.level,
        "section_id": row.section_id,
        "document_id": row.document_id,
        "source": row.source,
        "space": row.space,
        "scope": row.scope,
        "title": row.title,
        "heading_path": row.heading_path,
        "text": row.text,
        "language": _find_language(row.text),
        "terms": row.terms,
        "codes": row.codes,
        "kind": row.kind,
        "url": row.url,
        "page": row.page,
        "position": row.position,
        "labels": row.labels,
        "author": row.author,
        "status": row.status,
        "version_number": row.version_number,
        "version_label": row.version_label,
        "updated_at": to_microseconds(row.updated_at),
        "valid_from": to_microseconds(row.valid_from),
        "valid_to": None if row.valid_to is None else to_microseconds(row.valid_to),
        "access_no": row.access_no,
    }
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def _decode(values: Mapping[str, Any], vector: Vector | None) -> StoredPassage:
    return StoredPassage(
        passage_id=PassageId(values["passage_id"]),
        level=Level(values["level"]),
        section_id=SectionId(values["section_id"]),
        document_id=DocumentId(values["document_id"]),
        source=values["source"],
        space=values["space"],
        scope=values["scope"],
        title=values["title"],
        heading_path=tuple(values["heading_path"]),
        text=values["text"],
        terms=values["terms"],
        codes=tuple(values["codes"]),
        kind=PassageKind(values["kind"]),
        url=values["url"],
        page=values["page"],
        position=values["position"],
        labels=tuple(values["labels"]),
        author=values["author"],
        status=Status(values["status"]),
        version_number=values["version_number"],
        version_label=values["version_label"],
        updated_at=_to_moment(values["updated_at"]),
        valid_from=_to_moment(values["valid_from"]),
        valid_to=_to_end(values["valid_to"]),
        access_no=AccessNo(values["access_no"]),
        vector=vector,
    )


# Two columns need it, each for all rows of a batch.
@lru_cache(maxsize=4096)
def _find_language(text: str) -> Language:
    return detect_language(text)


def _to_moment(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)


def _to_end(value: int | None) -> datetime | None:
    return None if value is None else _to_moment(value)


_STRING = pa.string()
_STRINGS = pa.list_(_STRING)
_INTEGER = pa.int64()
_COLUMNS: Mapping[str, tuple[pa.DataType, Callable[[StoredPassage], Any]]] = {
    "passage_id": (_STRING, lambda row: row.passage_id),
    "level": (_STRING, lambda row: row.level),
    "section_id": (_STRING, lambda row: row.section_id),
    "document_id": (_STRING, lambda row: row.document_id),
    "source": (_STRING, lambda row: row.source),
    "space": (_STRING, lambda row: row.space),
    "scope": (_STRING, lambda row: row.scope),
    "author": (_STRING, lambda row: row.author),
    "status": (_STRING, lambda row: row.status),
    "language": (_STRING, lambda row: _find_language(row.text)),
    "in_force": (_STRING, lambda row: "" if row.valid_to else name_in_force(row.level, row.status)),
    "labels": (_STRINGS, lambda row: row.labels),
    "codes": (_STRINGS, lambda row: row.codes),
    "position": (_INTEGER, lambda row: row.position),
    "access_no": (_INTEGER, lambda row: row.access_no),
    "updated_at_us": (_INTEGER, lambda row: to_microseconds(row.updated_at)),
    "valid_from_us": (_INTEGER, lambda row: to_microseconds(row.valid_from)),
    "valid_to_us": (
        _INTEGER,
        lambda row: OPEN_END_US if row.valid_to is None else to_microseconds(row.valid_to),
    ),
    "terms": (_STRING, lambda row: row.terms),
    PASSAGE_COLUMN: (_STRING, _encode),
}

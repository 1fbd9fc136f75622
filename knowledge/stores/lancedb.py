"""LanceDB as the passage store: embedded, one folder, no server. Weaviate is for clusters.

Passages and sections share one table, so that a write is one commit whatever it touches; two
tables would not be searched faster (measured), the level being a bitmap. Every shape of index
(embedder, dimension, analysis) has a table of its own beside the others.

BM25 is LanceDB's own, k1 = 1.2 and b = 0.75, over all rows of the table whatever the filter.

LanceDB runs threads that do not survive a fork: processes that use a store must be spawned.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from lancedb import AsyncTable
from lancedb.query import ColumnOrdering, FullTextOperator, MatchQuery

from knowledge.documents import DocumentId, Hit, PassageId
from knowledge.stores import IndexShape, MetadataPatch, PassageFilter, StoredPassage, Vector
from knowledge.stores.lancedb_filter import (
    Predicate,
    build_predicate,
    has_any,
    is_open,
    one_of,
)
from knowledge.stores.lancedb_folder import LanceDBFolder, open_folder
from knowledge.stores.lancedb_indexes import AT_REST, MORE_FOLLOWS, WORD_COLUMN, refresh_indexes
from knowledge.stores.lancedb_pieces import merge_rows
from knowledge.stores.lancedb_purge import purge_table
from knowledge.stores.lancedb_rows import (
    build_hits,
    build_rows,
    list_columns,
    read_cosines,
    read_passages,
)

_T = TypeVar("_T")
_Fetch = Callable[[int], Awaitable[pa.Table]]

# Ids named in one predicate; documents, of many rows, changed at once; rows of one commit, which
# LanceDB joins with the others in a memory of 300 MB.
_IDS_AT_ONCE = 500
_DOCUMENTS_AT_ONCE = 200
_ROWS_AT_ONCE = 4_096
# More rows are fetched than asked for, so that ties at the end can be told and broken by id.
_SPARE_ROWS = 6
_MOST_ROWS = 2_000
# Beyond any number of partitions: each is probed.
_EVERY_PARTITION = 1_000_000


async def open_lancedb_store(
    path: Path, shape: IndexShape, *, lock_timeout_s: float = 60.0, reader_grace_s: float = 1.0
) -> "LanceDBStore":
    """Open, or create, the index of this shape in a folder.

    Args:
        path: The folder; made when missing. Indexes of other shapes in it are left alone.
        shape: What the index is made for.
        lock_timeout_s: How long a write waits for a writer in another process.
        reader_grace_s: How long searches that have begun may read what a purge removes.

    Raises:
        SettingsError: The folder can't be read or written, or what is in it is damaged.
        ServiceUnavailableError: A new index has to be made while another process writes.
    """
    folder = await open_folder(path, shape, lock_timeout_s=lock_timeout_s)
    return LanceDBStore(folder, dimension=shape.dimension, reader_grace_s=reader_grace_s)


class LanceDBStore:
    """A PassageStore in a folder. Safe for any number of tasks; not to be used after a fork."""

    def __init__(
        self, folder: LanceDBFolder, *, dimension: int, reader_grace_s: float = 1.0
    ) -> None:
        self._folder = folder
        self._reader_grace_s = reader_grace_s
        self._dimension = dimension
        self._columns = list_columns(dimension)

    async def upsert(self, passages: Sequence[StoredPassage]) -> None:
        """Write rows, replacing those with the same passage_id; 4,096 rows are one commit.

        Raises:
            ValueError: A vector does not fit the shape or is not finite; a time has no zone.
        """
        for some in _chunks(passages, _ROWS_AT_ONCE):
            rows = await asyncio.to_thread(build_rows, some, self._dimension)
            await self._folder.write(partial(merge_rows, rows=rows, insert=True))

    async def end_validity(self, ids: Sequence[PassageId], valid_to: datetime) -> None:
        """Close rows; unknown ids are ignored, closed rows stay as they are."""
        for some in _chunks(ids, _IDS_AT_ONCE):
            await self._rewrite(
                is_open() & Predicate(sql=(one_of("passage_id", some),)),
                lambda row: replace(row, valid_to=valid_to),
            )

    async def patch(self, patches: Sequence[MetadataPatch]) -> None:
        """Change document-level values; patches of one document apply in their order."""
        by_document: dict[DocumentId, list[MetadataPatch]] = {}
        for one in patches:
            by_document.setdefault(one.document_id, []).append(one)
        for some in _chunks(list(by_document), _DOCUMENTS_AT_ONCE):
            await self._rewrite(
                Predicate(sql=(one_of("document_id", some),)),
                lambda row: _patched(row, by_document[row.document_id]),
            )

    async def delete_documents(self, ids: Sequence[DocumentId]) -> None:
        """Remove all rows of these documents and of no other."""
        await self._delete("document_id", ids)

    async def delete_passages(self, ids: Sequence[PassageId]) -> None:
        """Remove these rows."""
        await self._delete("passage_id", ids)

    async def search_terms(
        self, terms: Sequence[str], where: PassageFilter, *, limit: int
    ) -> list[Hit]:
        """Rank rows by BM25; a term counts once however often it is given."""
        words = " ".join(dict.fromkeys(term for term in terms if term.strip()))
        predicate = build_predicate(where)
        if predicate is None or not words or limit < 1:
            return []

        async def fetch(rows: int) -> pa.Table:
            async with self._folder.reading() as table:
                query = table.query().nearest_to_text(_match(words))
                found = predicate.apply(query).select([*self._columns, "_score"])
                return await found.limit(rows).to_arrow()

        return await _rank(fetch, lambda table: table["_score"].to_pylist(), limit, "bm25")

    async def search_vector(self, vector: Vector, where: PassageFilter, *, limit: int) -> list[Hit]:
        """Rank rows by cosine similarity; rows without a vector are never found.

        Raises:
            ValueError: The vector is not of the shape's dimension.
        """
        predicate = build_predicate(where)
        if self._dimension == 0 or predicate is None or limit < 1 or not np.any(vector):
            return []
        if vector.shape != (self._dimension,):
            raise ValueError(
                f"a query vector of shape {vector.shape} does not fit the index, which holds "
                f"({self._dimension},); embed the query with the index's own embedder"
            )

        async def fetch(rows: int) -> pa.Table:
            async with self._folder.reading() as table:
                query = table.query().nearest_to(vector).distance_type("cosine")
                query = query.nprobes(_EVERY_PARTITION)
                found = predicate.apply(query).select([*self._columns, "_distance"])
                return await found.limit(rows).to_arrow()

        return await _rank(fetch, partial(read_cosines, question=vector), limit, "vector")

    async def find_codes(
        self, codes: Sequence[str], where: PassageFilter, *, limit: int
    ) -> list[Hit]:
        """Return rows that hold at least one of the codes; the score is how many they hold."""
        wanted = set(codes)
        predicate = build_predicate(where)
        if predicate is None or not wanted or limit < 1:
            return []
        async with self._folder.reading() as table:
            query = (predicate & Predicate(sql=(has_any("codes", wanted),))).apply(table.query())
            rows = (await query.select(["passage_id", "codes"]).to_arrow()).to_pylist()
        scores = {row["passage_id"]: float(len(wanted & set(row["codes"]))) for row in rows}
        best = sorted(scores, key=lambda passage_id: (-scores[passage_id], passage_id))[:limit]
        hits = {hit.passage_id: hit for hit in await self.get(best, where)}
        return [
            replace(
                hits[passage_id], score=scores[passage_id], scores={"codes": scores[passage_id]}
            )
            for passage_id in best
            if passage_id in hits
        ]

    async def get(self, ids: Sequence[PassageId], where: PassageFilter) -> list[Hit]:
        """Return those of the rows that the filter admits (its level is ignored), any order."""
        predicate = build_predicate(where, with_level=False)
        if predicate is None:
            return []
        hits: list[Hit] = []
        for some in _chunks(list(dict.fromkeys(ids)), _IDS_AT_ONCE):
            async with self._folder.reading() as table:
                query = (predicate & Predicate(sql=(one_of("passage_id", some),))).apply(
                    table.query()
                )
                rows = await query.select(self._columns).to_arrow()
            hits += build_hits(rows, [0.0] * len(rows))
        return hits

    async def list_hits(self, where: PassageFilter, *, limit: int) -> list[Hit]:
        """Return rows the filter admits, ordered by document, position and id, score 0."""
        predicate = build_predicate(where)
        if predicate is None or limit < 1:
            return []
        async with self._folder.reading() as table:
            query = predicate.apply(table.query()).select(self._columns)
            rows = await query.limit(limit + 1).to_arrow()
            if len(rows) > limit:
                # Only now: letting LanceDB sort takes longer than finding a section's few rows.
                order = ("document_id", "position", "passage_id")
                query = predicate.apply(table.query()).order_by(
                    [ColumnOrdering(column_name=name) for name in order]
                )
                rows = await query.select([*self._columns, *order]).limit(limit).to_arrow()
        hits = await asyncio.to_thread(build_hits, rows, [0.0] * len(rows))
        return sorted(hits, key=lambda hit: (hit.document_id, hit.position, hit.passage_id))

    async def count(self, where: PassageFilter | None = None) -> int:
        """Count rows; without a filter all of them, old versions and sections too."""
        if where is None:
            async with self._folder.reading() as table:
                return int(await table.count_rows())
        predicate = build_predicate(where)
        if predicate is None:
            return 0
        async with self._folder.reading() as table:
            rows = predicate.apply(table.query()).select(["position"])
            return len(await rows.to_arrow())

    async def optimize(self, *, more_follows: bool = False) -> None:
        """Bring indexes up to date and files into shape, as far as it pays.

        Args:
            more_follows: Another batch comes at once, so that what costs much may wait.
        """
        limits = MORE_FOLLOWS if more_follows else AT_REST
        folder = self._folder.table_path
        await self._folder.write(partial(refresh_indexes, folder=folder, limits=limits))

    async def purge(self, *, with_other_shapes: bool = False) -> None:
        """Leave nothing of dead rows on disk, in earlier states of the table neither.

        Searches that have begun are waited for; one that takes longer than `reader_grace_s` fails.

        Raises:
            SettingsError: Dead rows are left, in tables of more than a million rows.
        """
        if with_other_shapes:
            await self._folder.drop_other_tables()
        folder, grace_s = self._folder.table_path, self._reader_grace_s
        await self._folder.write(partial(purge_table, folder=folder, grace_s=grace_s))

    async def close(self) -> None:
        """Release files and memory. Safe to call twice."""
        self._folder.close()

    async def _rewrite(
        self, predicate: Predicate, change: Callable[[StoredPassage], StoredPassage]
    ) -> None:
        """Write the changed ones of these rows again."""

        async def work(table: AsyncTable) -> None:
            found = await predicate.apply(table.query()).select(self._columns).to_arrow()
            rows = await asyncio.to_thread(_change_rows, found, change, self._dimension)
            for some in _chunks(range(len(rows)), _ROWS_AT_ONCE):
                await merge_rows(table, rows.slice(some[0], len(some)), insert=False)

        await self._folder.write(work)

    async def _delete(self, column: str, ids: Sequence[str]) -> None:
        for some in _chunks(ids, _IDS_AT_ONCE):
            await self._folder.write(partial(AsyncTable.delete, where=one_of(column, some)))


def _match(words: str) -> MatchQuery:
    # Not a query string: quotes, AND, * and the like are characters of terms, nothing more.
    return MatchQuery(
        words,
        WORD_COLUMN,
        boost=1.0,
        fuzziness=0,
        max_expansions=50,
        operator=FullTextOperator.OR,
        prefix_length=0,
        document_granularity=None,
    )


def _change_rows(
    found: pa.Table, change: Callable[[StoredPassage], StoredPassage], dimension: int
) -> pa.Table:
    pairs = [(row, change(row)) for row in read_passages(found)]
    return build_rows((after for before, after in pairs if after is not before), dimension)


def _patched(row: StoredPassage, patches: Sequence[MetadataPatch]) -> StoredPassage:
    """Return the row with the patches applied; the very same one when nothing changes."""
    for patch in patches:
        if patch.passage_ids and row.passage_id not in patch.passage_ids:
            continue
        changes = _find_changes(row, patch)
        row = replace(row, **changes) if changes else row
    return row


def _find_changes(row: StoredPassage, patch: MetadataPatch) -> Mapping[str, Any]:
    values = {name: getattr(patch, name) for name in _PATCHED}
    return {
        name: value
        for name, value in values.items()
        if value is not None and value != getattr(row, name)
    }


_PATCHED = (
    "access_no",
    "status",
    "title",
    "url",
    "space",
    "scope",
    "labels",
    "author",
    "version_number",
    "version_label",
    "updated_at",
)


async def _rank(
    fetch: _Fetch, read_scores: Callable[[pa.Table], list[float]], limit: int, stage: str
) -> list[Hit]:
    """Return the best rows by score, then id.

    Of rows with equal scores LanceDB returns whichever it meets first, so more are fetched until
    the last one is worse than the last wanted, or _MOST_ROWS are reached.
    """
    wanted = limit + _SPARE_ROWS
    while True:
        rows = await fetch(wanted)
        scores = read_scores(rows)
        if len(rows) < wanted or wanted >= _MOST_ROWS or min(scores) < _nth_best(scores, limit):
            break
        wanted = min(wanted * 4, max(_MOST_ROWS, wanted))
    hits = build_hits(rows, scores, stage)
    return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))[:limit]


def _nth_best(scores: Sequence[float], number: int) -> float:
    return sorted(scores, reverse=True)[number - 1]


def _chunks(items: Sequence[_T], size: int) -> list[Sequence[_T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]

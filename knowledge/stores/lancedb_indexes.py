"""Indexes of the LanceDB table, and when it pays to bring them up to date.

LanceDB's own `optimize` rewrites the whole table each time, indexes included (3 s for 50,000
passages), so that calling it after every batch costs more than the rest of the ingestion. Rows
that no index covers yet are found all the same, by a scan that costs 8 ms a thousand rows; and
since that scan adds the fresh rows to the statistics of the index, their scores are those the
index will give them, while the scores of indexed rows are off by the share of the fresh ones (0.3 %
on average at 1 %). So indexes are rebuilt one by one, which is cheaper, and only when fresh rows
have become many; the table is compacted when it lies in many pieces, the fresh ones of which are
joined sooner.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from lancedb import AsyncTable
from lancedb.index import FTS, Bitmap, BTree, IvfSq, LabelList

from knowledge.stores.heap import return_free_memory
from knowledge.stores.lancedb_pieces import join_fresh_pieces
from knowledge.stores.lancedb_rows import VECTOR_COLUMN

WORD_COLUMN = "terms"

# Terms come analysed: nothing is folded, stemmed or dropped here, and no term is too long (the
# default silently drops those of 40 bytes, that is 14 Chinese characters). LanceDB's BM25 has
# k1 = 1.2 and b = 0.75.
_WORDS = FTS(
    base_tokenizer="whitespace",
    lower_case=False,
    stem=False,
    remove_stop_words=False,
    ascii_folding=False,
    max_token_length=None,
)
# Bitmaps where values repeat, trees where they hardly do.
_FILTERS: Mapping[str, Bitmap | BTree | LabelList] = {
    "access_no": Bitmap(),
    "in_force": Bitmap(),
    "level": Bitmap(),
    "status": Bitmap(),
    "language": Bitmap(),
    "valid_to_us": Bitmap(),
    "source": Bitmap(),
    "space": Bitmap(),
    "scope": Bitmap(),
    "author": Bitmap(),
    "passage_id": BTree(),
    "document_id": BTree(),
    "section_id": BTree(),
    "valid_from_us": BTree(),
    "updated_at_us": BTree(),
    "labels": LabelList(),
    "codes": LabelList(),
}
# Vectors as bytes; searches probe every partition and measure the best exactly, which finds what
# an exact search finds in a twelfth of its time, whatever the filter leaves over (graphs and fewer
# probes lose a fifth under narrow filters). Small partitions only add to the time.
_VECTORS: Any = IvfSq(distance_type="cosine", target_partition_size=65_536)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepLimits:
    """What is put up with before work is done.

    Attributes:
        fresh_rows: Rows outside an index put up with in any case.
        fresh_share: Share of the rows put up with beyond that.
        always_rows: Up to this size of table no row stays outside the index of words.
        fresh_pieces: Fragments, each the trace of a write, outside the index of words.
        pieces: Fragments altogether.
        versions: States on disk that may go, each with its index files.
        keep_versions_for: How long an old state is kept for those who read it. Readers turn to
            the newest one at every call.
    """

    fresh_rows: int
    fresh_share: float
    always_rows: int
    fresh_pieces: int
    pieces: int
    versions: int
    keep_versions_for: timedelta = timedelta(minutes=2)

    def is_stale(self, fresh: int, rows: int) -> bool:
        """Tell whether so many of the rows may not stay outside an index."""
        return fresh > max(self.fresh_rows, self.fresh_share * rows)


# Measured on 10,000 documents of 5 rows in batches of 64 documents.
AT_REST = UpkeepLimits(
    fresh_rows=128,
    fresh_share=0.005,
    always_rows=5_000,
    fresh_pieces=4,
    pieces=16,
    versions=400,
)
MORE_FOLLOWS = UpkeepLimits(
    fresh_rows=2_048,
    fresh_share=0.25,
    always_rows=0,
    fresh_pieces=256,
    pieces=256,
    versions=1_000,
)
_FILTER_INDEX_ROWS = 5_000
_VECTOR_INDEX_ROWS = 2_000
# Deleted and replaced rows stay in the files until they are compacted.
_DEAD_ROWS = 1_000
_DEAD_SHARE = 0.25


async def create_word_index(table: AsyncTable) -> None:
    """Create the full-text index; an empty one already fixes how fresh rows are read."""
    await table.create_index(WORD_COLUMN, config=_WORDS, replace=True)


async def has_word_index(table: AsyncTable) -> bool:
    """Tell whether the table has its full-text index."""
    return WORD_COLUMN in await _count_fresh(table)


async def refresh_indexes(table: AsyncTable, folder: Path, limits: UpkeepLimits) -> None:
    """Bring files and indexes into shape, as far as the limits ask for it.

    Args:
        table: The table.
        folder: Where its files lie.
        limits: What to put up with.
    """
    rows = await table.count_rows()
    has_worked = await _needs_compaction(table, rows, folder, limits)
    if has_worked:
        await table.optimize(cleanup_older_than=limits.keep_versions_for)
    for column, config in await _find_stale(table, rows, limits):
        await table.create_index(column, config=config, replace=True)
        has_worked = True
    fresh = await _count_fresh(table)
    await join_fresh_pieces(table, fresh=fresh.get(WORD_COLUMN, 0), limit=limits.fresh_pieces)
    if has_worked:
        await asyncio.to_thread(return_free_memory)


async def rebuild_indexes(table: AsyncTable) -> None:
    """Build every index of the table again, from the rows it has now."""
    kinds = {WORD_COLUMN: _WORDS, VECTOR_COLUMN: _VECTORS, **_FILTERS}
    for column in await _count_fresh(table):
        if column != VECTOR_COLUMN or await _has_vectors(table, await table.count_rows()):
            await table.create_index(column, config=kinds[column], replace=True)
        else:
            # Too few vectors are left to train it again.
            await table.drop_index(f"{column}_idx")
    await asyncio.to_thread(return_free_memory)


async def _find_stale(table: AsyncTable, rows: int, limits: UpkeepLimits) -> list[tuple[str, Any]]:
    """Return the columns whose index has to be made, or made again, each with its kind."""
    fresh = await _count_fresh(table)
    fresh_words = fresh.get(WORD_COLUMN, rows)
    stale: list[tuple[str, Any]] = []
    if limits.is_stale(fresh_words, rows) or 0 < fresh_words <= rows <= limits.always_rows:
        stale.append((WORD_COLUMN, _WORDS))
    if rows >= _FILTER_INDEX_ROWS:
        stale += [
            (column, config)
            for column, config in _FILTERS.items()
            if limits.is_stale(fresh.get(column, rows), rows)
        ]
    if limits.is_stale(fresh.get(VECTOR_COLUMN, rows), rows) and await _has_vectors(table, rows):
        stale.append((VECTOR_COLUMN, _VECTORS))
    return stale


async def _has_vectors(table: AsyncTable, rows: int) -> bool:
    """Tell whether there are vectors enough to train an index on; not every row has one."""
    if rows < _VECTOR_INDEX_ROWS or VECTOR_COLUMN not in (await table.schema()).names:
        return False
    return int(await table.count_rows(f"{VECTOR_COLUMN} IS NOT NULL")) >= _VECTOR_INDEX_ROWS


async def _needs_compaction(
    table: AsyncTable, rows: int, folder: Path, limits: UpkeepLimits
) -> bool:
    pieces, written = await _count_written(table)
    if pieces > limits.pieces or written - rows > max(_DEAD_ROWS, _DEAD_SHARE * rows):
        return True
    return await asyncio.to_thread(_count_old_versions, folder, limits) > limits.versions


async def count_dead_rows(table: AsyncTable) -> int:
    """Return how many rows stand in the files though they were deleted or replaced."""
    _, written = await _count_written(table)
    return written - int(await table.count_rows())


async def _count_written(table: AsyncTable) -> tuple[int, int]:
    """Return how many pieces there are, and how many rows were written to them."""
    # A dictionary, whatever its annotation says.
    stats: Any = await table.stats()
    fragments = stats["fragment_stats"]
    pieces = int(fragments["num_fragments"])
    return pieces, round(pieces * fragments["lengths"]["mean"])


def _count_old_versions(folder: Path, limits: UpkeepLimits) -> int:
    """Count the versions that compaction would remove; others would only make it run in vain."""
    oldest_kept = time.time() - limits.keep_versions_for.total_seconds()
    manifests = (folder / "_versions").glob("*.manifest")
    return sum(1 for manifest in manifests if manifest.stat().st_mtime < oldest_kept)


async def _count_fresh(table: AsyncTable) -> dict[str, int]:
    """Return by indexed column how many rows its index does not cover yet."""
    return {index.columns[0]: index.num_unindexed_rows or 0 for index in await table.list_indices()}

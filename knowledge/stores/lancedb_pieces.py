"""Writing rows to LanceDB, and joining the pieces that small writes leave.

Every write adds a fragment. Until an index covers it, each search plans its filter for it anew,
which takes a millisecond a piece where a reader has 2,900 access classes.
"""

import numpy as np
import pyarrow as pa
from lancedb import AsyncTable

# A row's id is the number of its fragment and its place in it.
_FRAGMENT_BITS = 32
_MOST_JOINED_ROWS = 2_048


async def merge_rows(table: AsyncTable, rows: pa.Table, *, insert: bool) -> None:
    """Replace rows with the same passage_id in one commit; `insert` adds those that are new."""
    # A plain scan for the ids takes a tenth of the time of a look-up in their index.
    merge = table.merge_insert("passage_id").use_index(use_index=False).when_matched_update_all()
    if insert:
        merge = merge.when_not_matched_insert_all()
    # Without "null" a row without a vector is taken for one of another length and refused.
    await merge.execute(rows, on_bad_vectors="null")


async def join_fresh_pieces(table: AsyncTable, *, fresh: int, limit: int) -> None:
    """Write the rows that no index covers again, as one piece, when they lie in too many.

    Args:
        table: The table.
        fresh: How many rows the index of words does not cover; they are the newest ones.
        limit: How many pieces of them are put up with.
    """
    if not 0 < fresh <= _MOST_JOINED_ROWS:
        return
    scan = table.query().with_row_id().select(["position"])
    row_ids = (await scan.to_arrow())["_rowid"].to_numpy()
    numbers, sizes = np.unique(row_ids >> _FRAGMENT_BITS, return_counts=True)
    newest = numbers[::-1][np.cumsum(sizes[::-1]) <= fresh]
    if len(newest) <= limit:
        return
    chosen = row_ids[row_ids >> _FRAGMENT_BITS >= newest.min()]
    names = (await table.schema()).names
    rows = await table.take_row_ids(chosen.tolist()).select(names).to_arrow()
    await merge_rows(table, rows, insert=False)

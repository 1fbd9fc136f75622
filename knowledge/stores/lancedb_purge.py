"""Leaving nothing on disk of rows that were deleted or replaced.

LanceDB marks rows as deleted and goes on keeping them: in data files until those are rewritten, in
indexes until those are built again, and in every earlier state of the table.
"""

import asyncio
from datetime import timedelta
from pathlib import Path

from lancedb import AsyncTable

from core.errors import SettingsError
from knowledge.stores.lancedb_indexes import count_dead_rows, rebuild_indexes
from knowledge.stores.lancedb_pieces import merge_rows

# Zero makes LanceDB warn of readers, who are waited for here.
_NO_TIME = timedelta(milliseconds=1)


async def purge_table(table: AsyncTable, folder: Path, *, grace_s: float) -> None:
    """Rewrite what holds dead rows, build all indexes anew and remove every earlier state.

    To be called by the only writer there is. Costs about as much as a compaction of the whole
    table; nothing where there is nothing to remove.

    Args:
        table: The table.
        folder: Where its files lie.
        grace_s: How long searches that have begun may go on reading an earlier state.

    Raises:
        SettingsError: Dead rows are left.
    """
    dead = await count_dead_rows(table)
    if not dead and await asyncio.to_thread(_count_states, folder) == 1:
        return
    if dead:
        await _add_piece(table)
    # Built from living rows only. Compaction joins pieces when the same indexes cover them.
    await rebuild_indexes(table)
    await table.optimize()
    await asyncio.sleep(grace_s)
    # No other writer means that no file belongs to a write that is still to be committed.
    await table.optimize(cleanup_older_than=_NO_TIME, delete_unverified=True)
    if left := await count_dead_rows(table):
        raise SettingsError(
            f"{left} deleted rows are still in the files of {str(folder)!r}, which LanceDB does "
            "not rewrite at this size; remove the folder and run `zhixing sync` to build it anew"
        )


async def _add_piece(table: AsyncTable) -> None:
    """Write one row again, as a piece of its own.

    LanceDB rewrites a piece when it has a neighbour to join it with, or a tenth of it is dead.
    """
    row = await table.query().select((await table.schema()).names).limit(1).to_arrow()
    if len(row):
        await merge_rows(table, row, insert=False)


def _count_states(folder: Path) -> int:
    return sum(1 for _ in (folder / "_versions").glob("*.manifest"))

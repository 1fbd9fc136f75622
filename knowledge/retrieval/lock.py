"""The second lock: what the index found is checked against the ledger's rules of today."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from knowledge.access import ReadableClasses
from knowledge.documents import Hit
from knowledge.ledger import Ledger
from knowledge.ledger_records import RowState


async def check_hits(
    ledger: Ledger,
    hits: Sequence[Hit],
    access: ReadableClasses,
    *,
    only_current: bool,
    as_of: datetime | None = None,
) -> list[Hit]:
    """Return the hits that may be shown, in order, with what the ledger knows of them today.

    A hit the ledger does not know is denied, also for the operator: it was deleted, or written by
    a run that never ended. With `only_current`, a row that has ended meanwhile is left out; with
    `as_of`, one that was not in force at that moment.
    """
    if not hits:
        return []
    states = await ledger.check_rows([hit.passage_id for hit in hits])
    shown = []
    for hit in hits:
        state = states.get(hit.passage_id)
        if state is None or not access.admits(state.access_no):
            continue
        if only_current and state.valid_to is not None:
            continue
        if as_of is not None and not _is_in_force(hit, state, as_of):
            continue
        shown.append(
            replace(
                hit,
                access_no=state.access_no,
                valid_to=state.valid_to,
                is_unconfirmed_since=state.held_since,
            )
        )
    return shown


def _is_in_force(hit: Hit, state: RowState, moment: datetime) -> bool:
    return hit.valid_from <= moment and (state.valid_to is None or moment < state.valid_to)

"""The second lock: what the index found is checked against the ledger's rules of today."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from knowledge.access import ReadableClasses
from knowledge.documents import Hit, PassageId, name_version
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
    """Ask the ledger about hits and return those that may be shown (`admit_hits`)."""
    if not hits:
        return []
    states = await ledger.check_rows([hit.passage_id for hit in hits])
    return admit_hits(hits, states, access, only_current=only_current, as_of=as_of)


def admit_hits(
    hits: Sequence[Hit],
    states: Mapping[PassageId, RowState],
    access: ReadableClasses,
    *,
    only_current: bool,
    as_of: datetime | None = None,
) -> list[Hit]:
    """Return the hits that may be shown, in order, with what the ledger knows of them today.

    A hit the ledger does not know is denied, also for the operator: it was deleted, or written by
    a run that never ended.

    Args:
        states: What the ledger says now (`Ledger.check_rows`).
        access: What the reader may see.
        only_current: Leave out a row that has ended meanwhile.
        as_of: Leave out rows that were not in force at that moment.
    """
    shown = []
    for hit in hits:
        state = states.get(hit.passage_id)
        if state is None or not access.admits(state.access_no):
            continue
        if only_current and state.valid_to is not None:
            continue
        if as_of is not None and not _is_in_force(hit, state, as_of):
            continue
        shown.append(_bring_up_to_date(hit, state, as_of))
    return shown


def _bring_up_to_date(hit: Hit, state: RowState, as_of: datetime | None) -> Hit:
    """Return the hit as the ledger has it; text in force carries its page's version of today.

    The index keeps with a row the version that wrote it, for unchanged text is not written again.
    Text looked up as of a moment keeps that version when today's page is younger than the moment.
    """
    checked = replace(
        hit,
        access_no=state.access_no,
        valid_to=state.valid_to,
        is_unconfirmed_since=state.held_since,
    )
    if state.valid_to is not None or (as_of is not None and as_of < state.updated_at):
        return checked
    is_older = hit.version_number != state.version_number
    writing = name_version(hit.version_number, hit.version_label) if is_older else ""
    return replace(
        checked,
        version_number=state.version_number,
        version_label=state.version_label,
        updated_at=state.updated_at,
        written_in=hit.written_in or writing,
    )


def _is_in_force(hit: Hit, state: RowState, moment: datetime) -> bool:
    return hit.valid_from <= moment and (state.valid_to is None or moment < state.valid_to)

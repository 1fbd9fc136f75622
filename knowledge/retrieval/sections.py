"""From matched passages to the sections they belong to: match small, read whole."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from knowledge.documents import Hit, PassageId, SectionId
from knowledge.ledger import Ledger
from knowledge.retrieval import Evidence
from knowledge.retrieval.candidates import Candidates
from knowledge.retrieval.lock import admit_hits
from knowledge.stores import Level, PassageFilter, PassageStore

ROWS_AT_MOST = 1_000


async def load_candidates(
    store: PassageStore,
    ledger: Ledger,
    hits: Sequence[Hit],
    where: PassageFilter,
    *,
    two_levels: bool = True,
) -> Candidates:
    """Fetch the hits' sections and pass both through the second lock, in one look at the ledger.

    What the ledger denies goes before anything is scored or judged with it; sections too, for
    forgotten text must not come back with its section. A search as of a moment gets sections as
    they were then. A section of one passage has no row of its own and is left out: the passage is
    the section.
    """
    if not hits:
        return Candidates(hits=())
    rows = await _list_sections(store, hits, where) if two_levels else []
    states = await ledger.check_rows([hit.passage_id for hit in (*hits, *rows)])
    as_of = None if where.any_time else where.as_of
    is_for_today = as_of is None and not where.any_time
    admitted = admit_hits(hits, states, where.access, only_current=is_for_today, as_of=as_of)
    by_section: dict[SectionId, list[Hit]] = {}
    for row in admit_hits(rows, states, where.access, only_current=False, as_of=as_of):
        by_section.setdefault(row.section_id, []).append(row)
    found = {
        hit.passage_id: _find_alive_with(hit, by_section.get(hit.section_id, []), as_of=as_of)
        for hit in admitted
    }
    sections = {passage_id: row for passage_id, row in found.items() if row is not None}
    return Candidates(hits=tuple(admitted), sections=sections)


async def _list_sections(
    store: PassageStore, hits: Sequence[Hit], where: PassageFilter
) -> list[Hit]:
    return await store.list_hits(
        replace(
            where,
            level=Level.SECTION,
            as_of=None,
            any_time=True,
            statuses=frozenset(hit.status for hit in hits),
            languages=frozenset(),
            sections=frozenset(hit.section_id for hit in hits),
        ),
        limit=ROWS_AT_MOST,
    )


def gather_evidence(
    hits: Sequence[Hit], sections: Mapping[PassageId, Hit], *, limit: int
) -> list[Evidence]:
    """Group hits by section, best first, and give each group the whole text of its section."""
    grouped: dict[SectionId, list[Hit]] = {}
    for hit in hits:
        grouped.setdefault(hit.section_id, []).append(hit)
    return [
        Evidence(
            hit=group[0],
            section_text=sections.get(group[0].passage_id, group[0]).text,
            passages=tuple(group),
        )
        for group in list(grouped.values())[:limit]
    ]


def gather_further(
    hits: Sequence[Hit],
    sections: Mapping[PassageId, Hit],
    evidence: Sequence[Evidence],
    *,
    limit: int,
) -> list[Evidence]:
    """Return the best section of each document that has none among the evidence, best first."""
    documents = {one.hit.document_id for one in evidence}
    further: list[Evidence] = []
    for hit in hits:
        if len(further) == limit:
            break
        if hit.document_id not in documents:
            documents.add(hit.document_id)
            text = sections.get(hit.passage_id, hit).text
            further.append(Evidence(hit=hit, section_text=text, passages=(hit,)))
    return further


def _find_alive_with(hit: Hit, rows: Sequence[Hit], *, as_of: datetime | None) -> Hit | None:
    """Find the section row whose life overlaps the hit's, the latest such one.

    Rows of equal class only: a section must never carry text its passage's readers may not see.
    Rows in force `as_of` a moment go with every hit of that moment.
    """
    fitting = [
        row
        for row in rows
        if row.access_no == hit.access_no and (as_of is not None or _lives_with(hit, row))
    ]
    return max(fitting, key=lambda row: row.valid_from, default=None)


def _lives_with(hit: Hit, row: Hit) -> bool:
    if hit.valid_to is None:
        return row.valid_to is None
    return row.valid_from < hit.valid_to and (row.valid_to is None or row.valid_to > hit.valid_from)

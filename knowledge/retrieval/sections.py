"""From matched passages to the sections they belong to: match small, read whole."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from knowledge.documents import Hit, PassageId, SectionId
from knowledge.retrieval import Evidence
from knowledge.stores import Level, PassageFilter, PassageStore

ROWS_AT_MOST = 1_000


async def find_sections(
    store: PassageStore, hits: Sequence[Hit], where: PassageFilter
) -> dict[PassageId, Hit]:
    """Return the section row of each hit, by the hit's passage id, under the filter's rights.

    A section of one passage has no row of its own and is left out: the passage is the section.
    """
    if not hits:
        return {}
    rows = await store.list_hits(
        replace(
            where,
            level=Level.SECTION,
            as_of=None,
            any_time=True,
            statuses=frozenset(hit.status for hit in hits),
            sections=frozenset(hit.section_id for hit in hits),
        ),
        limit=ROWS_AT_MOST,
    )
    by_section: dict[SectionId, list[Hit]] = {}
    for row in rows:
        by_section.setdefault(row.section_id, []).append(row)
    found = {
        hit.passage_id: _find_alive_with(hit, by_section.get(hit.section_id, [])) for hit in hits
    }
    return {passage_id: row for passage_id, row in found.items() if row is not None}


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


def _find_alive_with(hit: Hit, rows: Sequence[Hit]) -> Hit | None:
    """Find the section row whose life overlaps the hit's, the latest such one.

    Rows of equal class only: a section must never carry text its passage's readers may not see.
    """
    fitting = [
        row
        for row in rows
        if row.access_no == hit.access_no
        and (row.valid_to is None or row.valid_to > hit.valid_from)
        and (hit.valid_to is None or row.valid_from < hit.valid_to)
        and (hit.valid_to is not None or row.valid_to is None)
    ]
    return max(fitting, key=lambda row: row.valid_from, default=None)

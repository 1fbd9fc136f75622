"""From matched passages to the sections they belong to: match small, read whole."""

from collections.abc import Sequence

from knowledge.access import ReadableClasses
from knowledge.documents import Hit, PassageId, SectionId
from knowledge.retrieval import Evidence
from knowledge.stores import Level, PassageFilter, PassageStore

SECTIONS_READ = 200


async def gather_evidence(
    store: PassageStore,
    hits: Sequence[Hit],
    *,
    access: ReadableClasses,
    limit: int,
) -> list[Evidence]:
    """Group hits by section, best first, and fetch the whole text of at most `limit` sections.

    A section of one passage has no row of its own: the passage is the section. A section row is
    taken only in the version its passages are of.
    """
    grouped: dict[SectionId, list[Hit]] = {}
    for hit in hits:
        grouped.setdefault(hit.section_id, []).append(hit)
    chosen = dict(list(grouped.items())[:limit])
    texts = await _fetch_texts(store, [group[0] for group in chosen.values()], access)
    return [
        Evidence(
            hit=group[0],
            section_text=texts.get(group[0].passage_id, group[0].text),
            passages=tuple(group),
        )
        for group in chosen.values()
    ]


async def _fetch_texts(
    store: PassageStore, hits: Sequence[Hit], access: ReadableClasses
) -> dict[PassageId, str]:
    if not hits:
        return {}
    rows = await store.list_hits(
        PassageFilter(
            access=access,
            level=Level.SECTION,
            any_time=True,
            statuses=frozenset(hit.status for hit in hits),
            sections=frozenset(hit.section_id for hit in hits),
        ),
        limit=SECTIONS_READ,
    )
    by_section: dict[SectionId, list[Hit]] = {}
    for row in rows:
        by_section.setdefault(row.section_id, []).append(row)
    texts: dict[PassageId, str] = {}
    for hit in hits:
        section = _row_in_force_with(hit, by_section.get(hit.section_id, []))
        if section is not None:
            texts[hit.passage_id] = section.text
    return texts


def _row_in_force_with(hit: Hit, rows: Sequence[Hit]) -> Hit | None:
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

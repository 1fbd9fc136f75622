"""A database as a document: its rows as Markdown tables. Pure.

A row that has readers of its own is not shown among the others: it comes in as included text, in
a table of rows with the same readers, readable by those who may read both.
"""

from collections.abc import Mapping
from typing import Any

from connectors.files.tables import write_table
from connectors.notion.page_document import Draft, build_references, finish
from connectors.notion.page_reading import DatabaseReading, SourceReading
from connectors.notion.payloads import NotionObject
from connectors.notion.properties import find_number_format, write_property
from connectors.notion.rich_text import References, write_rich_text
from connectors.notion.round import Round
from knowledge.documents import Document

# What says nothing in a table, or would say it in every row.
_LEFT_OUT = frozenset({"button"})


def build_database(round_: Round, reading: DatabaseReading, people: Mapping[str, str]) -> Document:
    """Write a database that is in the tree, with its rows."""
    rule = round_.rule(reading.found.id)
    references = build_references(round_, rule, people)
    draft = Draft()
    draft.add(write_rich_text(reading.found.description, references).strip())
    notes = dict(reading.notes)
    for source in reading.sources:
        heading = f"# {source.found.plain_title}" if len(reading.sources) > 1 else ""
        _add_source(draft, source, round_, references, owner=reading.found.id, heading=heading)
        if source.has_more:
            shown = f"the first {len(source.rows)} rows are in the table; each of the others has a "
            notes[f"{shown}page of its own"] = None
    return finish(
        round_,
        reading.describe(),
        found=reading.found,
        draft=draft,
        references=references,
        notes=tuple(notes),
    )


def _add_source(
    draft: Draft,
    source: SourceReading,
    round_: Round,
    references: References,
    *,
    owner: str,
    heading: str,
) -> None:
    """Add the rows that everybody who reads the database may read, then those of fewer readers."""
    columns = _order_columns(source.found.properties)
    own_rule = round_.rule(owner)
    groups: dict[str, list[NotionObject]] = {}
    for row in source.rows:
        access_id = round_.rule(row.id).access_id
        groups.setdefault("" if access_id == own_rule.access_id else access_id, []).append(row)
    for access_id, rows in sorted(groups.items()):
        table = _write_rows(rows, columns, references)
        if not access_id:
            draft.add("\n\n".join(filter(None, (heading, table))))
        elif table:
            # The rows of a group have the same readers: the first one stands for all of them.
            draft.add_included(table, (rows[0].id,), round_, own=owner)


def _order_columns(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns with the title first, as Notion shows them."""
    shown = {
        name: column
        for name, column in properties.items()
        if isinstance(column, Mapping) and column.get("type") not in _LEFT_OUT
    }
    return dict(sorted(shown.items(), key=lambda one: one[1].get("type") != "title"))


def _write_rows(
    rows: list[NotionObject], columns: Mapping[str, Any], references: References
) -> str:
    cells = [
        [
            write_property(
                row.properties.get(name) or {},
                references,
                number_format=find_number_format(column),
            )
            for name, column in columns.items()
        ]
        for row in rows
    ]
    return write_table([list(columns), *cells]) if cells else ""

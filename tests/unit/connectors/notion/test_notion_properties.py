from typing import Any

import pytest

from connectors.notion.properties import (
    find_number_format,
    find_relations,
    merge_items,
    needs_more,
    write_property,
)
from connectors.notion.rich_text import References
from tests.unit.connectors.notion.blocks_of import an_id, span

REFERENCES = References(find_title={an_id(2): "Guide"}.get, people={an_id(4): "程麓"})
DATE = {"start": "2026-03-01", "end": "2026-06-30"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"type": "title", "title": []}, ""),
        ({"type": "rich_text", "rich_text": [span("a "), span("b", bold=True)]}, "a **b**"),
        ({"type": "number", "number": 0}, "0"),
        ({"type": "number", "number": 1200000}, "1200000"),
        ({"type": "number", "number": 0.1}, "0.1"),
        ({"type": "number", "number": None}, ""),
        ({"type": "select", "select": {"name": "P0"}}, "P0"),
        ({"type": "select", "select": None}, ""),
        ({"type": "status", "status": {"name": "进行中"}}, "进行中"),
        ({"type": "multi_select", "multi_select": [{"name": "a"}, {"name": "b"}]}, "a, b"),
        ({"type": "date", "date": DATE}, "2026-03-01 → 2026-06-30"),
        (
            {"type": "date", "date": {"start": "2026-03-01T09:30:00.000+08:00"}},
            "2026-03-01 09:30+08:00",
        ),
        ({"type": "date", "date": None}, ""),
        (
            {"type": "people", "people": [{"id": an_id(4)}, {"id": an_id(9), "name": "Bo"}]},
            "程麓, Bo",
        ),
        ({"type": "files", "files": [{"name": "plan.pdf"}]}, "plan.pdf"),
        ({"type": "checkbox", "checkbox": False}, "No"),
        ({"type": "url", "url": "https://example.com"}, "https://example.com"),
        ({"type": "email", "email": "a@example.com"}, "a@example.com"),
        ({"type": "phone_number", "phone_number": "123"}, "123"),
        ({"type": "formula", "formula": {"type": "string", "string": "soon"}}, "soon"),
        ({"type": "formula", "formula": {"type": "number", "number": 3.5}}, "3.5"),
        ({"type": "formula", "formula": {"type": "boolean", "boolean": True}}, "Yes"),
        ({"type": "formula", "formula": {"type": "boolean", "boolean": None}}, ""),
        ({"type": "formula", "formula": {"type": "date", "date": DATE}}, "2026-03-01 → 2026-06-30"),
        ({"type": "relation", "relation": [{"id": an_id(2)}, {"id": an_id(3)}]}, "Guide, […]"),
        ({"type": "rollup", "rollup": {"type": "number", "number": 7}}, "7"),
        (
            {
                "type": "rollup",
                "rollup": {
                    "type": "array",
                    "array": [
                        {"type": "select", "select": {"name": "x"}},
                        {"type": "select", "select": {"name": "x"}},
                        {"type": "title", "title": [span("y")]},
                    ],
                },
            },
            "x, y",
        ),
        ({"type": "rollup", "rollup": {"type": "unsupported", "unsupported": {}}}, ""),
        ({"type": "created_time", "created_time": "2026-03-01T08:00:00.000Z"}, "2026-03-01 08:00"),
        ({"type": "last_edited_by", "last_edited_by": {"id": an_id(4)}}, "程麓"),
        ({"type": "unique_id", "unique_id": {"prefix": "PRJ", "number": 12}}, "PRJ-12"),
        ({"type": "unique_id", "unique_id": {"prefix": None, "number": 3}}, "3"),
        (
            {"type": "verification", "verification": {"state": "verified", "date": DATE}},
            "verified (2026-03-01 → 2026-06-30)",
        ),
        ({"type": "verification", "verification": {"state": "unverified"}}, ""),
        ({"type": "button", "button": {}}, ""),
        (
            {"type": "place", "place": {"name": "Pier 7", "address": "Harbour Rd"}},
            "Pier 7, Harbour Rd",
        ),
        ({"type": "place", "place": {"lat": 1.5, "lon": 2.5}}, "1.5, 2.5"),
        ({"type": "from_the_future", "from_the_future": {"x": 1}}, ""),
        ({}, ""),
    ],
)
def test_every_type_of_value_reads_as_people_see_it(value: dict[str, Any], text: str) -> None:
    assert write_property(value, REFERENCES) == text


@pytest.mark.parametrize(
    ("number_format", "text"),
    [("yuan", "CNY 0.5"), ("percent", "50%"), ("odd", "0.5"), ("", "0.5")],
)
def test_numbers_carry_the_unit_of_their_column(number_format: str, text: str) -> None:
    value = {"type": "number", "number": 0.5}
    assert write_property(value, REFERENCES, number_format=number_format) == text


def test_the_unit_is_told_by_the_column() -> None:
    assert find_number_format({"type": "number", "number": {"format": "yuan"}}) == "yuan"
    assert find_number_format({"type": "select", "select": {}}) == ""


def test_a_value_of_25_references_is_completed() -> None:
    value = {"type": "relation", "relation": [{"id": an_id(n)} for n in range(25)]}
    assert needs_more(value)
    items = [{"type": "relation", "relation": {"id": an_id(n)}} for n in range(30)]
    assert len(find_relations(merge_items(value, items))) == 30
    assert not needs_more({"type": "relation", "relation": [], "has_more": False})

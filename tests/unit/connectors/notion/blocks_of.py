"""Blocks as the API gives them, short to write."""

from itertools import count
from typing import Any
from uuid import UUID

from connectors.notion.body import Node, attach_children, parse_nodes, prune_block

_numbers = count(1)


def an_id(number: int) -> str:
    return str(UUID(int=number))


def span(text: str, **more: Any) -> dict[str, Any]:
    looks = {key: more.pop(key) for key in ("bold", "code", "strikethrough") if key in more}
    return {"type": "text", "plain_text": text, "annotations": looks, **more}


def mention(text: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "mention", "plain_text": text, "mention": {"type": kind, kind: value}}


def block(kind: str, text: Any = "", *children: dict[str, Any], **body: Any) -> dict[str, Any]:
    spans = [span(text)] if isinstance(text, str) and text else text or []
    number = next(_numbers)
    raw = prune_block(
        {
            "object": "block",
            "id": an_id(10_000 + number),
            "type": kind,
            "has_children": bool(children),
            kind: {"rich_text": spans, **body},
        }
    )
    if children:
        attach_children(raw, children)
    return raw


def table(*rows: tuple[Any, ...], header: bool = True) -> dict[str, Any]:
    cells = [[one if isinstance(one, list) else [span(one)] for one in row] for row in rows]
    lines = [block("table_row", cells=row) for row in cells]
    return block("table", "", *lines, has_column_header=header)


def nodes(*blocks: dict[str, Any]) -> tuple[Node, ...]:
    return parse_nodes(blocks)

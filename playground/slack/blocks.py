"""Block Kit's rules, checked the way Slack does before it takes a message or a view."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from playground.slack.elements import BlockError, check_element, check_keys, check_text
from playground.slack.refusals import SlackRefusalError

MOST_BLOCKS, MOST_VIEW_BLOCKS = 50, 100
MARKDOWN_CHARS = 12_000
MESSAGE_CHARS = 13_200
ID_CHARS = 255
TABLE_ROWS, TABLE_COLUMNS = 100, 20
MOST_FIELDS = 10

Json = Mapping[str, Any]


def check_message_blocks(blocks: object) -> list[dict[str, Any]]:
    """Return the blocks of a message.

    Raises:
        SlackRefusalError: With Slack's code for what is wrong.
    """
    found = _check(blocks, most=MOST_BLOCKS, is_view=False)
    markdown = sum(len(one["text"]) for one in found if one["type"] == "markdown")
    if markdown > MARKDOWN_CHARS:
        raise _invalid("markdown blocks must have less than 12001 characters in all", "/blocks")
    if sum(1 for one in found if one["type"] == "table") > 1:
        raise SlackRefusalError(
            "invalid_attachments", response_metadata={"messages": ["only_one_table_allowed"]}
        )
    if sum(map(_count_chars, found)) > MESSAGE_CHARS:
        raise SlackRefusalError("msg_blocks_too_long")
    return found


def check_view_blocks(blocks: object) -> list[dict[str, Any]]:
    """Return the blocks of a modal or an App Home.

    Raises:
        SlackRefusalError: With Slack's code for what is wrong.
    """
    return _check(blocks, most=MOST_VIEW_BLOCKS, is_view=True)


def _check(blocks: object, *, most: int, is_view: bool) -> list[dict[str, Any]]:
    if not isinstance(blocks, list):
        raise SlackRefusalError("invalid_blocks_format")
    if len(blocks) > most:
        raise _invalid(f"no more than {most} items allowed", "/blocks")
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        place = f"/blocks/{index}"
        try:
            _check_block(block, is_view=is_view)
        except BlockError as error:
            raise _invalid(str(error), place) from error
        block_id = block.get("block_id")
        if block_id and block_id in seen:
            raise _invalid(f"`block_id` {block_id} already exists", place)
        seen.add(block_id or "")
    return blocks


def _check_block(block: object, *, is_view: bool) -> None:
    if not isinstance(block, dict):
        raise BlockError("must be an object")
    check = _CHECKS.get(str(block.get("type")))
    if check is None or (block["type"] == "input" and not is_view):
        raise BlockError(f"unsupported type: {block.get('type')}")
    if is_view and block["type"] in {"markdown", "table"}:
        raise BlockError(f"unsupported type: {block['type']}")
    block_id = block.get("block_id", "")
    if not isinstance(block_id, str) or len(block_id) > ID_CHARS:
        raise BlockError("must be less than 256 characters [block_id]")
    check(block)


def _check_section(block: Json) -> None:
    check_keys(block, "text", "fields", "accessory", "expand")
    if not block.get("text") and not block.get("fields"):
        raise BlockError("must have a text or fields")
    if block.get("text"):
        check_text(block["text"], 3000)
    fields = block.get("fields", [])
    if len(fields) > MOST_FIELDS:
        raise BlockError("no more than 10 items allowed [fields]")
    for one in fields:
        check_text(one, 2000)
    if "accessory" in block:
        check_element(block["accessory"])


def _check_header(block: Json) -> None:
    check_keys(block, "text")
    check_text(block.get("text"), 150, kinds=("plain_text",))


def _check_context(block: Json) -> None:
    check_keys(block, "elements")
    for one in _elements(block, 10):
        if one.get("type") == "image":
            check_element(one)
        else:
            check_text(one, 3000)


def _check_actions(block: Json) -> None:
    check_keys(block, "elements")
    _check_interactive(_elements(block, 25))


def _check_context_actions(block: Json) -> None:
    check_keys(block, "elements")
    elements = _elements(block, 5)
    if any(one.get("type") not in {"feedback_buttons", "icon_button"} for one in elements):
        raise BlockError("unsupported type of element")
    _check_interactive(elements)


def _check_markdown(block: Json) -> None:
    check_keys(block, "text")
    text = block.get("text")
    if not isinstance(text, str) or not text:
        raise BlockError("must be more than 0 characters [text]")


def _check_table(block: Json) -> None:
    check_keys(block, "rows", "column_settings")
    rows = block.get("rows")
    if not isinstance(rows, list) or not 0 < len(rows) <= TABLE_ROWS:
        raise BlockError("no more than 100 items allowed [rows]")
    if any(not isinstance(row, list) or len(row) > TABLE_COLUMNS for row in rows):
        raise BlockError("no more than 20 items allowed [row]")


def _check_input(block: Json) -> None:
    check_keys(block, "label", "element", "hint", "optional", "dispatch_action")
    check_text(block.get("label"), 2000, kinds=("plain_text",))
    if "hint" in block:
        check_text(block["hint"], 2000, kinds=("plain_text",))
    check_element(block.get("element"))


def _check_image(block: Json) -> None:
    check_keys(block, "image_url", "slack_file", "alt_text", "title")
    if not block.get("alt_text"):
        raise BlockError("missing required field: alt_text")


def _check_divider(block: Json) -> None:
    check_keys(block)


def _check_rich_text(block: Json) -> None:
    check_keys(block, "elements")
    if not isinstance(block.get("elements"), list):
        raise BlockError("missing required field: elements")


def _elements(block: Json, most: int) -> Sequence[dict[str, Any]]:
    elements = block.get("elements")
    if not isinstance(elements, list) or not elements:
        raise BlockError("no fewer than 1 items allowed [elements]")
    if len(elements) > most:
        raise BlockError(f"no more than {most} items allowed [elements]")
    return elements


def _check_interactive(elements: Sequence[dict[str, Any]]) -> None:
    seen: set[str] = set()
    for one in elements:
        check_element(one)
        action_id = one.get("action_id", "")
        if action_id and action_id in seen:
            raise BlockError(f"`action_id` {action_id} already exists in this block")
        seen.add(action_id)


def _count_chars(value: object) -> int:
    """Count what is written in a block, its labels and values included."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(_count_chars(one) for key, one in value.items() if key != "type")
    return sum(map(_count_chars, value)) if isinstance(value, list) else 0


def _invalid(message: str, place: str) -> SlackRefusalError:
    said = f"[ERROR] {message} [json-pointer:{place}]"
    return SlackRefusalError(
        "invalid_blocks", errors=[message], response_metadata={"messages": [said]}
    )


_CHECKS: Mapping[str, Callable[[Json], None]] = {
    "section": _check_section,
    "header": _check_header,
    "context": _check_context,
    "actions": _check_actions,
    "context_actions": _check_context_actions,
    "markdown": _check_markdown,
    "table": _check_table,
    "input": _check_input,
    "image": _check_image,
    "divider": _check_divider,
    "rich_text": _check_rich_text,
}

"""The small parts that forms, cards and the App Home are built from. Pure."""

from collections.abc import Sequence
from typing import Any

Block = dict[str, Any]


def plain(text: str) -> Block:
    """Return text that Slack shows as it is: no markup, no mentions, no emoji codes."""
    return {"type": "plain_text", "text": text, "emoji": False}


def mrkdwn(text: str) -> Block:
    """Return text in Slack's own markup."""
    return {"type": "mrkdwn", "text": text}


def header(text: str) -> Block:
    """Return a heading."""
    return {"type": "header", "text": plain(text)}


def section(text: Block, accessory: Block | None = None) -> Block:
    """Return a paragraph, with an element beside it."""
    found: Block = {"type": "section", "text": text}
    return {**found, "accessory": accessory} if accessory else found


def context(*texts: str) -> Block:
    """Return small print in Slack's own markup."""
    return {"type": "context", "elements": [mrkdwn(one) for one in texts]}


def actions(elements: Sequence[Block]) -> Block:
    """Return a row of buttons or menus."""
    return {"type": "actions", "elements": list(elements)}


def option(label: str, value: str) -> Block:
    """Return a choice of a menu."""
    return {"text": plain(label), "value": value}


def field(
    name: str, label: str, element: Block, *, hint: str = "", is_optional: bool = False
) -> Block:
    """Return a field of a form; block and element go by the same name."""
    found: Block = {
        "type": "input",
        "block_id": name,
        "label": plain(label),
        "element": {**element, "action_id": name},
        "optional": is_optional,
    }
    return {**found, "hint": plain(hint)} if hint else found


def modal(
    callback_id: str,
    title: str,
    blocks: Sequence[Block],
    *,
    close: str,
    submit: str = "",
    memory: str = "",
) -> Block:
    """Return a form; without `submit` it can only be read."""
    found: Block = {
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": memory,
        "title": plain(title),
        "close": plain(close),
        "blocks": list(blocks),
    }
    return {**found, "submit": plain(submit)} if submit else found

"""What people choose in interactive elements, in the form Slack tells the app."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from playground.slack.workspace import Json

Choice = str | Sequence[str] | None
"""A value or text, several values, or nothing chosen."""
_ONE_OPTION = frozenset({"static_select", "radio_buttons", "overflow"})
_SEVERAL_OPTIONS = frozenset({"checkboxes", "multi_static_select"})
_VALUE_KEYS = {
    "datepicker": "selected_date",
    "users_select": "selected_user",
    "conversations_select": "selected_conversation",
}
_TOLD_OF_ELEMENT = ("type", "action_id", "text", "value", "style", "placeholder")
_PRESSED = frozenset({"button", "icon_button", "feedback_buttons", "overflow"})


class ChoiceError(LookupError):
    """Something was chosen that there is not."""


def list_elements(blocks: Sequence[Json]) -> Iterator[tuple[str, Json, Json]]:
    """Yield path, block and element of every interactive element; a path is like `2/0`."""
    for index, block in enumerate(blocks):
        for name in ("accessory", "element"):
            if isinstance(block.get(name), dict):
                yield f"{index}/0", block, block[name]
        if block["type"] in {"actions", "context_actions"}:
            for place, element in enumerate(block["elements"]):
                yield f"{index}/{place}", block, element


def find_element(blocks: Sequence[Json], path: str, action_id: str) -> tuple[Json, Json]:
    """Return block and element.

    Raises:
        ChoiceError: It is not there, any more.
    """
    for found, block, element in list_elements(blocks):
        if found == path and element.get("action_id", "") == action_id:
            return block, element
    raise ChoiceError(f"there is no {action_id!r} at {path!r}")


def build_action(blocks: Sequence[Json], path: str, action_id: str, choice: Choice) -> Json:
    """Return what Slack tells of a press or a choice, without its action_ts.

    Raises:
        ChoiceError: There is nothing of the kind to press or choose.
    """
    block, element = find_element(blocks, path, action_id)
    told = {key: copy.deepcopy(element[key]) for key in _TOLD_OF_ELEMENT if key in element}
    told["block_id"] = get_block_id(block, path)
    match element["type"]:
        case "button" | "icon_button":
            pass
        case "feedback_buttons":
            buttons = (element["positive_button"], element["negative_button"])
            if choice not in {one.get("value") for one in buttons}:
                raise ChoiceError(f"there is no button {choice!r}")
            told["value"] = choice
        case _:
            told |= build_value(element, choice)
    return told


def build_state(blocks: Sequence[Json], choices: Mapping[str, Choice]) -> Json:
    """Return `state.values` of a form or a message: what was chosen or stood there already.

    Raises:
        ChoiceError: Something was chosen that there is not.
    """
    values: Json = {}
    for path, block, element in list_elements(blocks):
        if element["type"] in _PRESSED or element["type"] == "image":
            continue
        chosen = choices[path] if path in choices else read_initial(element)
        block_values = values.setdefault(get_block_id(block, path), {})
        block_values[element.get("action_id", "")] = build_value(element, chosen)
    return values


def build_value(element: Json, choice: Choice) -> Json:
    """Return an element's value as state and actions carry it.

    Raises:
        ChoiceError: There is no such option, or it is no date.
    """
    kind = element["type"]
    if kind in _ONE_OPTION:
        return {"type": kind, "selected_option": _find_option(element, choice)}
    if kind in _SEVERAL_OPTIONS:
        values = [choice] if isinstance(choice, str) else choice or ()
        return {"type": kind, "selected_options": [_find_option(element, one) for one in values]}
    if kind == "multi_users_select":
        return {"type": kind, "selected_users": list(choice or ())}
    chosen: Choice = _read_date(choice) if kind == "datepicker" else choice or None
    return {"type": kind, _VALUE_KEYS.get(kind, "value"): chosen}


def read_initial(element: Json) -> Choice:
    """Return what stands in an element before anybody touches it."""
    if option := element.get("initial_option"):
        return str(option["value"])
    if options := element.get("initial_options"):
        return [str(one["value"]) for one in options]
    names = ("initial_value", "initial_date", "initial_user", "initial_users")
    return next((element[name] for name in names if element.get(name)), None)


def find_missing(blocks: Sequence[Json], state: Json) -> list[str]:
    """Return the block ids of inputs that must be filled in and are not."""
    missing = []
    for path, block, element in list_elements(blocks):
        if block["type"] != "input" or block.get("optional"):
            continue
        block_id = get_block_id(block, path)
        value: Mapping[str, Any] = state.get(block_id, {}).get(element.get("action_id", ""), {})
        if not any(one for key, one in value.items() if key != "type"):
            missing.append(block_id)
    return missing


def get_block_id(block: Json, path: str) -> str:
    """Return a block's id, or the one that is made up for it."""
    return str(block.get("block_id") or f"b{path.partition('/')[0]}")


def _find_option(element: Json, value: object) -> Json | None:
    if value is None:
        return None
    groups = [element.get("options", [])]
    groups += [one.get("options", []) for one in element.get("option_groups", [])]
    for options in groups:
        for option in options:
            if option.get("value") == value:
                found: Json = copy.deepcopy(option)
                return found
    raise ChoiceError(f"there is no option {value!r}")


def _read_date(choice: Choice) -> str | None:
    if not choice:
        return None
    try:
        return date.fromisoformat(str(choice)).isoformat()
    except ValueError as error:
        raise ChoiceError(f"{choice!r} is no date") from error

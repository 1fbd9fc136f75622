"""The rules of texts and interactive elements inside blocks."""

from collections.abc import Callable, Mapping
from typing import Any

ID_CHARS = 255
INPUT_CHARS = 3000
Json = Mapping[str, Any]


class BlockError(Exception):
    """A block or element that Slack would not take; the text is Slack's sort of message."""


def check_keys(value: Json, *allowed: str) -> None:
    """Refuse keys that the type does not have."""
    for key in value:
        if key not in {"type", "block_id", *allowed}:
            raise BlockError(f"invalid additional property: {key}")


def check_text(
    value: object, most: int, *, kinds: tuple[str, ...] = ("plain_text", "mrkdwn")
) -> None:
    """Check a text object."""
    if not isinstance(value, dict):
        raise BlockError("missing required field: text")
    if value.get("type") not in kinds:
        raise BlockError(f"unsupported type: {value.get('type')}")
    check_keys(value, "text", "emoji", "verbatim")
    text = value.get("text")
    if not isinstance(text, str) or not text:
        raise BlockError("must be more than 0 characters [text]")
    if len(text) > most:
        raise BlockError(f"must be less than {most + 1} characters [text]")


def check_element(element: object) -> None:
    """Check an interactive element or an image."""
    if not isinstance(element, dict):
        raise BlockError("missing required field: element")
    check = _CHECKS.get(str(element.get("type")))
    if check is None:
        raise BlockError(f"unsupported type: {element.get('type')}")
    action_id = element.get("action_id", "")
    if not isinstance(action_id, str) or len(action_id) > ID_CHARS:
        raise BlockError("must be less than 256 characters [action_id]")
    check(element)


def _check_button(element: Json) -> None:
    check_keys(
        element, "text", "action_id", "value", "url", "style", "confirm", "accessibility_label"
    )
    check_text(element.get("text"), 75, kinds=("plain_text",))
    _check_length(element, "value", 2000)
    _check_length(element, "url", 3000)
    if element.get("style", "primary") not in {"primary", "danger"}:
        raise BlockError("failed to match a supported style")


def _check_feedback_buttons(element: Json) -> None:
    check_keys(element, "action_id", "positive_button", "negative_button")
    for name in ("positive_button", "negative_button"):
        button = element.get(name)
        if not isinstance(button, dict):
            raise BlockError(f"missing required field: {name}")
        check_keys(button, "text", "value", "accessibility_label")
        check_text(button.get("text"), 75, kinds=("plain_text",))
        _check_length(button, "value", 2000)


def _check_icon_button(element: Json) -> None:
    check_keys(
        element, "action_id", "icon", "text", "value", "confirm", "visible_to_user_ids",
        "accessibility_label",
    )  # fmt: skip
    check_text(element.get("text"), 75, kinds=("plain_text",))


def _check_options(most: int) -> Callable[[Json], None]:
    def check(element: Json) -> None:
        check_keys(
            element, "action_id", "options", "option_groups", "initial_option", "initial_options",
            "placeholder", "confirm", "focus_on_load", "max_selected_items",
        )  # fmt: skip
        options = element.get("options", [])
        if not 0 < len(options) <= most:
            raise BlockError(f"no more than {most} items allowed [options]")
        for one in options:
            check_keys(one, "text", "value", "description", "url")
            check_text(one.get("text"), 75)
            _check_length(one, "value", 150)

    return check


def _check_text_input(element: Json) -> None:
    check_keys(
        element, "action_id", "initial_value", "multiline", "min_length", "max_length",
        "placeholder", "focus_on_load", "dispatch_action_config",
    )  # fmt: skip
    if not 1 <= element.get("max_length", INPUT_CHARS) <= INPUT_CHARS:
        raise BlockError("must be less than 3001 [max_length]")
    if "placeholder" in element:
        check_text(element["placeholder"], 150, kinds=("plain_text",))


def _check_picker(element: Json) -> None:
    if "placeholder" in element:
        check_text(element["placeholder"], 150, kinds=("plain_text",))


def _check_image(element: Json) -> None:
    check_keys(element, "image_url", "slack_file", "alt_text")
    if not element.get("alt_text"):
        raise BlockError("missing required field: alt_text")


def _check_length(element: Json, name: str, most: int) -> None:
    value = element.get(name, "")
    if not isinstance(value, str) or len(value) > most:
        raise BlockError(f"must be less than {most + 1} characters [{name}]")


_CHECKS: Mapping[str, Callable[[Json], None]] = {
    "button": _check_button,
    "feedback_buttons": _check_feedback_buttons,
    "icon_button": _check_icon_button,
    "static_select": _check_options(100),
    "multi_static_select": _check_options(100),
    "overflow": _check_options(5),
    "radio_buttons": _check_options(10),
    "checkboxes": _check_options(10),
    "plain_text_input": _check_text_input,
    "users_select": _check_picker,
    "multi_users_select": _check_picker,
    "conversations_select": _check_picker,
    "datepicker": _check_picker,
    "image": _check_image,
}

"""What the stand-in refuses of blocks and views, limit by limit."""

from typing import Any

import pytest

from playground.slack.arguments import Arguments
from playground.slack.blocks import check_message_blocks, check_view_blocks
from playground.slack.refusals import SlackRefusalError
from playground.slack.view_methods import ViewMethods
from playground.slack.workspace import Member, Room, Workspace

PLAIN = {"type": "plain_text", "text": "ok"}
MRKDWN = {"type": "mrkdwn", "text": "ok"}
BUTTON = {"type": "button", "text": PLAIN, "action_id": "a", "value": "1"}
OPTION = {"text": PLAIN, "value": "1"}
INPUT = {"type": "plain_text_input", "action_id": "t", "placeholder": PLAIN}


def actions(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


GOOD: tuple[dict[str, Any], ...] = (
    {"type": "divider"},
    {"type": "header", "text": PLAIN},
    {"type": "section", "text": MRKDWN, "accessory": BUTTON},
    {"type": "section", "fields": [MRKDWN] * 10},
    {"type": "context", "elements": [MRKDWN, {"type": "image", "image_url": "u", "alt_text": "a"}]},
    {"type": "image", "image_url": "u", "alt_text": "a"},
    {"type": "rich_text", "elements": []},
    {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}] * 20] * 100},
    actions(
        BUTTON,
        {"type": "static_select", "action_id": "s", "options": [OPTION], "placeholder": PLAIN},
        {"type": "overflow", "action_id": "o", "options": [OPTION] * 5},
        {"type": "users_select", "action_id": "u", "placeholder": PLAIN},
    ),
    {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": "f",
                "positive_button": {"text": PLAIN, "value": "1"},
                "negative_button": {"text": PLAIN, "value": "0"},
            },
            {"type": "icon_button", "action_id": "i", "icon": "trash", "text": PLAIN},
        ],
    },
)


def long(text: dict[str, Any], chars: int) -> dict[str, Any]:
    return {**text, "text": "a" * chars}


BAD: tuple[tuple[dict[str, Any], str], ...] = (
    ({"type": "carousel"}, "unsupported type"),
    ({"type": "input", "label": PLAIN, "element": INPUT}, "unsupported type"),
    ({"type": "divider", "block_id": "b" * 256}, "256"),
    ({"type": "divider", "colour": "red"}, "additional property"),
    ({"type": "section"}, "must have a text"),
    ({"type": "section", "text": long(MRKDWN, 3001)}, "3001"),
    ({"type": "section", "text": {"type": "html", "text": "a"}}, "unsupported type"),
    ({"type": "section", "text": {**MRKDWN, "text": ""}}, "more than 0"),
    ({"type": "section", "fields": [MRKDWN] * 11}, "no more than 10"),
    ({"type": "section", "fields": [long(MRKDWN, 2001)]}, "2001"),
    ({"type": "header", "text": MRKDWN}, "unsupported type"),
    ({"type": "header"}, "missing required field"),
    ({"type": "context", "elements": [MRKDWN] * 11}, "no more than 10"),
    ({"type": "context", "elements": []}, "no fewer than 1"),
    ({"type": "image", "image_url": "u"}, "alt_text"),
    ({"type": "markdown", "text": ""}, "more than 0"),
    ({"type": "rich_text"}, "elements"),
    ({"type": "table", "rows": [[]] * 101}, "100"),
    ({"type": "table", "rows": [[{}] * 21]}, "20"),
    ({"type": "context_actions", "elements": [BUTTON]}, "unsupported type"),
    (actions(*[{**BUTTON, "action_id": f"{n}"} for n in range(26)]), "no more than 25"),
    (actions(BUTTON, BUTTON), "already exists"),
    (actions({**BUTTON, "action_id": "a" * 256}), "256"),
    (actions({**BUTTON, "text": long(PLAIN, 76)}), "76"),
    (actions({**BUTTON, "value": "a" * 2001}), "2001"),
    (actions({**BUTTON, "url": "a" * 3001}), "3001"),
    (actions({**BUTTON, "style": "loud"}), "style"),
    (actions({"type": "overflow", "options": [OPTION] * 6}), "no more than 5"),
    (actions({"type": "static_select", "options": [{**OPTION, "value": "a" * 151}]}), "151"),
    (actions({"type": "lever"}), "unsupported type"),
)


def message_of(error: SlackRefusalError) -> str:
    return str(error.details["response_metadata"]["messages"][0])


@pytest.mark.parametrize("block", GOOD, ids=lambda block: str(block["type"]))
def test_what_is_within_the_limits_is_taken(block: dict[str, Any]) -> None:
    assert check_message_blocks([block]) == [block]


@pytest.mark.parametrize(("block", "said"), BAD)
def test_what_is_not_is_refused_with_what_is_wrong(block: dict[str, Any], said: str) -> None:
    with pytest.raises(SlackRefusalError, match="invalid_blocks") as caught:
        check_message_blocks([block])
    assert said in message_of(caught.value)
    assert "/blocks/0" in message_of(caught.value)


def test_a_message_as_a_whole_has_limits_too() -> None:
    divider = {"type": "divider", "block_id": "same"}
    table = {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}]]}
    section = {"type": "section", "text": long(MRKDWN, 2900)}
    for blocks, code in (
        ("text", "invalid_blocks_format"),
        ([divider, divider], "invalid_blocks"),
        ([table, table], "invalid_attachments"),
        ([section] * 5, "msg_blocks_too_long"),
        (["text"], "invalid_blocks"),
    ):
        with pytest.raises(SlackRefusalError) as caught:
            check_message_blocks(blocks)
        assert caught.value.code == code


def test_views_take_inputs_and_no_markdown() -> None:
    wanted = {"type": "input", "label": PLAIN, "hint": PLAIN, "element": INPUT}
    assert check_view_blocks([wanted])
    for block in ({"type": "markdown", "text": "a"}, {"type": "input", "label": PLAIN}):
        with pytest.raises(SlackRefusalError):
            check_view_blocks([block])
    with pytest.raises(SlackRefusalError):
        check_view_blocks([{**wanted, "element": {**INPUT, "max_length": 3001}}])


@pytest.fixture
def views() -> ViewMethods:
    workspace = Workspace()
    workspace.add_member(Member(user_id="U1", name="ann", real_name="Ann"))
    workspace.add_room(Room(channel_id="C1", name="all", kind="channel"))
    return ViewMethods(workspace)


def modal(**more: object) -> dict[str, object]:
    return {"type": "modal", "title": PLAIN, "blocks": [], **more}


def test_modals_are_opened_pushed_and_updated(views: ViewMethods) -> None:
    first = views.open(Arguments({"trigger_id": views.triggers.give("U1"), "view": modal()}))
    for _ in range(2):
        views.push(Arguments({"trigger_id": views.triggers.give("U1"), "view": modal()}))
    with pytest.raises(SlackRefusalError, match="push_limit_reached"):
        views.push(Arguments({"trigger_id": views.triggers.give("U1"), "view": modal()}))
    name = first["view"]["id"]
    changed = {"view_id": name, "hash": first["view"]["hash"], "view": modal(callback_id="c")}
    assert views.update(Arguments(changed))["view"]["callback_id"] == "c"
    with pytest.raises(SlackRefusalError, match="hash_conflict"):
        views.update(Arguments(changed))
    with pytest.raises(SlackRefusalError, match="not_found"):
        views.update(Arguments({"view_id": "V0", "view": modal()}))


@pytest.mark.parametrize(
    "view",
    [
        "text",
        modal(type="home"),
        modal(colour="red"),
        modal(title=long(PLAIN, 25)),
        modal(submit=long(PLAIN, 25)),
        modal(private_metadata="a" * 3001),
        modal(callback_id="a" * 256),
        modal(blocks=[{"type": "input", "label": PLAIN, "element": INPUT}]),
    ],
)
def test_views_that_slack_would_not_show_are_refused(views: ViewMethods, view: object) -> None:
    with pytest.raises(SlackRefusalError):
        views.open(Arguments({"trigger_id": views.triggers.give("U1"), "view": view}))


def test_a_trigger_is_good_for_a_moment(views: ViewMethods) -> None:
    views.triggers.lasts_s = -1.0
    trigger = views.triggers.give("U1")
    with pytest.raises(SlackRefusalError, match="expired_trigger_id"):
        views.open(Arguments({"trigger_id": trigger, "view": modal()}))


def test_home_status_and_prompts_are_kept(views: ViewMethods) -> None:
    home = {"type": "home", "blocks": []}
    assert views.publish(Arguments({"user_id": "U1", "view": home}))["view"]["type"] == "home"
    views.set_status(Arguments({"channel_id": "C1", "thread_ts": "1.0", "status": "thinks"}))
    views.set_status(Arguments({"channel_id": "C1", "thread_ts": "1.0", "status": ""}))
    assert views.told == ["thinks", ""]
    views.set_prompts(Arguments({"channel_id": "C1", "prompts": [{"title": "a", "message": "b"}]}))
    for arguments in (
        {"user_id": "U9", "view": home},
        {"user_id": "U1", "view": modal()},
    ):
        with pytest.raises(SlackRefusalError):
            views.publish(Arguments(arguments))
    with pytest.raises(SlackRefusalError):
        views.set_prompts(Arguments({"channel_id": "C1", "prompts": "[]"}))
    with pytest.raises(SlackRefusalError):
        views.set_status(Arguments({"channel_id": "C9", "thread_ts": "1.0"}))

"""What people press, choose and fill in, as a real app is told of it and answers."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession

from playground.slack.choices import ChoiceError, build_action, build_state, build_value
from playground.slack.server import serve_slack
from playground.slack.workspace import BOT_USER_ID, Member, Room, Workspace
from tests.fakes.slack_app import App

Json = dict[str, Any]


def text(words: str) -> Json:
    return {"type": "plain_text", "text": words}


def option(value: str) -> Json:
    return {"text": text(value.upper()), "value": value}


FORM: Json = {
    "type": "modal",
    "callback_id": "form",
    "title": text("Form"),
    "submit": text("Send"),
    "blocks": [
        {"type": "section", "text": text("About this")},
        {
            "type": "input",
            "block_id": "why",
            "label": text("Why"),
            "element": {"type": "plain_text_input", "action_id": "why"},
        },
        {
            "type": "input",
            "block_id": "kind",
            "optional": True,
            "label": text("Kind"),
            "element": {
                "type": "static_select",
                "action_id": "kind",
                "options": [option("a"), option("b")],
                "initial_option": option("b"),
            },
        },
        {
            "type": "input",
            "optional": True,
            "label": text("Several"),
            "element": {
                "type": "checkboxes",
                "action_id": "several",
                "options": [option("x"), option("y")],
            },
        },
        {
            "type": "input",
            "block_id": "day",
            "optional": True,
            "label": text("Day"),
            "element": {"type": "datepicker", "action_id": "day"},
        },
    ],
}


@pytest.fixture
async def app() -> AsyncIterator[App]:
    workspace = Workspace()
    for user_id in ("U1", "U2"):
        workspace.add_member(Member(user_id=user_id, name=user_id.lower(), real_name=user_id))
    workspace.add_room(
        Room(channel_id="C1", name="one", kind="channel", members=["U1", "U2", BOT_USER_ID])
    )
    async with serve_slack(workspace) as slack, ClientSession() as session:
        app = App(slack, session)
        listening = asyncio.create_task(app.listen())
        await slack.delivery.sockets.wait_connected()
        yield app
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


async def open_form(app: App, view: Json = FORM) -> Json:
    trigger_id = app.slack.views.triggers.give("U1")
    opened = await app.call("views.open", trigger_id=trigger_id, view=view)
    assert opened["ok"], opened
    found: Json = app.slack.views.stacks["U1"][-1]
    return found


async def test_a_form_carries_what_was_chosen_and_what_stood_there(app: App) -> None:
    view = await open_form(app)
    choices = {"1/0": "because", "3/0": ["y"], "4/0": "2026-10-15"}
    submitted = await app.slack.people.interactions.submit("U1", view, choices)
    assert (submitted.reply, submitted.errors) == ({}, {})
    assert app.slack.views.stacks["U1"] == []
    values = app.heard[-1]["view"]["state"]["values"]
    assert values == {
        "why": {"why": {"type": "plain_text_input", "value": "because"}},
        "kind": {"kind": {"type": "static_select", "selected_option": option("b")}},
        "b3": {"several": {"type": "checkboxes", "selected_options": [option("y")]}},
        "day": {"day": {"type": "datepicker", "selected_date": "2026-10-15"}},
    }


async def test_the_app_is_not_asked_about_a_form_with_something_missing(app: App) -> None:
    view = await open_form(app)
    submitted = await app.slack.people.interactions.submit("U1", view, {"1/0": ""})
    assert submitted.errors == {"why": "required"}
    assert app.heard == []
    with pytest.raises(LookupError, match="why"):
        await app.slack.people.submit("u1", {})


async def test_errors_keep_the_form_open(app: App) -> None:
    view = await open_form(app)
    app.reply = {"response_action": "errors", "errors": {"why": "say more"}}
    submitted = await app.slack.people.interactions.submit("U1", view, {"1/0": "x"})
    assert submitted.errors == {"why": "say more"}
    assert app.slack.views.stacks["U1"] == [view]


@pytest.mark.parametrize(
    ("action", "titles"),
    [("update", ["Second"]), ("push", ["Form", "Second"]), ("clear", [])],
)
async def test_a_reply_changes_what_is_open(app: App, action: str, titles: list[str]) -> None:
    view = await open_form(app)
    app.reply = {"response_action": action}
    if action != "clear":
        app.reply["view"] = {**FORM, "title": text("Second")}
    await app.slack.people.interactions.submit("U1", view, {"1/0": "x"})
    stack = app.slack.views.stacks.get("U1", [])
    assert [one["title"]["text"] for one in stack] == titles


async def test_an_app_that_does_not_answer_loses_nothing_that_was_typed(app: App) -> None:
    view = await open_form(app)
    app.is_deaf, app.slack.delivery.ack_timeout_s = True, 0.05
    submitted = await app.slack.people.interactions.submit("U1", view, {"1/0": "x"})
    assert submitted.reply is None
    assert app.slack.views.stacks["U1"] == [view]


async def test_the_app_hears_of_a_closed_form_if_it_wants_to(app: App) -> None:
    await app.slack.people.interactions.close("U1", await open_form(app))
    assert app.heard == []
    view = await open_form(app, {**FORM, "notify_on_close": True})
    await app.slack.people.interactions.close("U1", view)
    assert (app.heard[-1]["type"], app.heard[-1]["view"]["id"]) == ("view_closed", view["id"])
    assert app.slack.views.stacks["U1"] == []


async def test_shortcuts_carry_what_they_are_about(app: App) -> None:
    message = app.slack.people.say("U2", "C1", "what is this")
    await app.slack.delivery.settle()
    assert await app.slack.people.interactions.run_message_shortcut("U1", message, "ask")
    told = app.heard[-1]
    assert (told["type"], told["callback_id"], told["message"]["text"], told["user"]["id"]) == (
        "message_action",
        "ask",
        "what is this",
        "U1",
    )
    assert await app.slack.people.interactions.run_shortcut("U1", "search")
    assert (app.heard[-1]["type"], app.heard[-1]["callback_id"]) == ("shortcut", "search")


async def test_the_app_hears_of_edits_deletions_and_tombstones(app: App) -> None:
    people = app.slack.people
    alone, root = people.say("U1", "C1", "alone"), people.say("U1", "C1", "root")
    people.say("U2", "C1", "reply", thread_ts=root.ts)
    people.edit("U1", "C1", alone.ts, "changed")
    people.delete("U1", "C1", alone.ts)
    people.delete("U1", "C1", root.ts)
    await app.slack.delivery.settle()
    changed, deleted, buried = app.events()[-3:]
    assert changed["subtype"] == "message_changed"
    assert (changed["message"]["text"], changed["previous_message"]["text"]) == ("changed", "alone")
    assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", alone.ts)
    assert buried["message"]["subtype"] == "tombstone"
    assert [one.text for one in people.messages("C1")] == ["This message was deleted.", "reply"]


async def test_nobody_changes_what_somebody_else_wrote(app: App) -> None:
    message = app.slack.people.say("U1", "C1", "mine")
    with pytest.raises(LookupError):
        app.slack.people.edit("U2", "C1", message.ts, "yours")
    with pytest.raises(LookupError):
        app.slack.people.delete("U2", "C1", message.ts)
    assert message.text == "mine"


async def test_opening_the_home_tells_which_view_is_there(app: App) -> None:
    app.slack.people.open_home("U1")
    home = {"type": "home", "blocks": [{"type": "divider"}]}
    await app.call("views.publish", user_id="U1", view=home)
    app.slack.people.open_home("U1")
    await app.slack.delivery.settle()
    first, second = app.events()
    assert (first["type"], first["tab"], "view" in first) == ("app_home_opened", "home", False)
    assert second["view"]["blocks"] == [{"type": "divider"}]


def test_nothing_can_be_chosen_that_there_is_not() -> None:
    select = {"type": "static_select", "action_id": "a", "options": [option("x")]}
    blocks = [{"type": "actions", "elements": [select]}]
    with pytest.raises(ChoiceError):
        build_action(blocks, "0/0", "a", "y")
    with pytest.raises(ChoiceError):
        build_action(blocks, "0/0", "b", "x")
    with pytest.raises(ChoiceError):
        build_action(blocks, "0/1", "a", "x")
    with pytest.raises(ChoiceError):
        build_value({"type": "datepicker"}, "tomorrow")
    chosen = build_action(blocks, "0/0", "a", "x")
    assert (chosen["block_id"], chosen["selected_option"]) == ("b0", option("x"))


def test_a_press_of_feedback_buttons_carries_which_one() -> None:
    element = {
        "type": "feedback_buttons",
        "action_id": "f",
        "positive_button": {"text": text("+"), "value": "good"},
        "negative_button": {"text": text("-"), "value": "bad"},
    }
    blocks = [{"type": "context_actions", "elements": [element]}]
    assert build_action(blocks, "0/0", "f", "bad")["value"] == "bad"
    with pytest.raises(ChoiceError):
        build_action(blocks, "0/0", "f", "neither")
    assert build_state(blocks, {}) == {}

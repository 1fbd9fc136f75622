"""Every kind of block, form and live change, as an app sends them to the page."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from aiohttp import ClientSession

from playground.slack.server import SlackServer, serve_slack
from playground.slack.workspace import BOT_USER_ID, Member, Message, Room, Workspace
from tests.browser.conftest import Chat, Desk
from tests.fakes.slack_app import App, Json

if TYPE_CHECKING:
    from playwright.sync_api import Browser

T = TypeVar("T")
ANN, BEN = "U1", "U2"
PATIENCE_S = 60


def plain(words: str) -> Json:
    return {"type": "plain_text", "text": words}


def mrkdwn(words: str) -> Json:
    return {"type": "mrkdwn", "text": words}


def options(*names: str) -> list[Json]:
    return [{"text": plain(name), "value": name.lower()} for name in names]


def button(label: str, **more: Any) -> Json:
    return {"type": "button", "text": plain(label), "action_id": label.lower(), **more}


def cell(words: str) -> Json:
    return {"type": "raw_text", "text": words}


ASKED = {
    "title": plain("Really?"),
    "text": plain("This can't be undone."),
    "confirm": plain("Do it"),
    "deny": plain("Leave it"),
    "style": "danger",
}
MARKDOWN = """\
## Heading

**Bold**, *italic*, ~~gone~~, `code`, [a link](https://docs.example/a_(b)) and **粗体**紧贴汉字。

- first
  - nested
- second

1. one
2. two

> quoted

| Name | Count |
| --- | ---: |
| a\\|b | 3 |
| c | 14 |

```python
if x < 1 and "<b>":
    print("no markup")
```

![chart](http://pictures.example/x.png)
"""
GALLERY: list[Json] = [
    {"type": "header", "text": plain("A header")},
    {
        "type": "section",
        "text": mrkdwn("*Bold* _italic_ ~gone~ `code` <https://docs.example|label> <@U2>"),
        "accessory": {
            "type": "overflow",
            "action_id": "overflow",
            "options": options("Alpha", "Beta"),
        },
    },
    {"type": "section", "fields": [mrkdwn("*One*\n1"), mrkdwn("*Two*\n2")]},
    {"type": "divider"},
    {"type": "markdown", "text": MARKDOWN},
    {"type": "context", "elements": [mrkdwn("A context"), plain("and more of it")]},
    {
        "type": "actions",
        "elements": [
            button("Plain", value="p"),
            button("Primary", style="primary"),
            button("Danger", style="danger", confirm=ASKED),
            {
                "type": "static_select",
                "action_id": "select",
                "placeholder": plain("Pick one"),
                "options": options("Red", "Green"),
            },
        ],
    },
    {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": "feedback",
                "positive_button": {"text": plain("Good"), "value": "good"},
                "negative_button": {"text": plain("Bad"), "value": "bad"},
            }
        ],
    },
    {
        "type": "rich_text",
        "elements": [
            {
                "type": "rich_text_section",
                "elements": [
                    {"type": "text", "text": "Rich ", "style": {"bold": True}},
                    {"type": "user", "user_id": BEN},
                ],
            }
        ],
    },
    {"type": "table", "rows": [[cell("Head"), cell("Other")], [cell("1"), cell("<i>2</i>")]]},
    {
        "type": "image",
        "image_url": "http://pictures.example/y.png",
        "alt_text": "a chart of sales",
    },
]
FORM: Json = {
    "type": "modal",
    "callback_id": "form",
    "notify_on_close": True,
    "title": plain("A form"),
    "submit": plain("Send"),
    "blocks": [
        {
            "type": "input",
            "block_id": "words",
            "label": plain("Words"),
            "hint": plain("As many as you like"),
            "element": {"type": "plain_text_input", "action_id": "words", "multiline": True},
        },
        {
            "type": "input",
            "block_id": "kind",
            "label": plain("Kind"),
            "element": {
                "type": "radio_buttons",
                "action_id": "kind",
                "options": options("Small", "Large"),
            },
        },
        {
            "type": "input",
            "block_id": "ticks",
            "optional": True,
            "label": plain("Ticks"),
            "element": {
                "type": "checkboxes",
                "action_id": "ticks",
                "options": options("Left", "Right"),
            },
        },
        {
            "type": "input",
            "block_id": "day",
            "optional": True,
            "label": plain("Day"),
            "element": {"type": "datepicker", "action_id": "day"},
        },
        {
            "type": "input",
            "block_id": "who",
            "optional": True,
            "label": plain("Who"),
            "element": {"type": "users_select", "action_id": "who"},
        },
    ],
}


class Workshop:
    """A workspace with an app in it, in a thread of its own, so that a browser can look on."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.ready: Future[App] = Future()
        self.stop = asyncio.Event()
        self.serving = asyncio.run_coroutine_threadsafe(self._serve(), self.loop)
        self.app = self.ready.result(PATIENCE_S)

    @property
    def slack(self) -> SlackServer:
        return self.app.slack

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_S)

    def call(self, method: str, **values: Any) -> Json:
        found = self.run(self.app.call(method, **values))
        assert found["ok"], found
        return found

    def say(self, person: str, text: str) -> Message:
        async def say() -> Message:
            message = self.slack.people.say(person, "C1", text)
            self.slack.front.changes.announce()
            return message

        return self.run(say())

    def heard(self, kind: str) -> Json:
        """Wait for something the app is told of and return it."""

        async def wait() -> Json:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    found = [one for one in self.app.heard if one["type"] == kind]
                    if found:
                        self.app.heard.clear()
                        return found[-1]
                    await asyncio.sleep(0.02)

        return self.run(wait())

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.stop.set)
        self.serving.result(PATIENCE_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def _serve(self) -> None:
        workspace = Workspace()
        for user_id, name in ((ANN, "Ann Li"), (BEN, "Ben Ode")):
            workspace.add_member(Member(user_id=user_id, name=user_id.lower(), real_name=name))
        members = [ANN, BEN, BOT_USER_ID]
        workspace.add_room(Room(channel_id="C1", name="one", kind="channel", members=members))
        async with serve_slack(workspace) as slack, ClientSession() as session:
            app = App(slack, session)
            listening = asyncio.create_task(app.listen())
            await slack.delivery.sockets.wait_connected()
            self.ready.set_result(app)
            await self.stop.wait()
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


@pytest.fixture
def workshop() -> Iterator[Workshop]:
    opened = Workshop()
    yield opened
    opened.close()


@pytest.fixture
def chat(browser: "Browser", workshop: Workshop, request: pytest.FixtureRequest) -> Iterator[Chat]:
    desk = Desk(browser, {"slack": f"{workshop.slack.base_url}/"}, request.node.name)
    yield desk.sit(ANN, "C1", viewport={"width": 1280, "height": 1500})
    desk.finish()


def test_every_block_is_shown_and_pressed(workshop: Workshop, chat: Chat) -> None:
    workshop.call("chat.postMessage", channel="C1", text="all", blocks=GALLERY)
    message = chat.room.locator("article").first
    message.locator("h3", has_text="A header").wait_for()
    link = message.locator(".markdown a", has_text="a link")
    assert link.get_attribute("href") == "https://docs.example/a_(b)"
    assert message.locator(".markdown li li").inner_text() == "nested"
    assert message.locator(".markdown td").all_inner_texts()[:2] == ["a|b", "3"]
    assert 'print("no markup")' in message.locator("pre").inner_text()
    assert message.locator("strong", has_text="粗体").count() == 1
    assert message.locator(".mention").all_inner_texts() == ["@Ben Ode", "@Ben Ode"]
    assert message.locator("td", has_text="<i>2</i>").count() == 1
    assert message.locator(".picture").count() == 2
    assert message.locator("img").count() == 0
    message.get_by_role("button", name="Plain").click()
    assert workshop.heard("block_actions")["actions"][0]["value"] == "p"
    message.get_by_role("button", name="Danger").click()
    asked = chat.page.get_by_role("alertdialog")
    chat.page.keyboard.press("Escape")
    asked.wait_for(state="detached")
    message.get_by_role("button", name="Danger").click()
    asked.get_by_role("button", name="Do it").click()
    told = workshop.heard("block_actions")
    assert told["actions"][0]["action_id"] == "danger"
    message.locator("select").select_option("green")
    told = workshop.heard("block_actions")
    assert told["actions"][0]["selected_option"]["value"] == "green"
    assert told["state"]["values"]["b6"]["select"]["selected_option"]["value"] == "green"
    message.get_by_role("button", name="Bad").click()
    assert workshop.heard("block_actions")["actions"][0]["value"] == "bad"
    message.locator(".accessory button").click()
    chat.page.get_by_role("menuitem", name="Beta").click()
    told = workshop.heard("block_actions")
    assert told["actions"][0]["selected_option"]["value"] == "beta"


def test_a_form_is_filled_in_corrected_and_followed_by_another(
    workshop: Workshop, chat: Chat
) -> None:
    workshop.call("views.open", trigger_id=workshop.slack.views.triggers.give(ANN), view=FORM)
    form = chat.page.get_by_role("dialog")
    form.get_by_role("button", name="Send").click()
    assert form.locator(".field-error:visible").count() == 2
    form.locator("textarea").fill("many\nwords")
    form.get_by_label("Large").check()
    form.get_by_label("Right").check()
    form.locator("input[type=date]").fill("2026-10-20")
    form.locator("select").select_option(BEN)
    workshop.app.reply = {"response_action": "errors", "errors": {"words": "Too many."}}
    form.get_by_role("button", name="Send").click()
    form.locator(".field-error", has_text="Too many.").wait_for()
    assert form.locator("textarea").input_value() == "many\nwords"
    second = {**FORM, "title": plain("Another"), "blocks": FORM["blocks"][:1]}
    workshop.app.reply = {"response_action": "push", "view": second}
    form.get_by_role("button", name="Send").click()
    form.locator("h2", has_text="Another").wait_for()
    values = workshop.heard("view_submission")["view"]["state"]["values"]
    assert values["words"]["words"]["value"] == "many\nwords"
    assert values["kind"]["kind"]["selected_option"]["value"] == "large"
    assert [one["value"] for one in values["ticks"]["ticks"]["selected_options"]] == ["right"]
    assert values["day"]["day"]["selected_date"] == "2026-10-20"
    assert values["who"]["who"]["selected_user"] == BEN
    chat.page.keyboard.press("Escape")
    assert workshop.heard("view_closed")["view"]["title"]["text"] == "Another"
    form.locator("h2", has_text="A form").wait_for()
    form.get_by_role("button", name="Cancel").click()
    form.wait_for(state="detached")


def test_a_stream_grows_and_a_status_comes_and_goes(workshop: Workshop, chat: Chat) -> None:
    root = workshop.say("u1", "a question")
    workshop.call(
        "assistant.threads.setStatus", channel_id="C1", thread_ts=root.ts, status="is reading …"
    )
    chat.room.locator(".status.on", has_text="is reading").wait_for()
    chat.room.get_by_role("button", name="Reply in thread").click()
    chat.thread.locator(".status.on", has_text="is reading").wait_for()
    started = workshop.call(
        "chat.startStream",
        channel="C1",
        thread_ts=root.ts,
        recipient_team_id="T0PLAYGROUND",
        recipient_user_id=ANN,
        chunks=[{"type": "markdown_text", "text": "**One** "}],
    )
    answer = chat.thread.locator("article").last
    answer.locator("strong", has_text="One").wait_for()
    assert answer.locator(".caret").count() == 1
    where = {"channel": "C1", "ts": started["ts"]}
    chunk = {"type": "markdown_text", "text": "and `two`"}
    workshop.call("chat.appendStream", **where, chunks=[chunk])
    answer.locator("code", has_text="two").wait_for()
    actions = [{"type": "actions", "elements": [button("Done")]}]
    workshop.call("chat.stopStream", **where, blocks=actions)
    answer.get_by_role("button", name="Done").wait_for()
    assert answer.locator(".caret").count() == 0
    assert chat.page.locator(".status.on").count() == 0
    assert answer.locator("strong", has_text="One").count() == 1


def test_messages_change_and_go_before_ones_eyes(workshop: Workshop, chat: Chat) -> None:
    sent = workshop.call("chat.postMessage", channel="C1", text="first *words*")
    chat.room.locator("strong", has_text="words").wait_for()
    workshop.call("chat.update", channel="C1", ts=sent["ts"], text="second words")
    chat.room.locator("article", has_text="second words").wait_for()
    assert chat.room.locator("article").count() == 1
    workshop.call("chat.delete", channel="C1", ts=sent["ts"])
    chat.room.locator("article").wait_for(state="detached")
    whisper = workshop.call("chat.postEphemeral", channel="C1", user=BEN, text="for Ben alone")
    workshop.call("chat.postEphemeral", channel="C1", user=ANN, text="for Ann alone")
    assert whisper["message_ts"]
    chat.room.locator("article.ephemeral", has_text="for Ann alone").wait_for()
    assert "for Ben alone" not in chat.page.content()

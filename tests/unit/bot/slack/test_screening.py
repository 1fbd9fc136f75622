"""Which messages ask something, and what they ask."""

from typing import Any

import pytest

from bot.handlers.slack.screening import Ignored, read_text, screen_message
from bot.inbox.questions import IncomingQuestion
from core.chat_settings import SlackSettings

US = "U0BOT"
SETTINGS = SlackSettings()


def screen(*, settings: SlackSettings = SETTINGS, **event: Any) -> IncomingQuestion | Ignored:
    base = {"type": "message", "channel": "C1", "user": "U1", "ts": "2.0", "text": "why?"}
    body = {"event_id": "Ev1", "event": {**base, **event}}
    return screen_message(body, bot_user_id=US, settings=settings)


@pytest.mark.parametrize(
    ("event", "thread", "needs_thread"),
    [
        ({"type": "app_mention", "text": f"<@{US}> why?"}, "2.0", False),
        ({"text": f"why, <@{US}>?"}, "2.0", False),
        ({"text": f"<@{US}|zhixing> why?", "thread_ts": "1.0"}, "1.0", False),
        ({"channel": "D1", "channel_type": "im"}, "", False),
        ({"channel": "D1", "channel_type": "im", "thread_ts": "1.0"}, "1.0", False),
        ({"thread_ts": "1.0"}, "1.0", True),
        ({"thread_ts": "1.0", "subtype": "thread_broadcast"}, "1.0", True),
        ({"channel_type": "mpim", "thread_ts": "1.0"}, "1.0", True),
    ],
)
def test_mentions_direct_messages_and_follow_ups_ask_something(
    event: dict[str, Any],
    thread: str,
    needs_thread: bool,  # noqa: FBT001
) -> None:
    found = screen(**event)
    assert isinstance(found, IncomingQuestion)
    assert (found.thread, found.needs_thread) == (thread, needs_thread)
    assert found.is_direct is (event.get("channel_type") == "im")


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({}, "does not mention us"),
        ({"user": US}, "our own"),
        ({"bot_id": "B1", "text": f"<@{US}> hi"}, "from a bot"),
        ({"subtype": "bot_message"}, "from a bot"),
        ({"subtype": "channel_join"}, "subtype channel_join"),
        ({"subtype": "message_changed", "hidden": True}, "subtype message_changed"),
        ({"channel": ""}, "without channel or time"),
        ({"user": "", "text": f"<@{US}>"}, "without a person"),
        ({"thread_ts": "1.0", "text": "<@U2> what do you think?"}, "speaks to somebody else"),
        ({"thread_ts": "1.0", "text": " "}, "says nothing"),
        ({"thread_ts": "2.0"}, "does not mention us"),
        ({"text": ["no", "text"]}, "not of a form we know"),
    ],
)
def test_everything_else_is_ignored_for_a_reason(event: dict[str, Any], reason: str) -> None:
    assert screen(**event) == Ignored(reason)


def test_settings_say_where_follow_ups_need_a_mention_and_which_bots_are_answered() -> None:
    quiet = SlackSettings(mention_only_channels=("C1",))
    assert isinstance(screen(settings=quiet, thread_ts="1.0"), Ignored)
    assert isinstance(screen(settings=quiet, thread_ts="1.0", channel="C2"), IncomingQuestion)
    never = SlackSettings(thread_follow_ups=False)
    assert isinstance(screen(settings=never, thread_ts="1.0"), Ignored)
    open_minded = SlackSettings(answer_bots=True)
    asked = {"bot_id": "B1", "text": f"<@{US}> hi"}
    assert isinstance(screen(settings=open_minded, **asked), IncomingQuestion)
    assert isinstance(screen(settings=open_minded, bot_id="B1"), Ignored)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (f"<@{US}>  休假 怎么算？", "休假 怎么算？"),
        ("a &lt;b&gt; &amp; c", "a <b> & c"),
        ("see <https://a.example/x|the page> and <https://b.example>",
         "see the page and https://b.example"),
        ("<!channel> <!subteam^S1|@oncall> in <#C1|ops>", "oncall in #ops"),
        ("ask <@U2|ann> or <mailto:a@b.example|a@b.example>", "ask ann or a@b.example"),
    ],
)  # fmt: skip
def test_what_was_written_is_read_without_slacks_signs(text: str, read: str) -> None:
    assert read_text(text, bot_user_id=US) == read

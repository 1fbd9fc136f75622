"""Which messages ask us something. Pure, so that every shape Slack sends can be tried."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from pydantic import ValidationError

from bot.handlers.slack.payloads import ChangeEvent, MessageEvent
from bot.inbox.amendments import Amendment
from bot.inbox.questions import IncomingQuestion
from bot.preferences.store import ReplyMode
from core.chat_settings import SlackSettings

_READ_SUBTYPES = frozenset({"", "file_share", "thread_broadcast"})
_CONTROL = re.compile(r"<(?P<kind>[@#!]?)(?P<target>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")
_QUESTION = re.compile(r"[?？][\s\"”’)）]*$|[吗呢]\s*$")
_FIRST_MENTION = re.compile(r"^\s*<@(?P<user>[A-Z0-9]+)")


@dataclass(frozen=True, slots=True)
class Ignored:
    """A message that asks us nothing, and why."""

    reason: str


def screen_message(
    body: Mapping[str, Any],
    *,
    bot_user_id: str,
    settings: SlackSettings,
    mode: ReplyMode = ReplyMode.DEFAULT,
) -> IncomingQuestion | Ignored:
    """Tell whether a `message` or `app_mention` event asks us something.

    A mention gives two events; both become the same question, so either of them will do.

    Args:
        body: The event as Slack sent it.
        bot_user_id: Who we are.
        settings: What is answered where nothing else was chosen.
        mode: What was chosen for the channel.
    """
    try:
        event = MessageEvent.model_validate(body.get("event"))
    except ValidationError:
        return Ignored("not of a form we know")
    if reason := _find_reason(event, bot_user_id, settings):
        return Ignored(reason)
    is_direct = event.channel_type == "im" or event.channel.startswith("D")
    is_called = is_direct or event.type == "app_mention" or f"<@{bot_user_id}" in event.text
    is_in_thread = event.thread_ts not in {"", event.ts}
    if not is_called and (reason := _find_reason_uncalled(event, bot_user_id, settings, mode)):
        return Ignored(reason)
    # A direct message is answered where it stands, unless it is in a thread itself.
    thread = event.thread_ts if is_direct else event.thread_ts or event.ts
    return IncomingQuestion(
        event_id=str(body.get("event_id") or f"{event.channel}:{event.ts}"),
        channel=event.channel,
        ts=event.ts,
        thread=thread,
        account=event.user,
        text=read_text(event.text, bot_user_id=bot_user_id),
        is_direct=is_direct,
        needs_thread=not is_called and is_in_thread,
    )


def screen_change(body: Mapping[str, Any], *, bot_user_id: str) -> Amendment | None:
    """Return what became of an earlier message; None for events that are no such change."""
    try:
        event = ChangeEvent.model_validate(body.get("event"))
    except ValidationError:
        return None
    if event.subtype == "message_deleted":
        ts, text = event.deleted_ts, None
    elif event.subtype == "message_changed":
        # What is left of a deleted message with replies.
        is_deleted = event.message.subtype == "tombstone"
        ts = event.message.ts
        text = None if is_deleted else read_text(event.message.text, bot_user_id=bot_user_id)
    else:
        return None
    event_id = str(body.get("event_id") or "")
    if not (event.channel and ts and event_id):
        return None
    return Amendment(event_id=event_id, channel=event.channel, ts=ts, text=text)


def _find_reason(event: MessageEvent, bot_user_id: str, settings: SlackSettings) -> str:
    """Return why a message is nobody's question, or nothing."""
    if event.hidden or event.subtype not in _READ_SUBTYPES | {"bot_message"}:
        return f"subtype {event.subtype or 'hidden'}"
    if not (event.channel and event.ts):
        return "without channel or time"
    if event.user == bot_user_id:
        return "our own"
    if event.bot_id or event.subtype == "bot_message":
        is_wanted = settings.answer_bots and event.user and f"<@{bot_user_id}" in event.text
        return "" if is_wanted else "from a bot"
    return "" if event.user else "without a person"


def _find_reason_uncalled(
    event: MessageEvent, bot_user_id: str, settings: SlackSettings, mode: ReplyMode
) -> str:
    """Return why a message that does not mention us is not answered, or nothing."""
    is_in_thread = event.thread_ts not in {"", event.ts}
    if not is_in_thread and mode is not ReplyMode.QUESTIONS:
        return "does not mention us"
    if is_in_thread and not _follows_threads(event.channel, settings, mode):
        return "follow-ups need a mention here"
    addressed = _FIRST_MENTION.match(event.text)
    if addressed and addressed["user"] != bot_user_id:
        return "speaks to somebody else"
    if not event.text.strip():
        return "says nothing"
    return "" if is_in_thread or _QUESTION.search(event.text) else "asks nothing"


def _follows_threads(channel: str, settings: SlackSettings, mode: ReplyMode) -> bool:
    match mode:
        case ReplyMode.DEFAULT:
            return settings.thread_follow_ups and channel not in settings.mention_only_channels
        case ReplyMode.MENTIONS:
            return False
        case ReplyMode.THREADS | ReplyMode.QUESTIONS:
            return True
        case _:
            assert_never(mode)


def read_text(text: str, *, bot_user_id: str) -> str:
    """Return what a person wrote: mentions of us and rings left out, links as they were shown."""

    def show(match: re.Match[str]) -> str:
        label, target = match["label"] or "", match["target"]
        match match["kind"]:
            case "@":
                return "" if target == bot_user_id else label.removeprefix("@")
            case "#":
                return f"#{label}" if label else ""
            case "!":
                return label.removeprefix("@")
            case _:
                return label or target.removeprefix("mailto:")

    return " ".join(html.unescape(_CONTROL.sub(show, text)).split())

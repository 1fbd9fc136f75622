"""views.*, reactions and assistant threads; and the trigger ids that open a modal."""

import time
from dataclasses import dataclass, field
from typing import Any

from playground.slack.arguments import Arguments
from playground.slack.blocks import check_view_blocks
from playground.slack.elements import BlockError, check_text
from playground.slack.refusals import SlackRefusalError, refuse_argument
from playground.slack.workspace import APP_ID, BOT_ID, TEAM_ID, Json, Workspace

TRIGGER_S = 3.0
TITLE_CHARS, PRIVATE_METADATA_CHARS, CALLBACK_CHARS = 24, 3000, 255
MOST_VIEWS, MOST_PROMPTS, MOST_LOADING = 3, 4, 10
_VIEW_KEYS = {
    "type", "title", "blocks", "submit", "close", "private_metadata", "callback_id",
    "clear_on_close", "notify_on_close", "external_id", "submit_disabled",
}  # fmt: skip


@dataclass(slots=True)
class Triggers:
    """Trigger ids that were given out, each good once and for a moment."""

    given: dict[str, tuple[str, float]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    lasts_s: float = TRIGGER_S

    def give(self, user: str) -> str:
        """Return a new trigger id for somebody."""
        trigger_id = f"{len(self.given) + 1}.{TEAM_ID}.{user}"
        self.given[trigger_id] = (user, time.monotonic())
        return trigger_id

    def use(self, trigger_id: str) -> str:
        """Return whose trigger it is, and use it up."""
        if trigger_id not in self.given:
            raise SlackRefusalError("invalid_trigger_id")
        if trigger_id in self.used:
            raise SlackRefusalError("exchanged_trigger_id")
        user, given_at = self.given[trigger_id]
        if time.monotonic() - given_at > self.lasts_s:
            raise SlackRefusalError("expired_trigger_id")
        self.used.add(trigger_id)
        return user


class ViewMethods:
    """The methods, on one workspace.

    Attributes:
        stacks: The open modals of each person, the visible one last.
        homes: The App Home of each person.
        told: Every status that was set, in order.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.triggers = Triggers()
        self.stacks: dict[str, list[Json]] = {}
        self.homes: dict[str, Json] = {}
        self.told: list[str] = []
        self.prompts: dict[str, list[Json]] = {}
        self.reactions: list[tuple[str, str, str]] = []
        self._number = 0

    def open(self, args: Arguments) -> Json:
        """views.open."""
        view = self.build(args, "modal")
        self.stacks[self.triggers.use(args.need("trigger_id"))] = [view]
        return {"view": view}

    def push(self, args: Arguments) -> Json:
        """views.push."""
        view = self.build(args, "modal")
        stack = self.stacks.setdefault(self.triggers.use(args.need("trigger_id")), [])
        if len(stack) >= MOST_VIEWS:
            raise SlackRefusalError("push_limit_reached")
        stack.append(view)
        return {"view": view}

    def update(self, args: Arguments) -> Json:
        """views.update."""
        view = self.build(args, "modal")
        for stack in self.stacks.values():
            for index, old in enumerate(stack):
                if old["id"] == args.text("view_id"):
                    if args.text("hash") not in {"", old["hash"]}:
                        raise SlackRefusalError("hash_conflict")
                    stack[index] = {**view, "id": old["id"]}
                    return {"view": stack[index]}
        raise SlackRefusalError("not_found")

    def publish(self, args: Arguments) -> Json:
        """views.publish."""
        user = args.need("user_id")
        if user not in self._workspace.members:
            raise SlackRefusalError("user_not_found")
        self.homes[user] = self.build(args, "home")
        return {"view": self.homes[user]}

    def add_reaction(self, args: Arguments) -> Json:
        """reactions.add."""
        room = self._workspace.rooms.get(args.need("channel"))
        name, ts = args.need("name"), args.need("timestamp")
        if room is None:
            raise SlackRefusalError("channel_not_found")
        if room.find(ts) is None:
            raise SlackRefusalError("message_not_found")
        if (room.channel_id, ts, name) in self.reactions:
            raise SlackRefusalError("already_reacted")
        self.reactions.append((room.channel_id, ts, name))
        return {}

    def set_status(self, args: Arguments) -> Json:
        """assistant.threads.setStatus."""
        channel, thread_ts = args.need("channel_id"), args.need("thread_ts")
        if channel not in self._workspace.rooms:
            raise SlackRefusalError("channel_not_found")
        if len(args.json("loading_messages") or []) > MOST_LOADING:
            raise refuse_argument("[ERROR] no more than 10 items allowed [loading_messages]")
        status = args.text("status")
        if status:
            self._workspace.statuses[channel, thread_ts] = status
        else:
            self._workspace.statuses.pop((channel, thread_ts), None)
        self.told.append(status)
        return {}

    def set_prompts(self, args: Arguments) -> Json:
        """assistant.threads.setSuggestedPrompts."""
        prompts = args.json("prompts")
        if not isinstance(prompts, list) or not 0 < len(prompts) <= MOST_PROMPTS:
            raise refuse_argument("[ERROR] no more than 4 items allowed [prompts]")
        self.prompts[args.need("channel_id")] = prompts
        return {}

    def build(self, args: Arguments, kind: str) -> Json:
        """Return a view as it is kept, checked.

        Raises:
            SlackRefusalError: Slack would not take it.
        """
        view: Any = args.json("view")
        if not isinstance(view, dict) or view.get("type") != kind:
            raise refuse_argument("[ERROR] failed to match a view type [json-pointer:/view/type]")
        if unknown := set(view) - _VIEW_KEYS:
            raise refuse_argument(f"[ERROR] invalid additional property: {min(unknown)}")
        if kind == "modal":
            _check_titles(view)
        if len(view.get("private_metadata", "")) > PRIVATE_METADATA_CHARS:
            raise refuse_argument("[ERROR] must be less than 3001 characters [private_metadata]")
        if len(view.get("callback_id", "")) > CALLBACK_CHARS:
            raise refuse_argument("[ERROR] must be less than 256 characters [callback_id]")
        blocks = check_view_blocks(view.get("blocks"))
        if (
            any(one["type"] == "input" for one in blocks)
            and kind == "modal"
            and not view.get("submit")
        ):
            raise refuse_argument("[ERROR] `submit` is required when an `input` block is used")
        self._number += 1
        return {
            **view,
            "id": f"V{self._number:08d}",
            "team_id": TEAM_ID,
            "app_id": APP_ID,
            "bot_id": BOT_ID,
            "hash": f"{self._number}.hash",
            "private_metadata": view.get("private_metadata", ""),
            "callback_id": view.get("callback_id", ""),
            "state": {"values": {}},
        }


def _check_titles(view: Json) -> None:
    for name in ("title", "submit", "close"):
        if view.get(name) is None and name != "title":
            continue
        try:
            check_text(view.get(name), TITLE_CHARS, kinds=("plain_text",))
        except BlockError as error:
            raise refuse_argument(f"[ERROR] {error} [json-pointer:/view/{name}]") from error

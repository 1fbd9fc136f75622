"""How clicks, forms and shortcuts reach the app, and what its replies do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.slack.arguments import Arguments
from playground.slack.choices import Choice, build_action, build_state, find_missing
from playground.slack.delivery import Delivery
from playground.slack.refusals import SlackRefusalError
from playground.slack.response_urls import ResponseUrls
from playground.slack.view_methods import MOST_VIEWS, ViewMethods
from playground.slack.workspace import (
    APP_ID,
    TEAM_DOMAIN,
    TEAM_ID,
    Json,
    Message,
    Room,
    Workspace,
)

NO_VALUE = "required"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What became of a form.

    Attributes:
        reply: What the app said; None = it did not acknowledge, or was not asked.
        errors: What is wrong, by block id; the form stays open.
    """

    reply: Json | None = None
    errors: Mapping[str, str] = field(default_factory=dict)


class Interactions:
    """Delivers what people press and fill in."""

    def __init__(
        self,
        workspace: Workspace,
        delivery: Delivery,
        views: ViewMethods,
        response_urls: ResponseUrls,
    ) -> None:
        self._workspace = workspace
        self._delivery = delivery
        self._views = views
        self._response_urls = response_urls

    async def press(
        self,
        user: str,
        message: Message,
        path: str,
        action_id: str,
        choice: Choice,
        choices: Mapping[str, Choice],
    ) -> bool:
        """Use an element of a message; False when the app did not acknowledge.

        Args:
            user: Who does it.
            message: Where it is.
            path: The element's place, see `choices.list_elements`.
            action_id: The element's id, which has to stand at that place.
            choice: What was chosen.
            choices: What stands in the message's other elements, by path.

        Raises:
            ChoiceError: There is nothing of the kind.
        """
        room = self._workspace.rooms[message.channel]
        action = build_action(message.blocks, path, action_id, choice)
        payload = {
            **self._build_click(user, room, message),
            "state": {"values": build_state(message.blocks, choices)},
            "actions": [{**action, "action_ts": self._workspace.next_ts()}],
        }
        return await self._delivery.send_interactive(payload) is not None

    async def press_in_view(
        self,
        user: str,
        view: Json,
        path: str,
        action_id: str,
        choice: Choice,
        choices: Mapping[str, Choice],
    ) -> bool:
        """Use an element of a form or an App Home; arguments and errors as with a message."""
        action = build_action(view["blocks"], path, action_id, choice)
        state = {"values": build_state(view["blocks"], choices)}
        payload = {
            **self._build_base(user),
            "type": "block_actions",
            "container": {"type": "view", "view_id": view["id"]},
            "view": {**view, "state": state},
            "actions": [{**action, "action_ts": self._workspace.next_ts()}],
        }
        return await self._delivery.send_interactive(payload) is not None

    async def submit(self, user: str, view: Json, choices: Mapping[str, Choice]) -> Submitted:
        """Send a form; what has to be filled in is looked at before the app is asked.

        Raises:
            ChoiceError: Something was chosen that there is not.
        """
        state = build_state(view["blocks"], choices)
        if missing := find_missing(view["blocks"], state):
            return Submitted(errors=dict.fromkeys(missing, NO_VALUE))
        payload: Json = {
            **self._build_base(user),
            "type": "view_submission",
            "view": {**view, "state": {"values": state}},
            "response_urls": [],
        }
        reply = await self._delivery.send_interactive(payload)
        return Submitted(reply=reply, errors=self._follow(user, view, reply))

    async def close(self, user: str, view: Json) -> None:
        """Close a form unsent; the app hears of it if it wanted to."""
        self._take_away(user, view)
        if view.get("notify_on_close"):
            payload = {**self._build_base(user), "type": "view_closed", "is_cleared": False}
            payload["view"] = view
            await self._delivery.send_interactive(payload)

    async def run_shortcut(self, user: str, callback_id: str) -> bool:
        """Choose a shortcut of the whole workspace; False when the app did not acknowledge."""
        payload = {
            **self._build_base(user),
            "type": "shortcut",
            "callback_id": callback_id,
            "action_ts": self._workspace.next_ts(),
        }
        return await self._delivery.send_interactive(payload) is not None

    async def run_message_shortcut(self, user: str, message: Message, callback_id: str) -> bool:
        """Choose a shortcut in a message's menu; False when the app did not acknowledge."""
        room = self._workspace.rooms[message.channel]
        payload = {
            **self._build_base(user),
            "type": "message_action",
            "callback_id": callback_id,
            "channel": {"id": room.channel_id, "name": room.name or "directmessage"},
            "message_ts": message.ts,
            "message": message.to_json(with_metadata=True),
            "response_url": self._response_urls.give(room, user),
            "action_ts": self._workspace.next_ts(),
        }
        return await self._delivery.send_interactive(payload) is not None

    def _follow(self, user: str, view: Json, reply: Json | None) -> Mapping[str, str]:
        """Do what a form's reply asks for; returns errors to show."""
        if reply is None:
            return {}
        match reply.get("response_action"):
            case None:
                self._take_away(user, view)
            case "clear":
                self._views.stacks.pop(user, None)
            case "errors":
                return {str(key): str(text) for key, text in reply["errors"].items()}
            case "update":
                following = self._build_view(reply)
                stack = self._views.stacks.get(user, [])
                for index, old in enumerate(stack):
                    if old["id"] == view["id"]:
                        stack[index] = {**following, "id": view["id"]}
            case "push":
                stack = self._views.stacks.setdefault(user, [])
                if len(stack) < MOST_VIEWS:
                    stack.append(self._build_view(reply))
            case other:
                raise SlackRefusalError(f"unknown response_action {other!r}")
        return {}

    def _build_view(self, reply: Json) -> Json:
        return self._views.build(Arguments({"view": reply.get("view")}), "modal")

    def _take_away(self, user: str, view: Json) -> None:
        stack = self._views.stacks.get(user, [])
        stack[:] = [one for one in stack if one["id"] != view["id"]]

    def _build_base(self, user: str) -> Json:
        member = self._workspace.members[user]
        return {
            "token": "verification",
            "team": {"id": TEAM_ID, "domain": TEAM_DOMAIN},
            "user": {
                "id": user,
                "username": member.name,
                "name": member.name,
                "team_id": member.team_id,
            },
            "api_app_id": APP_ID,
            "trigger_id": self._views.triggers.give(user),
        }

    def _build_click(self, user: str, room: Room, message: Message) -> Json:
        container: dict[str, Any] = {
            "type": "message",
            "message_ts": message.ts,
            "channel_id": room.channel_id,
            "is_ephemeral": bool(message.ephemeral_to),
        }
        if message.thread_ts:
            container["thread_ts"] = message.thread_ts
        payload: Json = {
            **self._build_base(user),
            "type": "block_actions",
            "container": container,
            "channel": {"id": room.channel_id, "name": room.name or "directmessage"},
            "response_url": self._response_urls.give(room, user, message),
        }
        # Of an ephemeral message the app is told nothing but where it was.
        if not message.ephemeral_to:
            payload["message"] = message.to_json(with_metadata=True)
        return payload

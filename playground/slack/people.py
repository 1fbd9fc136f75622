"""What people do in the workspace: write, press, type a command, fill in a form."""

import asyncio
import copy
from collections.abc import Callable, Iterator
from typing import Any

from playground.slack.delivery import Delivery, build_command
from playground.slack.response_urls import ResponseUrls
from playground.slack.view_methods import ViewMethods
from playground.slack.workspace import (
    APP_ID,
    BOT_USER_ID,
    TEAM_DOMAIN,
    TEAM_ID,
    Json,
    Message,
    Room,
    Workspace,
)

POLL_S = 0.01


class People:
    """Acts as anybody.

    People are named by user id or name, rooms by id or name; `dm` is the direct message with our
    bot.
    """

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

    def say(
        self, person: str, channel: str, text: str, *, thread_ts: str = "", subtype: str = ""
    ) -> Message:
        """Write a message; a mention of our bot also gives the event of its own."""
        user, room = self._find(person, channel)
        message = Message(
            ts=self._workspace.next_ts(),
            channel=room.channel_id,
            user=user,
            text=text,
            thread_ts=thread_ts,
            subtype=subtype,
        )
        room.messages.append(message)
        fields = {**message.to_json(), "client_msg_id": f"msg-{message.ts}"}
        fields["user_team"] = self._workspace.members[user].team_id
        self._delivery.send_message(room, fields)
        if f"<@{BOT_USER_ID}>" in text and BOT_USER_ID in room.members and room.kind != "im":
            twin: Json = {**fields, "type": "app_mention", "channel": room.channel_id}
            twin["event_ts"] = message.ts
            self._delivery.send_event(twin, is_ext_shared=room.is_ext_shared)
        return message

    def mention(self, person: str, channel: str, text: str, *, thread_ts: str = "") -> Message:
        """Write a message to our bot in a channel."""
        return self.say(person, channel, f"<@{BOT_USER_ID}> {text}", thread_ts=thread_ts)

    async def slash(self, person: str, channel: str, line: str) -> Json | None:
        """Type a command such as `/kb words`; None when the app did not acknowledge."""
        user, room = self._find(person, channel)
        command, _, text = line.partition(" ")
        payload = build_command(
            self._workspace,
            user=user,
            room=room,
            command=command,
            text=text,
            trigger_id=self._views.triggers.give(user),
        )
        payload["response_url"] = self._response_urls.give(room, user)
        reply = await self._delivery.send_command(payload)
        if reply:
            self._response_urls.take_reply(room, user, reply)
        return reply

    async def press(
        self, person: str, message: Message, action_id: str, *, value: str = ""
    ) -> bool:
        """Press a button of a message; False when the app did not acknowledge.

        Args:
            person: Who presses.
            message: Where the button is.
            action_id: Which button.
            value: Which of several with that action; empty = the first.

        Raises:
            LookupError: There is no such button.
        """
        user, room = self._find(person, message.channel)
        action = next(
            (
                one
                for one in _find_buttons(message.blocks)
                if one.get("action_id") == action_id and value in {"", one.get("value")}
            ),
            None,
        )
        if action is None:
            raise LookupError(f"there is no button {action_id!r}")
        payload = self._build_click(user, room, message)
        payload["actions"] = [{**copy.deepcopy(action), "action_ts": self._workspace.next_ts()}]
        return await self._delivery.send_interactive(payload) is not None

    async def submit(self, person: str, values: dict[str, Any]) -> Json | None:
        """Send the visible form with these texts by action_id; returns what the app replied."""
        user = self._workspace.find_member(person).user_id
        view = self._views.stacks[user].pop()
        state: Json = {}
        for block in view["blocks"]:
            element = block.get("element") or {}
            if element.get("action_id") in values:
                state.setdefault(block.get("block_id", "b"), {})[element["action_id"]] = {
                    "type": element["type"],
                    "value": values[element["action_id"]],
                }
        payload: Json = {
            **self._build_base(user),
            "type": "view_submission",
            "view": {**view, "state": {"values": state}},
            "response_urls": [],
        }
        return await self._delivery.send_interactive(payload)

    def messages(self, channel: str, *, viewer: str = "") -> list[Message]:
        """Return what stands in a room, oldest first; with a viewer, what only they see too."""
        room = self._find_room(channel, viewer)
        found = list(room.messages)
        if viewer:
            user = self._workspace.find_member(viewer).user_id
            found += [one for one in room.ephemeral if one.ephemeral_to == user]
        return sorted(found, key=lambda one: one.ts)

    def from_bot(self, channel: str, *, viewer: str = "") -> list[Message]:
        """Return what our bot said in a room."""
        return [one for one in self.messages(channel, viewer=viewer) if one.user == BOT_USER_ID]

    def join(self, person: str, channel: str) -> None:
        """Become a member of a channel."""
        user, room = self._find(person, channel)
        room.members.append(user)
        self._tell_of_membership("member_joined_channel", user, room)

    def leave(self, person: str, channel: str) -> None:
        """Leave a channel."""
        user, room = self._find(person, channel)
        room.members.remove(user)
        self._tell_of_membership("member_left_channel", user, room)

    async def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until something is so."""
        while not holds():  # noqa: ASYNC110 - anything may be waited for
            await asyncio.sleep(POLL_S)

    def _tell_of_membership(self, kind: str, user: str, room: Room) -> None:
        self._delivery.send_event(
            {
                "type": kind,
                "user": user,
                "channel": room.channel_id,
                "channel_type": "C" if room.kind == "channel" else "G",
                "team": TEAM_ID,
                "event_ts": self._workspace.next_ts(),
            }
        )

    def _build_base(self, user: str) -> Json:
        return {
            "token": "verification",
            "team": {"id": TEAM_ID, "domain": TEAM_DOMAIN},
            "user": {
                "id": user,
                "username": self._workspace.members[user].name,
                "name": self._workspace.members[user].name,
                "team_id": self._workspace.members[user].team_id,
            },
            "api_app_id": APP_ID,
            "trigger_id": self._views.triggers.give(user),
        }

    def _build_click(self, user: str, room: Room, message: Message) -> Json:
        container = {
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
            "state": {"values": {}},
            "response_url": self._response_urls.give(room, user, message),
        }
        # Of an ephemeral message the app is told nothing but where it was.
        if not message.ephemeral_to:
            payload["message"] = message.to_json(with_metadata=True)
        return payload

    def _find(self, person: str, channel: str) -> tuple[str, Room]:
        user = self._workspace.find_member(person).user_id
        return user, self._find_room(channel, user)

    def _find_room(self, channel: str, person: str) -> Room:
        if channel == "dm":
            return self._workspace.open_im(self._workspace.find_member(person).user_id)
        return self._workspace.find_room(channel)


def _find_buttons(blocks: list[Json]) -> Iterator[Json]:
    for block in blocks:
        if accessory := block.get("accessory"):
            yield {**accessory, "block_id": block.get("block_id", "b")}
        for element in block.get("elements", []):
            if isinstance(element, dict) and element.get("action_id"):
                yield {**element, "block_id": block.get("block_id", "b")}

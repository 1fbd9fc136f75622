"""What people do in the workspace: write, press, type a command, fill in a form."""

import asyncio
from collections.abc import Callable, Mapping

from playground.slack.choices import Choice, list_elements
from playground.slack.delivery import Delivery, build_command
from playground.slack.interactions import Interactions
from playground.slack.response_urls import ResponseUrls
from playground.slack.view_methods import ViewMethods
from playground.slack.workspace import (
    BOT_USER_ID,
    TEAM_ID,
    Json,
    Message,
    Room,
    Workspace,
)

POLL_S = 0.01
TOMBSTONE_TEXT = "This message was deleted."


class People:
    """Acts as anybody.

    People are named by user id or name, rooms by id or name; `dm` is the direct message with our
    bot.

    Attributes:
        interactions: Presses and forms, down to the single element.
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
        self.interactions = Interactions(workspace, delivery, views, response_urls)

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
        for path, _, element in list_elements(message.blocks):
            if element.get("action_id") == action_id and value in {"", element.get("value")}:
                user = self._workspace.find_member(person).user_id
                return await self.interactions.press(user, message, path, action_id, value, {})
        raise LookupError(f"there is no button {action_id!r}")

    async def submit(self, person: str, values: Mapping[str, Choice]) -> Json | None:
        """Send the visible form with these choices by action_id; returns what the app replied.

        Raises:
            LookupError: There is no form, no such field, or something required is missing.
        """
        user = self._workspace.find_member(person).user_id
        view = self._views.stacks[user][-1]
        paths = {
            element.get("action_id"): path for path, _, element in list_elements(view["blocks"])
        }
        choices = {paths[action_id]: choice for action_id, choice in values.items()}
        submitted = await self.interactions.submit(user, view, choices)
        if submitted.reply is None and submitted.errors:
            raise LookupError(f"the form wants {', '.join(submitted.errors)}")
        return submitted.reply

    def edit(self, person: str, channel: str, ts: str, text: str) -> None:
        """Change a message of one's own.

        Raises:
            LookupError: It is not there, or somebody else's.
        """
        room, message = self._find_own(person, channel, ts)
        previous = message.to_json()
        message.text, message.is_edited = text, True
        self._tell_of_change(room, {"message": message.to_json(), "previous_message": previous})

    def delete(self, person: str, channel: str, ts: str) -> None:
        """Delete a message of one's own; of one with replies a tombstone stays.

        Raises:
            LookupError: It is not there, or somebody else's.
        """
        room, message = self._find_own(person, channel, ts)
        previous = message.to_json()
        if any(one.thread_ts == ts != one.ts for one in room.messages):
            message.text, message.blocks, message.subtype = TOMBSTONE_TEXT, [], "tombstone"
            fields = {"message": message.to_json(), "previous_message": previous}
            self._tell_of_change(room, fields)
            return
        room.messages.remove(message)
        event: Json = {"subtype": "message_deleted", "hidden": True, "deleted_ts": ts}
        event |= {"previous_message": previous, "ts": self._workspace.next_ts()}
        self._delivery.send_message(room, event)

    def open_home(self, person: str, *, tab: str = "home") -> None:
        """Open the app's Home or its messages."""
        user = self._workspace.find_member(person).user_id
        event: Json = {
            "type": "app_home_opened",
            "user": user,
            "channel": self._workspace.open_im(user).channel_id,
            "tab": tab,
            "event_ts": self._workspace.next_ts(),
        }
        if user in self._views.homes:
            event["view"] = self._views.homes[user]
        self._delivery.send_event(event)

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

    def _tell_of_change(self, room: Room, fields: Json) -> None:
        event: Json = {"subtype": "message_changed", "hidden": True, **fields}
        self._delivery.send_message(room, {**event, "ts": self._workspace.next_ts()})

    def _find_own(self, person: str, channel: str, ts: str) -> tuple[Room, Message]:
        user, room = self._find(person, channel)
        message = room.find(ts)
        if message is None or message.user != user or message.subtype == "tombstone":
            raise LookupError(f"{person!r} wrote no message {ts!r}")
        return room, message

    def _find(self, person: str, channel: str) -> tuple[str, Room]:
        user = self._workspace.find_member(person).user_id
        return user, self._find_room(channel, user)

    def _find_room(self, channel: str, person: str) -> Room:
        if channel == "dm":
            return self._workspace.open_im(self._workspace.find_member(person).user_id)
        return self._workspace.find_room(channel)

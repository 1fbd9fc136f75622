"""What one person sees of a workspace: the only way from its state to somebody's screen."""

from collections.abc import Mapping

from playground.mail import Mailbox
from playground.slack.view_methods import ViewMethods
from playground.slack.workspace import BOT_USER_ID, Json, Member, Message, Room, Workspace

# What an app keeps in a view or a message for itself is nobody's to read.
_HIDDEN_OF_VIEWS = frozenset({"private_metadata", "state"})


class Sight:
    """Looks at the workspace as a person."""

    def __init__(self, workspace: Workspace, views: ViewMethods, mailbox: Mailbox) -> None:
        self._workspace = workspace
        self._views = views
        self._mailbox = mailbox

    def look(self, user: str) -> dict[str, Json]:
        """Return everything a person sees, by a key such as `message/C1/1700000000.000100`."""
        seen: dict[str, Json] = {}
        member = self._workspace.members[user]
        for room in self._workspace.rooms.values():
            if user in room.members:
                self._look_into(seen, room, user)
            elif _is_joinable(room, member):
                seen[f"room/{room.channel_id}"] = _show_room(room, is_member=False)
        for one in self._people_of(member):
            seen[f"person/{one.user_id}"] = show_person(one)
        if home := self._views.homes.get(user):
            seen["home"] = _show_view(home)
        for depth, view in enumerate(self._views.stacks.get(user, ())):
            seen[f"modal/{depth}"] = _show_view(view)
        if member.email:
            for mail in self._mailbox.mails_for(member.email):
                seen[f"mail/{mail.number}"] = mail.to_json()
        return seen

    def look_at_mail(self) -> dict[str, Json]:
        """Return every message, for whoever runs the playground."""
        return {f"mail/{mail.number}": mail.to_json() for mail in self._mailbox.mails}

    def find_room(self, user: str, channel: str) -> Room:
        """Return a room that a person is in.

        Raises:
            LookupError: There is none that they see.
        """
        room = self._workspace.rooms.get(channel)
        if room is None or user not in room.members:
            raise LookupError("channel_not_found")
        return room

    def find_message(self, user: str, channel: str, ts: str) -> Message:
        """Return a message that a person sees.

        Raises:
            LookupError: There is none.
        """
        room = self.find_room(user, channel)
        for message in (*room.messages, *room.ephemeral):
            if message.ts == ts and message.ephemeral_to in {"", user}:
                return message
        raise LookupError("message_not_found")

    def find_view(self, user: str, view_id: str) -> Json:
        """Return a form or App Home that a person has open.

        Raises:
            LookupError: There is none.
        """
        views: list[Json] = list(self._views.stacks.get(user, ()))
        if home := self._views.homes.get(user):
            views.append(home)
        for view in views:
            if view["id"] == view_id:
                return view
        raise LookupError("view_not_found")

    def is_joinable(self, user: str, channel: str) -> bool:
        """Tell whether somebody may join a channel by themselves."""
        room = self._workspace.rooms.get(channel)
        return room is not None and _is_joinable(room, self._workspace.members[user])

    def _look_into(self, seen: dict[str, Json], room: Room, user: str) -> None:
        channel = room.channel_id
        seen[f"room/{channel}"] = _show_room(room, is_member=True)
        for message in room.messages:
            seen[f"message/{channel}/{message.ts}"] = _show_message(message)
        for message in room.ephemeral:
            if message.ephemeral_to == user:
                seen[f"message/{channel}/{message.ts}"] = _show_message(message)
        for (place, thread_ts), status in self._workspace.statuses.items():
            if place == channel and status:
                seen[f"status/{channel}/{thread_ts}"] = {"text": status}
        if prompts := self._views.prompts.get(channel):
            seen[f"prompts/{channel}"] = {"prompts": prompts}

    def _people_of(self, member: Member) -> list[Member]:
        """Return whom somebody knows of: guests and strangers those they share a room with."""
        members = self._workspace.members
        if not (member.is_restricted or member.is_stranger):
            return list(members.values())
        met = {member.user_id, BOT_USER_ID}
        for room in self._workspace.rooms.values():
            if member.user_id in room.members:
                met.update(room.members)
        return [one for one in members.values() if one.user_id in met]


def show_person(member: Member) -> Json:
    """Return somebody's name and what they are to the workspace."""
    kind = "member"
    if member.is_bot:
        kind = "bot"
    elif member.is_stranger:
        kind = "stranger"
    elif member.is_restricted or member.is_ultra_restricted:
        kind = "guest"
    return {
        "id": member.user_id,
        "name": member.name,
        "real_name": member.real_name,
        "kind": kind,
        "is_gone": member.deleted,
    }


def _is_joinable(room: Room, member: Member) -> bool:
    is_outside = member.is_restricted or member.is_ultra_restricted or member.is_stranger
    return room.kind == "channel" and not room.is_archived and not is_outside


def _show_room(room: Room, *, is_member: bool) -> Json:
    return {
        "id": room.channel_id,
        "name": room.name,
        "kind": room.kind,
        "topic": room.topic,
        "is_member": is_member,
        "is_shared": room.is_ext_shared,
        "is_archived": room.is_archived,
        "members": list(room.members) if is_member else [],
    }


def _show_message(message: Message) -> Json:
    return {
        **message.to_json(),
        "channel": message.channel,
        "is_ephemeral": bool(message.ephemeral_to),
        "is_streaming": message.is_streaming,
        "is_markdown": message.is_markdown,
    }


def _show_view(view: Mapping[str, object]) -> Json:
    return {key: value for key, value in view.items() if key not in _HIDDEN_OF_VIEWS}

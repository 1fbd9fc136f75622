"""What a workspace holds: members, rooms, messages, user groups."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from core.errors import SettingsError

Json = dict[str, Any]
RoomKind = Literal["channel", "group", "im", "mpim"]

TEAM_ID, OTHER_TEAM_ID = "T0PLAYGROUND", "T0ELSEWHERE"
APP_ID, BOT_ID, BOT_USER_ID = "A0PLAYGROUND", "B0PLAYGROUND", "U0PLAYGROUND"
TEAM_DOMAIN = "playground"


@dataclass(slots=True, kw_only=True)
class Member:
    """An account as `users.info` shows it."""

    user_id: str
    name: str
    real_name: str
    email: str = ""
    team_id: str = TEAM_ID
    is_bot: bool = False
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_stranger: bool = False
    is_email_confirmed: bool = True
    deleted: bool = False

    def to_json(self, *, with_email: bool) -> Json:
        """Return the user object; a stranger's and an unread e-mail is left out."""
        profile: Json = {"real_name": self.real_name, "display_name": self.name}
        if with_email and self.email and not self.is_stranger:
            profile["email"] = self.email
        return {
            "id": self.user_id,
            "team_id": self.team_id,
            "name": self.name,
            "real_name": self.real_name,
            "deleted": self.deleted,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "is_restricted": self.is_restricted,
            "is_ultra_restricted": self.is_ultra_restricted,
            "is_stranger": self.is_stranger,
            "is_email_confirmed": self.is_email_confirmed,
            "tz": "Asia/Shanghai",
            "locale": "zh-CN",
            "profile": profile,
        }


@dataclass(slots=True, kw_only=True)
class Message:
    """A message of a room, or one that only `ephemeral_to` sees.

    Attributes:
        is_markdown: Whether the text is Markdown, and shown above the blocks, as streams are.
    """

    ts: str
    channel: str
    user: str
    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    thread_ts: str = ""
    bot_id: str = ""
    subtype: str = ""
    metadata: Json | None = None
    is_edited: bool = False
    ephemeral_to: str = ""
    is_streaming: bool = False
    is_markdown: bool = False

    def to_json(self, *, with_metadata: bool = False) -> Json:
        """Return the message object."""
        found: Json = {"type": "message", "user": self.user, "text": self.text, "ts": self.ts}
        found["team"] = TEAM_ID
        if self.blocks:
            found["blocks"] = self.blocks
        if self.thread_ts:
            found["thread_ts"] = self.thread_ts
        if self.bot_id:
            found |= {"bot_id": self.bot_id, "app_id": APP_ID}
        if self.subtype:
            found["subtype"] = self.subtype
        if self.is_edited:
            found["edited"] = {"user": self.user, "ts": self.ts}
        if self.metadata and with_metadata:
            found["metadata"] = self.metadata
        return found


@dataclass(slots=True, kw_only=True)
class Room:
    """A channel, private channel or direct message."""

    channel_id: str
    name: str
    kind: RoomKind
    members: list[str] = field(default_factory=list)
    topic: str = ""
    is_ext_shared: bool = False
    is_archived: bool = False
    messages: list[Message] = field(default_factory=list)
    ephemeral: list[Message] = field(default_factory=list)

    def find(self, ts: str) -> Message | None:
        """Return the message with this ts."""
        return next((one for one in self.messages if one.ts == ts), None)

    def to_json(self) -> Json:
        """Return the conversation object."""
        found: Json = {
            "id": self.channel_id,
            "is_channel": self.kind == "channel",
            "is_group": self.kind == "group",
            "is_im": self.kind == "im",
            "is_mpim": self.kind == "mpim",
            "is_private": self.kind != "channel",
            "is_archived": self.is_archived,
            "is_ext_shared": self.is_ext_shared,
            "is_org_shared": False,
            "is_pending_ext_shared": False,
            "is_shared": self.is_ext_shared,
            "context_team_id": TEAM_ID,
        }
        if self.kind == "im":
            found["user"] = next(one for one in self.members if one != BOT_USER_ID)
            return found
        found |= {
            "name": self.name,
            "is_member": BOT_USER_ID in self.members,
            "num_members": len(self.members),
            "topic": {"value": self.topic},
        }
        return found


@dataclass(slots=True, kw_only=True)
class UserGroup:
    """A user group such as @oncall."""

    group_id: str
    handle: str
    users: list[str]
    is_disabled: bool = False

    def to_json(self) -> Json:
        """Return the user group object."""
        return {
            "id": self.group_id,
            "team_id": TEAM_ID,
            "is_usergroup": True,
            "handle": self.handle,
            "name": self.handle,
            "date_delete": 1 if self.is_disabled else 0,
            "user_count": len(self.users),
        }


class Workspace:
    """The state of one workspace, with our app installed."""

    def __init__(self) -> None:
        bot = Member(user_id=BOT_USER_ID, name="zhixing", real_name="Zhixing", is_bot=True)
        self.members: dict[str, Member] = {BOT_USER_ID: bot}
        self.rooms: dict[str, Room] = {}
        self.groups: dict[str, UserGroup] = {}
        # Of each assistant thread; a message of ours takes it away.
        self.statuses: dict[tuple[str, str], str] = {}
        self._last_ts = 0

    @classmethod
    def load(cls, folder: Path) -> "Workspace":
        """Read people and channels of a company's folder; our bot is in every channel.

        Raises:
            SettingsError: A file is missing or not of its form.
        """
        workspace = cls()
        names: dict[str, str] = {}
        for one in _load(folder / "people.json"):
            if not one.get("slack_id"):
                continue
            names[one["id"]] = one["slack_id"]
            workspace.add_member(_build_member(one))
        for one in _load(folder / "channels.json"):
            if one["platform"] == "slack":
                members = [names[name] for name in one.get("members") or () if name in names]
                workspace.add_room(
                    Room(
                        channel_id=one["native_id"],
                        name=one["name"],
                        kind="channel" if one["visibility"] == "public" else "group",
                        members=[*members, BOT_USER_ID],
                        topic=one.get("topic") or "",
                        is_ext_shared=one["has_external_member"],
                    )
                )
        return workspace

    def add_member(self, member: Member) -> Member:
        """Let somebody join the workspace."""
        self.members[member.user_id] = member
        return member

    def add_room(self, room: Room) -> Room:
        """Add a conversation."""
        self.rooms[room.channel_id] = room
        return room

    def open_im(self, user_id: str) -> Room:
        """Return the direct message of our bot with somebody."""
        channel_id = "D" + user_id[1:]
        found = self.rooms.get(channel_id)
        return found or self.add_room(
            Room(channel_id=channel_id, name="", kind="im", members=[user_id, BOT_USER_ID])
        )

    def find_member(self, reference: str) -> Member:
        """Return somebody by user id or name.

        Raises:
            KeyError: There is nobody of that name.
        """
        if reference in self.members:
            return self.members[reference]
        for member in self.members.values():
            if member.name == reference:
                return member
        raise KeyError(reference)

    def find_room(self, reference: str) -> Room:
        """Return a room by id or name.

        Raises:
            KeyError: There is none.
        """
        if reference in self.rooms:
            return self.rooms[reference]
        for room in self.rooms.values():
            if room.name == reference:
                return room
        raise KeyError(reference)

    def next_ts(self) -> str:
        """Return a ts that is later than every earlier one."""
        self._last_ts = max(self._last_ts + 1, time.time_ns() // 1000)
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"


def _build_member(one: Mapping[str, Any]) -> Member:
    return Member(
        user_id=one["slack_id"],
        name=one["id"],
        real_name=one["name"],
        email=one.get("email") or "",
        is_restricted=one.get("employment_type") == "guest",
        deleted=not one.get("active", True),
    )


def _load(path: Path) -> list[Json]:
    try:
        entries: list[Json] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{str(path)!r} can't be read: {error}; a workspace needs people.json and channels.json"
        ) from error
    return entries

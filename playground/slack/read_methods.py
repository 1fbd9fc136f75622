"""conversations.*, users.* and usergroups.*: what our app can look up."""

import base64
from collections.abc import Sequence
from typing import Any, TypeVar

from playground.slack.arguments import Arguments
from playground.slack.refusals import SlackRefusalError
from playground.slack.workspace import BOT_USER_ID, TEAM_ID, Json, Message, Room, Workspace

MOST_ENTRIES = 1000
_KIND_NAMES = {"public_channel": "channel", "private_channel": "group", "im": "im", "mpim": "mpim"}
T = TypeVar("T")


class ReadMethods:
    """The methods, on one workspace.

    Attributes:
        page_size: Most entries of one page of a listing, whatever the call asks for.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.page_size = MOST_ENTRIES
        self.is_email_read = True

    def list_conversations(self, args: Arguments) -> Json:
        """conversations.list."""
        kinds = set()
        for name in (args.text("types") or "public_channel").split(","):
            if name not in _KIND_NAMES:
                raise SlackRefusalError("invalid_types")
            kinds.add(_KIND_NAMES[name])
        rooms = [
            room
            for room in self._workspace.rooms.values()
            if room.kind in kinds
            and (room.kind == "channel" or BOT_USER_ID in room.members)
            and not (args.flag("exclude_archived") and room.is_archived)
        ]
        return self._page(args, "channels", [room.to_json() for room in rooms])

    def conversation_info(self, args: Arguments) -> Json:
        """conversations.info."""
        return {"channel": self._get_room(args).to_json()}

    def conversation_members(self, args: Arguments) -> Json:
        """conversations.members."""
        return self._page(args, "members", self._get_room(args).members)

    def open_conversation(self, args: Arguments) -> Json:
        """conversations.open, with one person."""
        users = args.need("users").split(",")
        if len(users) != 1:
            raise SlackRefusalError("method_not_supported_for_channel_type")
        member = self._workspace.members.get(users[0])
        if member is None:
            raise SlackRefusalError("user_not_found")
        if member.deleted:
            raise SlackRefusalError("user_disabled")
        if member.is_bot:
            raise SlackRefusalError("cannot_dm_bot")
        return {"channel": {"id": self._workspace.open_im(users[0]).channel_id}}

    def history(self, args: Arguments) -> Json:
        """conversations.history: newest first, without replies in threads."""
        room = self._get_joined(args)
        found = [one for one in room.messages if one.thread_ts in {"", one.ts}]
        return self._messages(args, list(reversed(_within(args, found))))

    def replies(self, args: Arguments) -> Json:
        """conversations.replies: the root and its replies, oldest first."""
        room = self._get_joined(args)
        root = room.find(args.need("ts"))
        if root is None:
            raise SlackRefusalError("thread_not_found")
        thread_ts = root.thread_ts or root.ts
        found = [one for one in room.messages if thread_ts in {one.ts, one.thread_ts}]
        return self._messages(args, _within(args, found))

    def user_info(self, args: Arguments) -> Json:
        """users.info."""
        member = self._workspace.members.get(args.need("user"))
        if member is None:
            raise SlackRefusalError("user_not_found")
        return {"user": member.to_json(with_email=self.is_email_read)}

    def list_users(self, args: Arguments) -> Json:
        """users.list: the workspace's own accounts and strangers it has met."""
        members = [
            one.to_json(with_email=self.is_email_read) for one in self._workspace.members.values()
        ]
        return self._page(args, "members", members)

    def lookup_by_email(self, args: Arguments) -> Json:
        """users.lookupByEmail."""
        email = args.need("email").casefold()
        for member in self._workspace.members.values():
            if member.email.casefold() == email and not member.deleted and not member.is_stranger:
                return {"user": member.to_json(with_email=True)}
        raise SlackRefusalError("users_not_found")

    def list_groups(self, args: Arguments) -> Json:
        """usergroups.list."""
        groups = self._workspace.groups.values()
        shown = [one for one in groups if args.flag("include_disabled") or not one.is_disabled]
        found = [one.to_json() for one in shown]
        if args.flag("include_users"):
            for group, one in zip(shown, found, strict=True):
                one["users"] = list(group.users)
        return {"usergroups": found}

    def list_group_users(self, args: Arguments) -> Json:
        """usergroups.users.list."""
        group = self._workspace.groups.get(args.need("usergroup"))
        if group is None:
            raise SlackRefusalError("no_such_subteam")
        return {"users": list(group.users)}

    def _get_room(self, args: Arguments) -> Room:
        room = self._workspace.rooms.get(args.need("channel"))
        if room is None or (room.kind == "group" and BOT_USER_ID not in room.members):
            raise SlackRefusalError("channel_not_found")
        return room

    def _get_joined(self, args: Arguments) -> Room:
        room = self._get_room(args)
        if BOT_USER_ID not in room.members:
            raise SlackRefusalError("not_in_channel")
        return room

    def _messages(self, args: Arguments, found: Sequence[Message]) -> Json:
        with_metadata = args.flag("include_all_metadata")
        shown = [one.to_json(with_metadata=with_metadata) for one in found]
        page = self._page(args, "messages", shown)
        return {**page, "has_more": bool(page["response_metadata"]["next_cursor"])}

    def _page(self, args: Arguments, name: str, entries: Sequence[Any]) -> Json:
        size = args.number("limit", 100) or 100
        if not 0 < size <= MOST_ENTRIES:
            raise SlackRefusalError("invalid_limit")
        size = min(size, self.page_size)
        start = _read_cursor(args.text("cursor"))
        part = list(entries[start : start + size])
        after = start + size
        cursor = _write_cursor(after) if after < len(entries) else ""
        return {name: part, "response_metadata": {"next_cursor": cursor}}


def auth_test(_args: Arguments) -> Json:
    """auth.test."""
    return {
        "url": "https://playground.slack.com/",
        "team": "Playground",
        "user": "zhixing",
        "team_id": TEAM_ID,
        "user_id": BOT_USER_ID,
        "bot_id": "B0PLAYGROUND",
        "is_enterprise_install": False,
    }


def _within(args: Arguments, messages: Sequence[Message]) -> list[Message]:
    oldest, latest = args.text("oldest") or "0", args.text("latest") or "9" * 20
    is_inclusive = args.flag("inclusive")
    return [
        one
        for one in messages
        if float(oldest) < float(one.ts) < float(latest)
        or (is_inclusive and one.ts in {oldest, latest})
    ]


def _write_cursor(start: int) -> str:
    return base64.b64encode(f"next:{start}".encode()).decode()


def _read_cursor(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        return int(base64.b64decode(cursor).decode().removeprefix("next:"))
    except ValueError as error:
        raise SlackRefusalError("invalid_cursor") from error

"""chat.*: what our app writes, changes and takes back."""

from typing import Any

from playground.slack.arguments import Arguments
from playground.slack.blocks import MARKDOWN_CHARS, check_message_blocks
from playground.slack.delivery import Delivery
from playground.slack.faults import Faults
from playground.slack.refusals import SlackRefusalError
from playground.slack.workspace import (
    BOT_ID,
    BOT_USER_ID,
    TEAM_DOMAIN,
    TEAM_ID,
    Json,
    Message,
    Room,
    Workspace,
)

POST_TEXT_CHARS = 40_000
UPDATE_TEXT_BYTES = 4_000
METADATA_CHARS = 8_000


class ChatMethods:
    """The methods, on one workspace."""

    def __init__(self, workspace: Workspace, delivery: Delivery, faults: Faults) -> None:
        self._workspace = workspace
        self._delivery = delivery
        self._faults = faults

    def post_message(self, args: Arguments) -> Json:
        """chat.postMessage."""
        room = self._get_room(args)
        content = self._read_content(args)
        thread_ts = args.text("thread_ts")
        if thread_ts and room.find(thread_ts) is None:
            raise SlackRefusalError("thread_not_found")
        message = self.add(room, content, thread_ts=thread_ts, metadata=_read_metadata(args))
        message.is_markdown = bool(args.text("markdown_text"))
        found: Json = {"channel": room.channel_id, "ts": message.ts}
        if len(args.text("text")) > POST_TEXT_CHARS:
            found["warning"] = "message_truncated"
        return {**found, "message": message.to_json(with_metadata=True)}

    def update(self, args: Arguments) -> Json:
        """chat.update; text without blocks takes the blocks away."""
        room = self._get_room(args)
        message = self._get_own(room, args.need("ts"))
        if message.is_streaming:
            raise SlackRefusalError("streaming_state_conflict")
        if len(args.text("text").encode()) > UPDATE_TEXT_BYTES:
            raise SlackRefusalError("msg_too_long")
        text, blocks = self._read_content(args)
        message.text, message.blocks, message.is_edited = text, blocks, True
        message.is_markdown = bool(args.text("markdown_text"))
        if args.values.get("metadata") is not None:
            message.metadata = _read_metadata(args)
        event: Json = {"subtype": "message_changed", "hidden": True, "message": message.to_json()}
        self._delivery.send_message(room, {**event, "ts": self._workspace.next_ts()})
        return {"channel": room.channel_id, "ts": message.ts, "text": text}

    def delete(self, args: Arguments) -> Json:
        """chat.delete."""
        room = self._get_room(args)
        message = self._get_own(room, args.need("ts"))
        room.messages.remove(message)
        event: Json = {"subtype": "message_deleted", "hidden": True, "deleted_ts": message.ts}
        event["previous_message"] = message.to_json()
        self._delivery.send_message(room, {**event, "ts": self._workspace.next_ts()})
        return {"channel": room.channel_id, "ts": message.ts}

    def post_ephemeral(self, args: Arguments) -> Json:
        """chat.postEphemeral."""
        room = self._get_room(args)
        user = args.need("user")
        if user not in room.members:
            raise SlackRefusalError("user_not_in_channel")
        text, blocks = self._read_content(args)
        message = self.add_ephemeral(room, user, text, blocks, thread_ts=args.text("thread_ts"))
        return {"message_ts": message.ts}

    def get_permalink(self, args: Arguments) -> Json:
        """chat.getPermalink."""
        room = self._get_room(args)
        message = room.find(args.need("message_ts"))
        if message is None:
            raise SlackRefusalError("message_not_found")
        place = f"archives/{room.channel_id}/p{message.ts.replace('.', '')}"
        link = f"https://{TEAM_DOMAIN}.slack.com/{place}"
        return {"channel": room.channel_id, "permalink": link}

    def start_stream(self, args: Arguments) -> Json:
        """chat.startStream."""
        room = self._get_room(args)
        thread_ts = args.need("thread_ts")
        if room.find(thread_ts) is None:
            raise SlackRefusalError("thread_not_found")
        needs_recipient = room.kind != "im"
        if needs_recipient and not args.text("recipient_user_id"):
            raise SlackRefusalError("missing_recipient_user_id")
        if needs_recipient and args.text("recipient_team_id") != TEAM_ID:
            raise SlackRefusalError("missing_recipient_team_id")
        message = self.add(room, (_read_chunks(args), []), thread_ts=thread_ts)
        message.is_streaming = message.is_markdown = True
        return {"channel": room.channel_id, "ts": message.ts}

    def append_stream(self, args: Arguments) -> Json:
        """chat.appendStream."""
        room, message = self._get_stream(args)
        more = _read_chunks(args)
        if not more:
            raise SlackRefusalError("no_text")
        _append(message, more)
        return {"channel": room.channel_id, "ts": message.ts}

    def stop_stream(self, args: Arguments) -> Json:
        """chat.stopStream."""
        room, message = self._get_stream(args)
        _append(message, _read_chunks(args))
        if args.values.get("blocks") is not None:
            message.blocks = check_message_blocks(args.json("blocks"))
        message.metadata = _read_metadata(args) or message.metadata
        message.is_streaming = False
        return {"channel": room.channel_id, "ts": message.ts}

    def add(
        self,
        room: Room,
        content: tuple[str, list[Json]],
        *,
        thread_ts: str = "",
        metadata: Json | None = None,
    ) -> Message:
        """Add a message of our bot and tell the app of it."""
        message = Message(
            ts=self._workspace.next_ts(),
            channel=room.channel_id,
            user=BOT_USER_ID,
            text=content[0],
            blocks=content[1],
            thread_ts=thread_ts,
            bot_id=BOT_ID,
            metadata=metadata,
        )
        room.messages.append(message)
        self._workspace.statuses.pop((room.channel_id, thread_ts), None)
        self._delivery.send_message(room, message.to_json())
        return message

    def add_ephemeral(
        self, room: Room, user: str, text: str, blocks: list[Json], *, thread_ts: str = ""
    ) -> Message:
        """Add a message that one member sees."""
        message = Message(
            ts=self._workspace.next_ts(),
            channel=room.channel_id,
            user=BOT_USER_ID,
            text=text,
            blocks=blocks,
            thread_ts=thread_ts,
            bot_id=BOT_ID,
            ephemeral_to=user,
        )
        room.ephemeral.append(message)
        return message

    def _get_room(self, args: Arguments) -> Room:
        room = self._workspace.rooms.get(args.need("channel"))
        if room is None or (room.kind == "group" and BOT_USER_ID not in room.members):
            raise SlackRefusalError("channel_not_found")
        if BOT_USER_ID not in room.members:
            raise SlackRefusalError("not_in_channel")
        if room.is_archived:
            raise SlackRefusalError("is_archived")
        return room

    def _get_own(self, room: Room, ts: str) -> Message:
        message = room.find(ts)
        if message is None:
            raise SlackRefusalError("message_not_found")
        if message.user != BOT_USER_ID:
            raise SlackRefusalError("cant_update_message")
        return message

    def _get_stream(self, args: Arguments) -> tuple[Room, Message]:
        room = self._get_room(args)
        message = self._get_own(room, args.need("ts"))
        if not message.is_streaming:
            raise SlackRefusalError("message_not_in_streaming_state")
        return room, message

    def _read_content(self, args: Arguments) -> tuple[str, list[Json]]:
        """Return text and blocks of a message, checked."""
        markdown, text = args.text("markdown_text"), args.text("text")
        has_blocks = bool(args.json("blocks"))
        if markdown and (text or has_blocks):
            raise SlackRefusalError("markdown_text_conflict")
        if len(markdown) > MARKDOWN_CHARS:
            raise SlackRefusalError("msg_too_long")
        if not (markdown or text or has_blocks):
            raise SlackRefusalError("no_text")
        if not has_blocks:
            return (markdown or text)[:POST_TEXT_CHARS], []
        blocks = check_message_blocks(args.json("blocks"))
        if self._faults.refuses_blocks():
            raise SlackRefusalError("invalid_blocks", errors=["refused on demand"])
        return text[:POST_TEXT_CHARS], blocks


def _read_metadata(args: Arguments) -> Json | None:
    metadata: Any = args.json("metadata")
    if not metadata:
        return None
    is_well_formed = (
        isinstance(metadata, dict)
        and isinstance(metadata.get("event_type"), str)
        and isinstance(metadata.get("event_payload"), dict)
    )
    if not is_well_formed:
        raise SlackRefusalError("invalid_metadata_format")
    if len(str(metadata)) > METADATA_CHARS:
        raise SlackRefusalError("metadata_too_large")
    found: Json = metadata
    return found


def _read_chunks(args: Arguments) -> str:
    parts = [args.text("markdown_text")]
    for chunk in args.json("chunks") or []:
        if chunk.get("type") not in {"markdown_text", "task_update", "plan_update", "blocks"}:
            raise SlackRefusalError("invalid_chunks")
        parts.append(str(chunk.get("text", "")))
    return "".join(parts)


def _append(message: Message, more: str) -> None:
    if len(message.text) + len(more) > MARKDOWN_CHARS:
        raise SlackRefusalError("msg_too_long")
    message.text += more

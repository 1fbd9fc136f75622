"""response_urls: addresses by which the app answers a command or a click for half an hour."""

import time
from dataclasses import dataclass

from aiohttp import web

from playground.slack.arguments import Arguments, read_arguments
from playground.slack.blocks import check_message_blocks
from playground.slack.chat_methods import ChatMethods
from playground.slack.faults import Faults
from playground.slack.refusals import SlackRefusalError
from playground.slack.workspace import Json, Message, Room, Workspace

USES, LASTS_S = 5, 1800.0


@dataclass(slots=True)
class _Place:
    room: Room
    user: str
    message: Message | None
    given_at: float
    uses: int = 0


class ResponseUrls:
    """The addresses that were given out."""

    def __init__(self, workspace: Workspace, chat: ChatMethods, faults: Faults) -> None:
        self._faults = faults
        self._workspace = workspace
        self._chat = chat
        self._places: list[_Place] = []
        self.base_url = ""

    def give(self, room: Room, user: str, message: Message | None = None) -> str:
        """Return a new address; for a click, the message it was on."""
        self._places.append(_Place(room, user, message, time.monotonic()))
        return f"{self.base_url}/respond/{len(self._places) - 1}"

    async def serve(self, request: web.Request) -> web.Response:
        """Take an answer."""
        number = int(request.match_info["number"])
        if number >= len(self._places):
            return web.Response(status=404, text="no such url")
        if self._faults.is_due(self._faults.limit, "response_url"):
            headers = {"Retry-After": str(self._faults.retry_after)}
            return web.Response(status=429, headers=headers)
        place = self._places[number]
        place.uses += 1
        if place.uses > USES:
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        if time.monotonic() - place.given_at > LASTS_S:
            return web.json_response({"ok": False, "error": "expired_url"}, status=404)
        try:
            self._take(place, await read_arguments(request))
        except SlackRefusalError as error:
            return web.json_response({"ok": False, "error": error.code}, status=400)
        return web.Response(text="ok")

    def take_reply(self, room: Room, user: str, reply: Json) -> None:
        """Take what an acknowledgement itself said."""
        if reply.get("text") or reply.get("blocks"):
            self._take(_Place(room, user, None, time.monotonic()), Arguments(reply))

    def _take(self, place: _Place, args: Arguments) -> None:
        if args.flag("delete_original"):
            self._remove(place)
            return
        blocks = check_message_blocks(args.json("blocks") or [])
        text = args.text("text")
        if not (text or blocks):
            raise SlackRefusalError("no_text")
        if place.message is not None and args.flag("replace_original"):
            place.message.text, place.message.blocks = text, blocks
            return
        thread_ts = args.text("thread_ts")
        if (args.text("response_type") or "ephemeral") == "in_channel":
            self._chat.add(place.room, (text, blocks), thread_ts=thread_ts)
            return
        self._chat.add_ephemeral(place.room, place.user, text, blocks, thread_ts=thread_ts)

    def _remove(self, place: _Place) -> None:
        for messages in (place.room.messages, place.room.ephemeral):
            if place.message in messages:
                messages.remove(place.message)

"""An app of a Slack workspace, down to the socket: hears everything, answers what it is told."""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientSession, WSMsgType

from playground.slack.server import APP_TOKEN, BOT_TOKEN, SlackServer

Json = dict[str, Any]


@dataclass
class App:
    """A program of the app's, down to the socket.

    Attributes:
        reply: What forms are answered with.
        is_deaf: Whether nothing is acknowledged.
    """

    slack: SlackServer
    session: ClientSession
    heard: list[Json] = field(default_factory=list)
    reply: Json | None = None
    is_deaf: bool = False

    async def call(self, method: str, **values: Any) -> Json:
        headers = {"Authorization": f"Bearer {BOT_TOKEN}"}
        url = self.slack.api_url + method
        async with self.session.post(url, json=values, headers=headers) as response:
            found: Json = await response.json()
            return found

    async def listen(self) -> None:
        headers = {"Authorization": f"Bearer {APP_TOKEN}"}
        url = self.slack.api_url + "apps.connections.open"
        async with self.session.post(url, headers=headers) as response:
            address = (await response.json())["url"]
        async with self.session.ws_connect(address) as socket:
            async for frame in socket:
                assert frame.type is WSMsgType.TEXT
                envelope = frame.json()
                if "envelope_id" not in envelope or self.is_deaf:
                    continue
                payload = envelope["payload"]
                self.heard.append(payload)
                ack: Json = {"envelope_id": envelope["envelope_id"]}
                if payload["type"] == "view_submission" and self.reply is not None:
                    ack["payload"] = self.reply
                await socket.send_json(ack)

    def events(self) -> list[Json]:
        return [one["event"] for one in self.heard if one["type"] == "event_callback"]

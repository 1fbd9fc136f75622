"""Slack's Web API as we call it: errors translated, posts never made twice."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import structlog
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from bot.handlers.slack.calls import (
    FIRST_WAIT_S,
    SERVER_ERROR,
    TOO_MANY,
    TRIES,
    SlackRefusedError,
    await_reply,
    load_headers,
    try_again,
)
from bot.handlers.slack.rendering import SlackMessage
from core.chat_settings import SlackSettings
from core.errors import (
    RateLimitedError,
    ServiceUnavailableError,
    SettingsError,
    TransientError,
)

ANSWER, CALL = "zhixing_answer", "zhixing_call"
"""What our messages say they are, in their metadata."""
PAGE = 200
# What Slack itself makes of streamed text.
_TEXT_BLOCKS = frozenset({"rich_text", "markdown"})
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an answer goes; `thread` is empty outside of threads."""

    channel: str
    thread: str
    since: str
    """The question's ts: nothing of the answer is older."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OurAccount:
    """Who we are in the workspace."""

    user_id: str
    bot_id: str
    team_id: str


class SlackApi:
    """Calls Slack. What only reads is tried again; what posts is looked for before it is."""

    def __init__(self, client: AsyncWebClient, *, rate_limit_retries: int = 0) -> None:
        self.client = client
        # The client's own calls are repeated by its handler.
        self._rate_limit_retries = rate_limit_retries

    async def identify(self) -> OurAccount:
        """Return who we are.

        Raises:
            SettingsError: The token is not taken.
        """
        try:
            found = await self.read("auth.test")
        except SlackRefusedError as error:
            raise SettingsError(
                f"Slack does not take the bot token ({error.code}); set SLACK_BOT_TOKEN to the "
                "token of the installed app (xoxb-…)"
            ) from error
        return OurAccount(
            user_id=found["user_id"], bot_id=found.get("bot_id", ""), team_id=found["team_id"]
        )

    async def load_scopes(self) -> frozenset[str]:
        """Return what the bot token was granted."""
        headers = await load_headers("auth.test", self.client.api_call("auth.test"))
        found = {name.lower(): value for name, value in headers.items()}.get("x-oauth-scopes", "")
        return frozenset(filter(None, (one.strip() for one in str(found).split(","))))

    async def open_connection(self, app_token: str) -> str:
        """Return the address of a new Socket Mode connection."""
        opening = self.client.apps_connections_open(app_token=app_token)
        return str((await await_reply("apps.connections.open", opening))["url"])

    async def call(self, method: str, **arguments: object) -> Mapping[str, Any]:
        """Make a call once, waiting as often as Slack asks to.

        Raises:
            SlackRefusedError: It was not done, and would not be.
            RateLimitedError: It was not done, after several waits.
            ServiceUnavailableError: Nobody knows whether it was done.
        """
        return await self._send(method, arguments, is_reading=False)

    async def read(self, method: str, **arguments: object) -> Mapping[str, Any]:
        """Make a call that may as well be made twice, trying again when Slack does not answer."""
        return await try_again(lambda: self._send(method, arguments, is_reading=True))

    async def read_pages(self, method: str, key: str, **arguments: object) -> list[Any]:
        """Read all pages of a listing."""
        entries: list[Any] = []
        cursor, seen = "", set[str]()
        while True:
            page = await self.read(method, cursor=cursor, limit=PAGE, **arguments)
            entries += page.get(key) or []
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor or cursor in seen:
                return entries
            seen.add(cursor)

    async def post(
        self,
        place: Place,
        message: SlackMessage,
        *,
        question_id: str,
        part: int,
        kind: str = ANSWER,
    ) -> str:
        """Post one message of an answer, or of another kind, exactly once; returns its ts.

        When a reply is lost, the place is searched for the message before it is posted again.
        """
        arguments = {
            "channel": place.channel,
            "thread_ts": place.thread,
            **_content(message),
            "metadata": _metadata(question_id, part, kind),
            "unfurl_links": False,
            "unfurl_media": False,
        }
        wait_s = FIRST_WAIT_S
        for attempt in range(TRIES):
            try:
                return str((await self.call("chat.postMessage", **arguments))["ts"])
            except TransientError as error:
                if attempt == TRIES - 1:
                    raise
                _log.warning("slack_post_in_doubt", question=question_id, reason=str(error))
            await asyncio.sleep(wait_s)
            wait_s *= 2
            if found := (await self.find_posts(place, question_id, kind=kind)).get(part):
                return found
        raise AssertionError("the loop ends by itself")

    async def find_posts(
        self, place: Place, question_id: str, *, kind: str = ANSWER
    ) -> dict[int, str]:
        """Return the messages of an answer that stand in its place, by number of the part."""
        found: dict[int, str] = {}
        for part, ts in await self.find_all_posts(place, question_id, kind=kind):
            found.setdefault(part, ts)
        return found

    async def find_all_posts(
        self, place: Place, question_id: str, *, kind: str = ANSWER
    ) -> list[tuple[int, str]]:
        """Return the messages of an answer with their part, also several of one part; in order."""
        found = []
        for one in await self._read_place(place):
            metadata = one.get("metadata") or {}
            payload = metadata.get("event_payload") or {}
            if metadata.get("event_type") == kind and payload.get("question") == question_id:
                found.append((int(payload.get("part", 0)), str(one["ts"])))
        return found

    async def find_unmarked(self, place: Place, *, author: str) -> list[str]:
        """Return the messages of an account that nobody ended: mere text, without metadata."""
        return [
            str(one["ts"])
            for one in await self._read_place(place)
            if one.get("user") == author
            and not one.get("metadata")
            and all(block.get("type") in _TEXT_BLOCKS for block in one.get("blocks") or ())
        ]

    async def _read_place(self, place: Place) -> list[Any]:
        arguments = {"channel": place.channel, "oldest": place.since, "include_all_metadata": True}
        if not place.thread:
            return await self.read_pages("conversations.history", "messages", **arguments)
        return await self.read_pages(
            "conversations.replies", "messages", ts=place.thread, **arguments
        )

    async def update(self, channel: str, ts: str, message: SlackMessage) -> None:
        """Let a message of ours say something else; harmless when done twice."""
        arguments = {"channel": channel, "ts": ts, **_content(message)}
        await try_again(lambda: self.call("chat.update", **arguments))

    async def delete(self, channel: str, ts: str) -> None:
        """Take a message of ours back; one that is gone already is no error."""
        try:
            await try_again(lambda: self.call("chat.delete", channel=channel, ts=ts))
        except SlackRefusedError as error:
            if error.code != "message_not_found":
                raise

    async def start_stream(
        self, place: Place, text: str, *, recipient: str, recipient_team: str
    ) -> str:
        """Begin a message that is written bit by bit, in a thread; returns its ts.

        It carries no metadata before it is ended. Made once: a lost reply leaves it in doubt.
        """
        started = await self.call(
            "chat.startStream",
            channel=place.channel,
            thread_ts=place.thread,
            recipient_user_id=recipient,
            recipient_team_id=recipient_team,
            chunks=_chunks(text),
        )
        return str(started["ts"])

    async def append_stream(self, channel: str, ts: str, text: str) -> None:
        """Write on in such a message. Made once: a second time would say it twice."""
        await self.call("chat.appendStream", channel=channel, ts=ts, chunks=_chunks(text))

    async def stop_stream(self, channel: str, ts: str, *, question_id: str) -> None:
        """End such a message, as the first one of an answer; one that has ended is no error."""
        metadata = _metadata(question_id, 0)
        try:
            await try_again(
                lambda: self.call("chat.stopStream", channel=channel, ts=ts, metadata=metadata)
            )
        except SlackRefusedError as error:
            if error.code not in {"message_not_in_streaming_state", "message_not_found"}:
                raise

    async def set_status(self, channel: str, thread: str, status: str) -> None:
        """Say what is being done, below a thread; an empty status takes it away."""
        # An empty argument would be left out.
        await self._post_once(
            "assistant.threads.setStatus",
            {"channel_id": channel, "thread_ts": thread, "status": status},
        )

    async def whisper(
        self, channel: str, user: str, message: SlackMessage, *, thread: str = ""
    ) -> None:
        """Tell somebody something that only they see; directly when they are not in the channel."""
        arguments = {"user": user, "thread_ts": thread, **_content(message)}
        try:
            await try_again(lambda: self.call("chat.postEphemeral", channel=channel, **arguments))
        except SlackRefusedError as error:
            if error.code not in {"user_not_in_channel", "channel_not_found", "not_in_channel"}:
                raise
            await self.write_to(user, message)

    async def write_to(self, user: str, message: SlackMessage) -> None:
        """Write somebody a direct message."""
        channel = await self.open_direct(user)
        await self.call("chat.postMessage", channel=channel, **_content(message))

    async def open_direct(self, user: str) -> str:
        """Return the channel of direct messages with somebody."""
        return str((await self.read("conversations.open", users=user))["channel"]["id"])

    async def respond(self, url: str, message: SlackMessage, *, replaces: bool = False) -> None:
        """Answer a command or a click at its response_url, to the person alone."""
        body = {**_content(message), "response_type": "ephemeral", "replace_original": replaces}
        for _ in range(self._rate_limit_retries):
            try:
                await try_again(lambda: self._respond(url, body))
            except RateLimitedError as error:
                await asyncio.sleep(error.retry_after_s)
            else:
                return
        await try_again(lambda: self._respond(url, body))

    async def _respond(self, url: str, body: Mapping[str, Any]) -> None:
        session = self.client.session
        if session is None:
            raise ServiceUnavailableError("there is no connection to Slack any more")
        try:
            async with session.post(url, json=body, proxy=self.client.proxy) as response:
                text, status = await response.text(), response.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ServiceUnavailableError(f"Slack did not take a response: {error!r}") from error
        if status == TOO_MANY:
            wait_s = float(response.headers.get("Retry-After", 1))
            raise RateLimitedError("Slack limits responses", retry_after_s=wait_s)
        if status >= SERVER_ERROR:
            raise ServiceUnavailableError(f"Slack did not take a response: HTTP {status}")
        if not response.ok:
            raise SlackRefusedError("response_url", f"HTTP {status}", text[:200])

    async def _send(
        self, method: str, arguments: Mapping[str, object], *, is_reading: bool
    ) -> Mapping[str, Any]:
        given = {key: value for key, value in arguments.items() if value not in (None, "")}
        if not is_reading:
            return await self._post_once(method, given)
        # Methods that read take no JSON.
        call = self.client.api_call(method, http_verb="GET", params=_as_texts(given))
        return await await_reply(method, call)

    async def _post_once(self, method: str, given: Mapping[str, object]) -> Mapping[str, Any]:
        return await await_reply(method, self.client.api_call(method, json=dict(given)))


@asynccontextmanager
async def open_slack_api(settings: SlackSettings) -> AsyncIterator[SlackApi]:
    """Connect to the Web API; the connection is closed at the end of the block."""
    timeout = aiohttp.ClientTimeout(total=settings.call_timeout_s)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        client = AsyncWebClient(
            settings.bot_token.get_secret_value(),
            base_url=settings.base_url,
            session=session,
            # Its own handler for lost connections would post a second time.
            retry_handlers=[
                AsyncRateLimitErrorRetryHandler(max_retry_count=settings.rate_limit_retries)
            ],
        )
        bypass_proxy(client)
        yield SlackApi(client, rate_limit_retries=settings.rate_limit_retries)


def bypass_proxy(client: AsyncWebClient) -> None:
    """Keep calls to this machine away from the proxy that Slack's client takes from outside."""
    if urlsplit(client.base_url).hostname in _LOOPBACK:
        client.proxy = None


def _as_texts(given: Mapping[str, object]) -> dict[str, str]:
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in given.items()
    }


def _content(message: SlackMessage) -> dict[str, object]:
    if not message.blocks:
        return {"text": message.text}
    return {"text": message.text, "blocks": list(message.blocks)}


def _chunks(text: str) -> list[dict[str, str]]:
    return [{"type": "markdown_text", "text": text}]


def _metadata(question_id: str, part: int, kind: str = ANSWER) -> dict[str, object]:
    return {"event_type": kind, "event_payload": {"question": question_id, "part": part}}

"""Slack's Web API as we call it: errors translated, posts never made twice."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.handlers.slack.rendering import SlackMessage
from core.chat_settings import SlackSettings
from core.errors import (
    PermanentError,
    RateLimitedError,
    ServiceUnavailableError,
    SettingsError,
    TransientError,
)

METADATA_TYPE = "zhixing_answer"
TRIES = 4
FIRST_WAIT_S = 0.2
PAGE = 200
_TOO_MANY, _SERVER_ERROR = 429, 500
_TOKEN_CODES = frozenset(
    {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"}
)
_BLOCK_CODES = frozenset(
    {
        "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long",
        "invalid_attachments",
    }
)  # fmt: skip
_PASSING_CODES = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout"}
)
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

_T = TypeVar("_T")
_log = structlog.get_logger(__name__)


class SlackRefusedError(PermanentError):
    """Slack refuses a call.

    Attributes:
        code: Slack's own, such as `channel_not_found`.
    """

    def __init__(self, method: str, code: str, detail: str = "") -> None:
        said = f"Slack refused {method!r}: {code!r}"
        super().__init__(f"{said} ({detail})" if detail else said)
        self.code = code

    @property
    def is_about_blocks(self) -> bool:
        """Whether the same words might be taken as plain text."""
        return self.code in _BLOCK_CODES


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

    def __init__(self, client: AsyncWebClient) -> None:
        self.client = client

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

    async def open_connection(self, app_token: str) -> str:
        """Return the address of a new Socket Mode connection."""
        opening = self.client.apps_connections_open(app_token=app_token)
        return str((await _await_reply("apps.connections.open", opening))["url"])

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
        return await _try_again(lambda: self._send(method, arguments, is_reading=True))

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
        self, place: Place, message: SlackMessage, *, question_id: str, part: int
    ) -> str:
        """Post one message of an answer, exactly once; returns its ts.

        When a reply is lost, the place is searched for the message before it is posted again.
        """
        arguments = {
            "channel": place.channel,
            "thread_ts": place.thread,
            **_content(message),
            "metadata": _metadata(question_id, part),
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
            if found := (await self.find_posts(place, question_id)).get(part):
                return found
        raise AssertionError("the loop ends by itself")

    async def find_posts(self, place: Place, question_id: str) -> dict[int, str]:
        """Return the messages of an answer that stand in its place, by number of the part."""
        arguments = {"channel": place.channel, "oldest": place.since, "include_all_metadata": True}
        if place.thread:
            method = "conversations.replies"
            arguments["ts"] = place.thread
        else:
            method = "conversations.history"
        found: dict[int, str] = {}
        for one in await self.read_pages(method, "messages", **arguments):
            metadata = one.get("metadata") or {}
            payload = metadata.get("event_payload") or {}
            if (
                metadata.get("event_type") == METADATA_TYPE
                and payload.get("question") == question_id
            ):
                found.setdefault(int(payload.get("part", 0)), str(one["ts"]))
        return found

    async def update(self, channel: str, ts: str, message: SlackMessage) -> None:
        """Let a message of ours say something else; harmless when done twice."""
        arguments = {"channel": channel, "ts": ts, **_content(message)}
        await _try_again(lambda: self.call("chat.update", **arguments))

    async def delete(self, channel: str, ts: str) -> None:
        """Take a message of ours back; one that is gone already is no error."""
        try:
            await _try_again(lambda: self.call("chat.delete", channel=channel, ts=ts))
        except SlackRefusedError as error:
            if error.code != "message_not_found":
                raise

    async def whisper(
        self, channel: str, user: str, message: SlackMessage, *, thread: str = ""
    ) -> None:
        """Tell somebody something that only they see; directly when they are not in the channel."""
        arguments = {"user": user, "thread_ts": thread, **_content(message)}
        try:
            await _try_again(lambda: self.call("chat.postEphemeral", channel=channel, **arguments))
        except SlackRefusedError as error:
            if error.code not in {"user_not_in_channel", "channel_not_found", "not_in_channel"}:
                raise
            await self.write_to(user, message)

    async def write_to(self, user: str, message: SlackMessage) -> None:
        """Write somebody a direct message."""
        opened = await self.read("conversations.open", users=user)
        await self.call("chat.postMessage", channel=opened["channel"]["id"], **_content(message))

    async def respond(self, url: str, message: SlackMessage, *, replaces: bool = False) -> None:
        """Answer a command or a click at its response_url, to the person alone."""
        body = {**_content(message), "response_type": "ephemeral", "replace_original": replaces}
        await _try_again(lambda: self._respond(url, body))

    async def _respond(self, url: str, body: Mapping[str, Any]) -> None:
        session = self.client.session
        if session is None:
            raise ServiceUnavailableError("there is no connection to Slack any more")
        try:
            async with session.post(url, json=body, proxy=self.client.proxy) as response:
                text, status = await response.text(), response.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ServiceUnavailableError(f"Slack did not take a response: {error!r}") from error
        if status >= _SERVER_ERROR:
            raise ServiceUnavailableError(f"Slack did not take a response: HTTP {status}")
        if not response.ok:
            raise SlackRefusedError("response_url", f"HTTP {status}", text[:200])

    async def _send(
        self, method: str, arguments: Mapping[str, object], *, is_reading: bool
    ) -> Mapping[str, Any]:
        given = {key: value for key, value in arguments.items() if value not in (None, "")}
        # Methods that read take no JSON.
        return await _await_reply(
            method,
            self.client.api_call(method, http_verb="GET", params=_as_texts(given))
            if is_reading
            else self.client.api_call(method, json=given),
        )


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
        yield SlackApi(client)


def bypass_proxy(client: AsyncWebClient) -> None:
    """Keep calls to this machine away from the proxy that Slack's client takes from outside."""
    if urlsplit(client.base_url).hostname in _LOOPBACK:
        client.proxy = None


async def _try_again(call: Callable[[], Awaitable[_T]]) -> _T:
    wait_s = FIRST_WAIT_S
    for _ in range(TRIES - 1):
        try:
            return await call()
        except ServiceUnavailableError as error:
            _log.warning("slack_call_repeated", reason=str(error))
        await asyncio.sleep(wait_s)
        wait_s *= 2
    return await call()


async def _await_reply(method: str, call: Awaitable[AsyncSlackResponse]) -> Mapping[str, Any]:
    try:
        response = await call
    except SlackApiError as error:
        raise _translate(method, error) from error
    except (aiohttp.ClientError, TimeoutError, SlackClientError, OSError) as error:
        raise ServiceUnavailableError(
            f"Slack did not answer {method!r}: {error!r}; see whether it can be reached"
        ) from error
    data: Mapping[str, Any] = response.data if isinstance(response.data, dict) else {}
    return data


def _translate(method: str, error: SlackApiError) -> Exception:
    response = error.response
    status = getattr(response, "status_code", 0)
    found = getattr(response, "data", None)
    data: Mapping[str, Any] = found if isinstance(found, dict) else {}
    code = str(data.get("error", ""))
    if status == _TOO_MANY or code == "ratelimited":
        wait_s = float(response.headers.get("Retry-After", 1))
        return RateLimitedError(
            f"Slack limits {method!r} and asks to wait {wait_s:.0f} s", retry_after_s=wait_s
        )
    if status >= _SERVER_ERROR or code in _PASSING_CODES or not code:
        return ServiceUnavailableError(f"Slack failed in {method!r}: HTTP {status} {code}")
    if code in _TOKEN_CODES:
        return SlackRefusedError(method, code, "set SLACK_BOT_TOKEN to a token that is valid")
    needed = f"add the scope {data['needed']!r} to the app" if data.get("needed") else ""
    said = "; ".join(map(str, (data.get("response_metadata") or {}).get("messages", ())))
    return SlackRefusedError(method, code, needed or said)


def _as_texts(given: Mapping[str, object]) -> dict[str, str]:
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in given.items()
    }


def _content(message: SlackMessage) -> dict[str, object]:
    if not message.blocks:
        return {"text": message.text}
    return {"text": message.text, "blocks": list(message.blocks)}


def _metadata(question_id: str, part: int) -> dict[str, object]:
    return {"event_type": METADATA_TYPE, "event_payload": {"question": question_id, "part": part}}

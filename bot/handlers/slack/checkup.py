"""What `zhixing doctor` looks at of a Slack workspace: tokens, scopes, the socket, the command."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping

import aiohttp
from pydantic import SecretStr

from bot.handlers.slack.api import SlackApi, open_slack_api
from bot.handlers.slack.calls import SlackRefusedError
from core.chat_settings import SlackSettings
from core.errors import ServiceUnavailableError, SettingsError

HELLO_S = 10.0
_COMMAND = re.compile(r"/[a-z0-9_-]{1,31}")

NEEDED_SCOPES: Mapping[str, str] = {
    "app_mentions:read": "mentions",
    "channels:history": "threads of public channels",
    "channels:read": "who listens in public channels",
    "chat:write": "answers",
    "commands": "the slash command and shortcuts",
    "groups:history": "threads of private channels",
    "groups:read": "who listens in private channels",
    "im:history": "direct messages",
    "im:read": "direct messages",
    "im:write": "what is said to one person alone",
    "mpim:history": "threads of group messages",
    "mpim:read": "who listens in group messages",
    "users:read": "who people are",
}
WISHED_SCOPES: Mapping[str, str] = {
    "assistant:write": "suggested questions",
    "usergroups:read": "user groups in access files",
    "users:read.email": "people by the address of their account",
}

Check = Callable[[SlackSettings], Awaitable[str]]


async def check_tokens(settings: SlackSettings) -> str:
    """Tell whose token it is.

    Raises:
        SettingsError: One is of another kind, missing or not taken.
    """
    _check_kind(
        settings.bot_token, "xoxb-", "SLACK_BOT_TOKEN", "the bot token of OAuth & Permissions"
    )
    if settings.mode == "socket":
        _check_kind(
            settings.app_token, "xapp-", "SLACK_APP_TOKEN",
            "an app-level token of Basic Information, with the scope connections:write",
        )  # fmt: skip
    elif not settings.signing_secret.get_secret_value():
        raise SettingsError("SLACK_SIGNING_SECRET is not set; it stands under Basic Information")
    async with open_slack_api(settings) as api:
        account = await api.identify()
        found = await api.read("auth.test")
    return f"{found.get('user', account.user_id)!r} in {found.get('team', account.team_id)!r}"


async def check_scopes(settings: SlackSettings) -> str:
    """Tell what the app was granted.

    Raises:
        SettingsError: Something it can't do without is missing.
    """
    async with open_slack_api(settings) as api:
        granted = await api.load_scopes()
    missing = _list_missing(NEEDED_SCOPES, granted)
    if missing:
        raise SettingsError(
            f"the app was not granted {missing}; add this under OAuth & Permissions, as in "
            "deploy/slack-manifest.yaml, and install the app again"
        )
    wished = _list_missing(WISHED_SCOPES, granted)
    return f"all that is needed; without {wished}" if wished else "all that is needed and wished"


async def check_socket(settings: SlackSettings) -> str:
    """Open a connection and wait for its first word.

    Raises:
        SettingsError: Slack gives no connection.
        ServiceUnavailableError: It can't be opened from here.
    """
    if settings.mode != "socket":
        return f"not used; Slack calls http://{settings.host}:{settings.port}{settings.path}"
    async with open_slack_api(settings) as api:
        try:
            url = await api.open_connection(settings.app_token.get_secret_value())
        except SlackRefusedError as error:
            raise SettingsError(
                f"Slack gives no Socket Mode connection ({error.code}); turn Socket Mode on, and "
                "give SLACK_APP_TOKEN the scope connections:write"
            ) from error
        return await _greet(api, url)


async def _greet(api: SlackApi, url: str) -> str:
    said = "a WebSocket to Slack can't be opened from here"
    try:
        async with (
            asyncio.timeout(HELLO_S),
            aiohttp.ClientSession() as session,
            session.ws_connect(url, proxy=api.client.proxy) as socket,
        ):
            hello = await socket.receive_json()
    except (aiohttp.ClientError, TimeoutError, OSError, TypeError, ValueError) as error:
        raise ServiceUnavailableError(f"{said}: {error!r}; see to proxy and firewall") from error
    if hello.get("type") != "hello":
        raise ServiceUnavailableError(f"{said}: Slack began with {hello.get('type')!r}")
    return "opens"


async def check_command(settings: SlackSettings) -> str:
    """Tell the name of the command; Slack does not tell an app whether it has it.

    Raises:
        SettingsError: No command can be called so.
    """
    if not _COMMAND.fullmatch(settings.command):
        raise SettingsError(
            f"no slash command can be called {settings.command!r}; set slack.command to the one "
            "under Slash Commands of the app, such as '/kb'"
        )
    return f"{settings.command!r}; has to be the one under Slash Commands of the app"


CHECKS: Mapping[str, Check] = {
    "slack tokens": check_tokens,
    "slack scopes": check_scopes,
    "slack socket": check_socket,
    "slack command": check_command,
}


def _check_kind(token: SecretStr, beginning: str, name: str, remedy: str) -> None:
    value = token.get_secret_value()
    if not value:
        raise SettingsError(f"{name} is not set; it is {remedy}")
    if not value.startswith(beginning):
        # The rest of a token is nobody's to see.
        kind = value[: value.find("-") + 1] or "something else"
        raise SettingsError(f"{name} begins with {kind[:8]!r}, not {beginning!r}; it is {remedy}")


def _list_missing(wanted: Mapping[str, str], granted: frozenset[str]) -> str:
    return ", ".join(f"{name} ({what})" for name, what in wanted.items() if name not in granted)

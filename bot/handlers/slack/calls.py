"""One call of Slack's Web API: its errors translated once, and when it is made again."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from core.errors import PermanentError, RateLimitedError, ServiceUnavailableError

TRIES = 4
FIRST_WAIT_S = 0.2
TOO_MANY, SERVER_ERROR = 429, 500
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


async def try_again(call: Callable[[], Awaitable[_T]]) -> _T:
    """Make a call that is harmless when made twice, again when nobody knows what became of it."""
    wait_s = FIRST_WAIT_S
    for _ in range(TRIES - 1):
        try:
            return await call()
        except ServiceUnavailableError as error:
            _log.warning("slack_call_repeated", reason=str(error))
        await asyncio.sleep(wait_s)
        wait_s *= 2
    return await call()


async def await_reply(method: str, call: Awaitable[AsyncSlackResponse]) -> Mapping[str, Any]:
    """Return what Slack replied.

    Raises:
        SlackRefusedError: It was not done, and would not be.
        RateLimitedError: It was not done; Slack asks to wait.
        ServiceUnavailableError: Nobody knows whether it was done.
    """
    response = await _await_response(method, call)
    data: Mapping[str, Any] = response.data if isinstance(response.data, dict) else {}
    return data


async def load_headers(method: str, call: Awaitable[AsyncSlackResponse]) -> Mapping[str, str]:
    """Return the headers of what Slack replied; errors as in `await_reply`."""
    headers: Mapping[str, str] = (await _await_response(method, call)).headers
    return headers


async def _await_response(method: str, call: Awaitable[AsyncSlackResponse]) -> AsyncSlackResponse:
    try:
        return await call
    except SlackApiError as error:
        raise _translate(method, error) from error
    except (aiohttp.ClientError, TimeoutError, SlackClientError, OSError) as error:
        raise ServiceUnavailableError(
            f"Slack did not answer {method!r}: {error!r}; see whether it can be reached"
        ) from error


def _translate(method: str, error: SlackApiError) -> Exception:
    response = error.response
    status = getattr(response, "status_code", 0)
    found = getattr(response, "data", None)
    data: Mapping[str, Any] = found if isinstance(found, dict) else {}
    code = str(data.get("error", ""))
    if status == TOO_MANY or code == "ratelimited":
        wait_s = float(response.headers.get("Retry-After", 1))
        return RateLimitedError(
            f"Slack limits {method!r} and asks to wait {wait_s:.0f} s", retry_after_s=wait_s
        )
    if status >= SERVER_ERROR or code in _PASSING_CODES or not code:
        return ServiceUnavailableError(f"Slack failed in {method!r}: HTTP {status} {code}")
    if code in _TOKEN_CODES:
        return SlackRefusedError(method, code, "set SLACK_BOT_TOKEN to a token that is valid")
    needed = f"add the scope {data['needed']!r} to the app" if data.get("needed") else ""
    said = "; ".join(map(str, (data.get("response_metadata") or {}).get("messages", ())))
    return SlackRefusedError(method, code, needed or said)

"""Replies of a service, and what unhappy ones mean. Pure."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from yarl import URL

from core.clock import Clock
from core.errors import (
    AccessDeniedError,
    PermanentError,
    RateLimitedError,
    ResourceGoneError,
    ServiceUnavailableError,
    SettingsError,
    ZhixingError,
)

_SERVER_FAULTS = 500
_TRANSIENT = frozenset({408, 409, 423, 425})
_TOO_MANY = 429
_FORBIDDEN = 403
_DEFAULT_RETRY_AFTER_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """A reply, whole. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str

    @property
    def media_type(self) -> str:
        """The content type without parameters, in lower case; empty when there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_web_page(self) -> bool:
        """Whether it is a page for people, such as a login form."""
        return self.media_type in {"text/html", "application/xhtml+xml"}

    def excerpt(self) -> str:
        """Return the beginning of the body on one line, for messages."""
        return " ".join(self.body[:600].decode("utf-8", errors="replace").split())[:200]


ReadError = Callable[[HttpReply], ZhixingError | None]
"""Says what an unhappy reply (status 400 and above) means; None = as its status usually means."""


def read_retry_after(reply: HttpReply, clock: Clock) -> float:
    """Return the seconds a reply asks to wait; 0 when it does not, as success replies may say."""
    value = reply.headers.get("retry-after", "").strip()
    if not value:
        return 0.0
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return 0.0
    return max(0.0, moment.timestamp() - clock.now().timestamp())


def translate_status(reply: HttpReply, *, place: str, remedy: str, pause_s: float) -> ZhixingError:
    """Return our error for an unhappy reply.

    Args:
        reply: Its status is 400 or above.
        place: What messages call the service.
        remedy: What the operator can do when it refuses us.
        pause_s: What the reply asked to wait; 0 = nothing.
    """
    said = f"{place} answered {reply.status} for {describe_url(URL(reply.url))}"
    # Some servers limit the rate with 403; only a Retry-After tells it apart.
    if reply.status == _TOO_MANY or (reply.status == _FORBIDDEN and pause_s):
        wait_s = pause_s or _DEFAULT_RETRY_AFTER_S
        return RateLimitedError(f"{said}; it asks to wait {wait_s:g} s", retry_after_s=wait_s)
    if reply.status >= _SERVER_FAULTS or reply.status in _TRANSIENT:
        return ServiceUnavailableError(said)
    return _translate_refusal(reply, said, remedy)


def _translate_refusal(reply: HttpReply, said: str, remedy: str) -> ZhixingError:
    match reply.status:
        case 401:
            return SettingsError(f"{said}; {remedy}")
        case 403:
            return AccessDeniedError(f"{said}: {reply.excerpt()}; {remedy}")
        case 404 | 410:
            return ResourceGoneError(said)
        case _:
            return PermanentError(f"{said}: {reply.excerpt()}")


def parse_json(reply: HttpReply, *, place: str, remedy: str) -> object:
    """Return the JSON of a happy reply.

    Raises:
        SettingsError: It is a web page.
        ServiceUnavailableError: The JSON is broken off.
    """
    where = describe_url(URL(reply.url))
    if reply.is_web_page or reply.body.lstrip()[:1] == b"<":
        raise SettingsError(
            f"{place} sent a web page for {where}, not data; that is usually its login form or a "
            f"wrong address: {remedy}"
        )
    try:
        parsed: object = json.loads(reply.body)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise ServiceUnavailableError(f"{place} sent broken JSON for {where}: {error}") from error
    return parsed


def describe_url(url: URL) -> str:
    """Return an address for messages, without host and query: the query may hold a secret."""
    return url.path if not url.query_string else f"{url.path}?..."

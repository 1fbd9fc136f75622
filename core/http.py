"""Asking a service over HTTP: time-outs, retries, one shared pause, limits, errors of ours.

One client a service. Credentials go to the service's own origin and nowhere else.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

import aiohttp
import tenacity
from yarl import URL

from core.clock import Clock, SystemClock
from core.errors import (
    PermanentError,
    RateLimitedError,
    RefusedError,
    ServiceUnavailableError,
    SettingsError,
    TransientError,
    UnsupportedContentError,
    ZhixingError,
)
from core.http_guard import GuardedResolver, PrivateAddressError, check_foreign_url, same_origin
from core.http_reply import (
    HttpReply,
    ReadError,
    describe_url,
    parse_json,
    read_retry_after,
    translate_status,
)
from core.pacing import Pace, Timing

Params = Mapping[str, str | int]

_MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_UNHURT = 400
_FIRST_DELAY_S = 0.5
_LONGEST_DELAY_S = 20.0
_PIECE_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """How hard a service is asked.

    Attributes:
        timeout_s: One attempt, from connecting to the last byte.
        max_concurrent: Calls under way at once.
        max_calls_per_s: 0 = no limit of our own.
        attempts: How often a call is made before a fault of the service is believed.
        waits: How often a call may be told to wait before it is given up.
        longest_pause_s: A service that asks for a longer pause is left for the next run.
        max_reply_bytes: Longer replies are refused.
    """

    timeout_s: float = 30.0
    max_concurrent: int = 4
    max_calls_per_s: float = 0.0
    attempts: int = 4
    waits: int = 20
    longest_pause_s: float = 300.0
    max_reply_bytes: int = 50_000_000


class RequestOptions(TypedDict, total=False):
    """Keyword arguments of `HttpClient.request`."""

    params: Params | None
    json: object | None
    headers: Mapping[str, str] | None
    kind: str
    is_repeatable: bool | None
    max_bytes: int
    attempts: int


@dataclass(slots=True, kw_only=True)
class _Call:
    """One request, and what became of its attempts so far."""

    method: str
    url: URL
    json: object | None
    headers: Mapping[str, str]
    max_bytes: int
    attempts: int
    is_repeatable: bool
    faults: int = 0
    waits: int = 0


@dataclass(slots=True, kw_only=True)
class HttpClient:
    """Asks one service.

    Args:
        base_url: What paths are appended to.
        place: What messages call the service, such as `Confluence 'https://wiki.example.com'`.
        credentials: Headers that go to the service's origin only.
        remedy: What the operator can do when the service refuses us, for messages.
        limits: How hard it is asked.
        read_error: The vendor's own meaning of unhappy replies.
    """

    base_url: str
    place: str
    credentials: Mapping[str, str] = field(default_factory=dict)
    remedy: str = "check its address and credentials"
    limits: HttpLimits = HttpLimits()
    read_error: ReadError | None = None
    clock: Clock = field(default_factory=SystemClock)
    timing: Timing = field(default_factory=Timing)
    calls: Counter[str] = field(default_factory=Counter)
    """Attempts made so far by kind, for reports."""
    _pace: Pace = field(init=False)
    _own: aiohttp.ClientSession | None = field(init=False, default=None)
    _foreign: aiohttp.ClientSession | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise SettingsError(f"{self.place}: its address must begin with http:// or https://")
        self.base_url = self.base_url.rstrip("/")
        self._pace = Pace(
            max_concurrent=self.limits.max_concurrent,
            max_calls_per_s=self.limits.max_calls_per_s,
            timing=self.timing,
        )

    def resolve(self, path_or_url: str, params: Params | None = None) -> URL:
        """Return the full address of a path below the base, or of an address as it is."""
        is_full = path_or_url.startswith(("http://", "https://"))
        joined = path_or_url if is_full else f"{self.base_url}/{path_or_url.lstrip('/')}"
        # What a service hands out is encoded already, and signed addresses must not change.
        url = URL(joined, encoded=is_full)
        return url.update_query(dict(params)) if params else url

    async def request(
        self,
        method: str,
        path_or_url: str,
        *,
        params: Params | None = None,
        json: object | None = None,
        headers: Mapping[str, str] | None = None,
        kind: str = "",
        is_repeatable: bool | None = None,
        max_bytes: int = 0,
        attempts: int = 0,
    ) -> HttpReply:
        """Ask, again after faults that may pass, and return a reply with a status below 400.

        Redirects are followed for GET; another origin gets no credentials and must be public.

        Args:
            path_or_url: Below `base_url`, or a full address the service has handed out.
            kind: What `calls` counts it as; the method when empty.
            is_repeatable: May be sent twice; None = when the method is GET or HEAD.
            max_bytes: Largest body; 0 = `limits.max_reply_bytes`.
            attempts: 0 = `limits.attempts`.

        Raises:
            SettingsError: 401: the credentials are wrong.
            AccessDeniedError: 403. ResourceGoneError: 404 or 410.
            PermanentError: Another refusal. UnsupportedContentError: The body is too large.
            RateLimitedError, ServiceUnavailableError: Still so after all attempts.
            RefusedError: The address leads where we do not go.
        """
        if is_repeatable is None:
            is_repeatable = method in {"GET", "HEAD"}
        call = _Call(
            method=method,
            url=self.resolve(path_or_url, params),
            json=json,
            headers=headers or {},
            max_bytes=max_bytes or self.limits.max_reply_bytes,
            attempts=(attempts or self.limits.attempts) if is_repeatable else 1,
            is_repeatable=is_repeatable,
        )
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(TransientError),
            wait=lambda state: self._choose_delay(call, state),
            stop=lambda state: self._is_over(call, state),
            sleep=self.timing.sleep,
            reraise=True,
        )

        async def attempt() -> HttpReply:
            return await self._attempt(call, kind or method)

        return await retrying(attempt)

    async def request_json(
        self, method: str, path_or_url: str, **options: Unpack[RequestOptions]
    ) -> object:
        """Ask for JSON; options and errors as in `request`.

        Raises:
            SettingsError: A web page came instead, as from a login form or a wrong address.
            ServiceUnavailableError: The JSON is broken off.
        """
        options["headers"] = {"Accept": "application/json", **(options.get("headers") or {})}
        reply = await self.request(method, path_or_url, **options)
        return parse_json(reply, place=self.place, remedy=self.remedy)

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        for session in (self._own, self._foreign):
            if session is not None:
                await session.close()
        self._own = self._foreign = None

    async def _attempt(self, call: _Call, kind: str) -> HttpReply:
        async with self._pace.places:
            await self._pace.wait()
            self.calls[kind] += 1
            try:
                reply = await self._send(call)
            except TimeoutError as error:
                raise ServiceUnavailableError(
                    f"{self.place} did not answer within {self.limits.timeout_s:g} s "
                    f"({describe_url(call.url)})"
                ) from error
            except (aiohttp.ClientError, OSError) as error:
                cause = getattr(error, "os_error", error)
                if isinstance(cause, PrivateAddressError):
                    raise RefusedError(f"{cause.strerror} and is not fetched") from error
                raise ServiceUnavailableError(
                    f"{self.place} can't be reached: {error or type(error).__name__}; check its "
                    "address, and that this machine may connect to it"
                ) from error
        pause_s = read_retry_after(reply, self.clock)
        if pause_s:
            self._pace.pause(min(pause_s, self.limits.longest_pause_s))
        if reply.status < _UNHURT:
            return reply
        raise self._translate(reply, pause_s)

    async def _send(self, call: _Call) -> HttpReply:
        url = call.url
        for _ in range(_MAX_REDIRECTS + 1):
            reply = await self._send_once(call, url)
            target = reply.headers.get("location")
            if reply.status not in _REDIRECTS or not target or call.method != "GET":
                return reply
            url = url.join(URL(target, encoded=True))
        raise PermanentError(f"{self.place} redirects in a circle ({describe_url(call.url)})")

    async def _send_once(self, call: _Call, url: URL) -> HttpReply:
        is_own = same_origin(url, URL(self.base_url))
        if not is_own:
            check_foreign_url(url)
        headers = {**call.headers, **(self.credentials if is_own else {})}
        session = self._get_session(is_own=is_own)
        async with session.request(
            call.method, url, json=call.json, headers=headers, allow_redirects=False
        ) as response:
            return HttpReply(
                status=response.status,
                headers={name.lower(): value for name, value in response.headers.items()},
                body=await self._read_body(response, call.max_bytes),
                url=str(url),
            )

    async def _read_body(self, response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
        body = bytearray()
        async for piece in response.content.iter_chunked(_PIECE_BYTES):
            body += piece
            if len(body) > max_bytes:
                raise UnsupportedContentError(
                    f"{describe_url(response.url)!r} is larger than {max_bytes / 1e6:g} MB"
                )
        return bytes(body)

    def _get_session(self, *, is_own: bool) -> aiohttp.ClientSession:
        timeout = aiohttp.ClientTimeout(total=self.limits.timeout_s)
        if is_own:
            if self._own is None:
                self._own = aiohttp.ClientSession(
                    timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()
                )
            return self._own
        if self._foreign is None:
            self._foreign = aiohttp.ClientSession(
                timeout=timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                connector=aiohttp.TCPConnector(resolver=GuardedResolver()),
            )
        return self._foreign

    def _choose_delay(self, call: _Call, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, RateLimitedError):
            return 0.0  # the shared pause holds everybody back
        longest = min(_LONGEST_DELAY_S, _FIRST_DELAY_S * 2**call.faults)
        return self.timing.rng.uniform(longest / 2, longest)

    def _is_over(self, call: _Call, state: tenacity.RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, RateLimitedError):
            call.waits += 1
            is_too_long = error.retry_after_s > self.limits.longest_pause_s
            return is_too_long or not call.is_repeatable or call.waits > self.limits.waits
        call.faults += 1
        return call.faults >= call.attempts

    def _translate(self, reply: HttpReply, pause_s: float) -> ZhixingError:
        error = self.read_error(reply) if self.read_error else None
        if error is None:
            error = translate_status(reply, place=self.place, remedy=self.remedy, pause_s=pause_s)
        if isinstance(error, RateLimitedError):
            self._pace.pause(min(error.retry_after_s, self.limits.longest_pause_s))
        return error

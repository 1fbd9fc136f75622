"""Calls to services that the operator has listed, and to nothing else.

A host is resolved once, what it resolves to is checked, and the connection goes there. No
redirects, no cookies, no proxies of the environment; the reply has a largest size and a time.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from core.errors import (
    PermanentError,
    RefusedError,
    ServiceUnavailableError,
    SettingsError,
    UnsupportedContentError,
)
from core.http_guard import (
    GuardedResolver,
    Lookup,
    PrivateAddressError,
    is_ip_address,
    is_public_address,
    look_up,
)
from core.http_reply import HttpReply, describe_url

_PIECE_BYTES = 65_536
_MOST_CONNECTIONS = 20


class NotSentError(ServiceUnavailableError):
    """The service was not reached at all, so nothing has happened there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostList:
    """Which hosts may be asked, as `host` or `host:port`, and which of them are our own."""

    allowed: frozenset[str]
    private: frozenset[str]

    def check(self, url: URL) -> None:
        """Refuse an address by its form.

        Raises:
            SettingsError: The host is not listed, the address carries credentials, or it names an
                address of our own network that is not listed as such.
        """
        host = (url.host or "").lower()
        if url.scheme not in {"http", "https"} or not host:
            raise SettingsError(f"{str(url)!r} is not an http address")
        if url.user or url.password:
            raise SettingsError(
                "an address can't carry a user or password; use a header with a secret"
            )
        if not self._has(self.allowed | self.private, url):
            raise SettingsError(
                f"the host {url.host_port_subcomponent!r} is not listed; add it to skills.hosts, "
                "or to skills.private_hosts when it lies in your own network"
            )
        if is_ip_address(host) and not is_public_address(host) and not self._has(self.private, url):
            raise SettingsError(
                f"{host!r} lies in a private network; list it under skills.private_hosts"
            )

    def private_names(self) -> frozenset[str]:
        """Return the hosts that may lie in our own network, without ports."""
        return frozenset(filter(None, (URL(f"//{one}").host for one in self.private)))

    def _has(self, hosts: Collection[str], url: URL) -> bool:
        return any(_is_same(URL(f"http://{one}"), url) for one in hosts)


def _is_same(listed: URL, url: URL) -> bool:
    """Tell whether a host is a listed one; without a port, the usual ones are meant."""
    if (listed.host or "").lower() != (url.host or "").lower():
        return False
    return listed.explicit_port == url.port if listed.explicit_port else url.is_default_port()


@dataclass(slots=True, kw_only=True)
class SafeCaller:
    """Calls listed hosts. One instance belongs to one event loop."""

    hosts: HostList
    lookup: Lookup = look_up
    _session: aiohttp.ClientSession | None = field(init=False, default=None)

    async def call(
        self,
        method: str,
        url: URL,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout_s: float,
        most_bytes: int,
    ) -> HttpReply:
        """Send one request, once, and return the reply whatever its status.

        Raises:
            SettingsError: As `HostList.check`.
            RefusedError: The host leads into our own network and is not listed as such.
            NotSentError: The service was not reached.
            PermanentError: It redirects.
            ServiceUnavailableError: The connection broke, or the time was over; it may have done
                what it was asked to.
            UnsupportedContentError: The reply is too large.
        """
        self.hosts.check(url)
        place = f"{url.scheme}://{url.authority}"
        try:
            async with (
                asyncio.timeout(timeout_s),
                self._get_session().request(
                    method, url, headers=headers, data=body, allow_redirects=False
                ) as response,
            ):
                reply = HttpReply(
                    status=response.status,
                    headers={name.lower(): value for name, value in response.headers.items()},
                    body=await _read(response, most_bytes),
                    url=str(url),
                )
        except TimeoutError as error:
            raise ServiceUnavailableError(
                f"{place} did not answer within {timeout_s:g} s ({describe_url(url)})"
            ) from error
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, PrivateAddressError):
                raise RefusedError(f"{error.os_error.strerror} and is not asked") from error
            raise NotSentError(f"{place} can't be reached: {error.os_error}") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ServiceUnavailableError(
                f"the connection to {place} broke: {error or type(error).__name__}"
            ) from error
        if reply.status in {301, 302, 303, 307, 308}:
            raise PermanentError(
                f"{place} answered {reply.status} and leads elsewhere, which is not followed; "
                "write the final address into the skill"
            )
        return reply

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _get_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            resolver = GuardedResolver(private_hosts=self.hosts.private_names(), lookup=self.lookup)
            self._session = aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(),
                connector=aiohttp.TCPConnector(
                    resolver=resolver, limit=_MOST_CONNECTIONS, use_dns_cache=False
                ),
                timeout=aiohttp.ClientTimeout(total=None),
            )
            # Or else PUT and DELETE are sent again, unasked, when a connection breaks.
            self._session._retry_connection = False  # noqa: SLF001 - there is no public way
        return self._session


async def _read(response: aiohttp.ClientResponse, most_bytes: int) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_chunked(_PIECE_BYTES):
        body += piece
        if len(body) > most_bytes:
            raise UnsupportedContentError(
                f"{response.url.authority!r} sent more than {most_bytes // 1000} kB"
            )
    return bytes(body)

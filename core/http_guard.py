"""Which addresses may be asked: nothing on our own network that somebody else has named."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from errno import EACCES

from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from core.errors import RefusedError

_PORTS = {"http": 80, "https": 443}


def same_origin(one: URL, other: URL) -> bool:
    """Tell whether two addresses have scheme, host and port in common."""
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def is_public_address(address: str) -> bool:
    """Tell whether an IP address lies in the open internet, seen through any mapping to IPv4."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo or (None, None))[1]
        if inner is not None:
            return inner.is_global and not inner.is_multicast
        if parsed in ipaddress.ip_network("64:ff9b::/96"):
            return is_public_address(str(ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)))
    return parsed.is_global and not parsed.is_multicast


def check_foreign_url(url: URL) -> None:
    """Refuse an address by its form alone; names are checked when they are resolved.

    Raises:
        RefusedError: Not http(s), another port than the usual one, credentials in it, or an IP
            address that is not public.
    """
    reason = ""
    if url.scheme not in _PORTS or not url.host:
        reason = "is not an http address"
    elif url.port != _PORTS[url.scheme]:
        reason = f"names port {url.port}"
    elif url.user or url.password:
        reason = "carries credentials"
    elif is_ip_address(url.host) and not is_public_address(url.host):
        reason = "points into a private network"
    if reason:
        raise RefusedError(f"{str(url.with_query(None))!r} {reason} and is not fetched")


class PrivateAddressError(OSError):
    """A name leads into our own network."""


Lookup = Callable[[str, int, socket.AddressFamily], Awaitable[Sequence[tuple[int, int, str]]]]
"""Finds the addresses of a name, port and family: family, protocol and address of each."""


async def look_up(
    host: str, port: int, family: socket.AddressFamily
) -> Sequence[tuple[int, int, str]]:
    """Ask the system.

    Raises:
        OSError: The name is unknown.
    """
    found = await asyncio.get_running_loop().getaddrinfo(
        host, port, type=socket.SOCK_STREAM, family=family, flags=socket.AI_ADDRCONFIG
    )
    return [(entry[0], entry[2], str(entry[4][0])) for entry in found]


class GuardedResolver(AbstractResolver):
    """Resolves names to public addresses only; the connection goes to what was checked.

    Args:
        private_hosts: Names that may lead into our own network, because the operator says so.
        lookup: Asks for the addresses.
    """

    def __init__(self, *, private_hosts: Collection[str] = (), lookup: Lookup = look_up) -> None:
        self._private_hosts = frozenset(one.lower() for one in private_hosts)
        self._lookup = lookup

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host.

        Raises:
            PrivateAddressError: One of its addresses is not public.
            OSError: The name is unknown.
        """
        found = await self._lookup(host, port, family)
        if host.lower() not in self._private_hosts:
            _refuse_private(host, [address for _, _, address in found])
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=kind,
                proto=protocol,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for kind, protocol, address in found
        ]

    async def close(self) -> None:
        """Do nothing: nothing is held."""


def _refuse_private(host: str, addresses: Sequence[str]) -> None:
    private = [one for one in addresses if not is_public_address(one)]
    if private:
        raise PrivateAddressError(
            EACCES, f"{host!r} resolves to {private[0]}, which is not a public address"
        )


def is_ip_address(host: str) -> bool:
    """Tell whether a host is an address rather than a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True

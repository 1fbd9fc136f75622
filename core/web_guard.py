"""What keeps other sites, open in the same browser, away from pages of ours. Pure."""

from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from aiohttp import web

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_FROM_HERE = frozenset({"same-origin", "none"})


def is_asked_as(request: web.Request, names: Collection[str]) -> bool:
    """Tell whether a page is asked for by one of the names; a rebound one is none of them."""
    try:
        host = urlsplit(f"//{request.host}").hostname or ""
    except ValueError:
        return False
    return host in names


def is_from_here(request: web.Request, *, scheme: str = "") -> bool:
    """Tell whether our own pages, or the person alone, ask for it; a link to a page is allowed.

    Args:
        request: By its `Origin` and `Sec-Fetch-*` headers, which no page can forge.
        scheme: Which browsers use, where a proxy is in front; empty = the request's.
    """
    origin = request.headers.get("Origin")
    if origin is not None:
        return origin == f"{scheme or request.scheme}://{request.host}"
    site = request.headers.get("Sec-Fetch-Site", "none")
    is_link = request.method == "GET" and request.headers.get("Sec-Fetch-Mode") == "navigate"
    return site in _FROM_HERE or (is_link and request.headers.get("Sec-Fetch-Dest") == "document")

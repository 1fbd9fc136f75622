"""Ids of Notion objects in their one normal form, and addresses that name them. Pure."""

import re
from urllib.parse import urlsplit

_HEX = re.compile(r"[0-9a-f]{32}")
_LAST_HEX = re.compile(r"(?:^|[^0-9a-f])([0-9a-f]{32})$")
_HOSTS = ("notion.so", "notion.site", "notion.com")


def normalise_id(text: str) -> str:
    """Return an id in lower case with dashes; empty when the text is no id.

    Notion takes and gives ids with and without dashes; addresses have none.
    """
    plain = text.strip().casefold().replace("-", "")
    if not _HEX.fullmatch(plain):
        return ""
    return "-".join((plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:]))


def find_id_in_url(url: str) -> str:
    """Return the id of the page or database an address leads to; empty when it leads elsewhere.

    Links between pages are written `/<id>` or `https://www.notion.so/Title-<id>#<block>`.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    is_ours = not host and url.startswith("/")
    if not is_ours and not any(host == one or host.endswith(f".{one}") for one in _HOSTS):
        return ""
    last = parts.path.rstrip("/").rpartition("/")[2].casefold()
    if whole := normalise_id(last):
        return whole
    match = _LAST_HEX.search(last)
    return normalise_id(match[1]) if match else ""

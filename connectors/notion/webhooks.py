"""Notion's webhooks: a hint that something has changed, never the news itself.

They name ids only, come late, twice or in any order, and may not come at all. A signed one marks
its object for the next run, which asks Notion as ever.

Source: https://developers.notion.com/reference/webhooks
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from aiohttp import web

from connectors.notion.ids import normalise_id

SIGNATURE_HEADER = "X-Notion-Signature"
_PREFIX = "sha256="

_log = structlog.get_logger()


class NotionWebhooks:
    """Handles Notion's calls for one source.

    Args:
        verification_token: What Notion signs with; empty until the subscription is verified.
        mark: Takes the id of what has changed, such as `NotionSource.mark`.
        on_verification: Takes the token that Notion sends when the subscription is made. The
            operator pastes it into Notion and puts it into the settings; it is a secret.
    """

    def __init__(
        self,
        verification_token: str,
        *,
        mark: Callable[[str], None],
        on_verification: Callable[[str], None],
    ) -> None:
        self._token = verification_token
        self._mark = mark
        self._on_verification = on_verification

    async def handle(self, request: web.Request) -> web.Response:
        """Answer a call: 200 when it was taken, 401 without a valid signature, 400 else."""
        # aiohttp refuses what is larger than the application's `client_max_size`.
        body = await request.read()
        payload = _parse(body)
        if payload is None:
            return web.Response(status=400)
        offered = payload.get("verification_token")
        if offered is not None:
            return self._take_token(str(offered))
        if not self._token:
            _log.warning("notion_webhook_without_token")
            return web.Response(status=401)
        if not is_signed(self._token, body, request.headers.get(SIGNATURE_HEADER, "")):
            _log.warning("notion_webhook_signature_wrong")
            return web.Response(status=401)
        for object_id in find_ids(payload):
            self._mark(object_id)
        return web.Response(status=200)

    def _take_token(self, offered: str) -> web.Response:
        """Take a new subscription's token; once one is set, nobody can replace it from afar."""
        if self._token:
            is_same = hmac.compare_digest(self._token, offered)
            return web.Response(status=200 if is_same else 401)
        self._on_verification(offered)
        return web.Response(status=200)


def is_signed(token: str, body: bytes, signature: str) -> bool:
    """Tell whether a body was signed with the token."""
    expected = _PREFIX + hmac.new(token.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


def find_ids(event: Mapping[str, Any]) -> list[str]:
    """Return the pages and databases an event concerns: its object, and for comments the page."""
    found: dict[str, None] = {}
    entity = event.get("entity")
    data = event.get("data")
    places = [entity] if isinstance(entity, Mapping) else []
    if isinstance(data, Mapping):
        places += [one for one in (data.get("parent"),) if isinstance(one, Mapping)]
        if data.get("page_id"):
            places.append({"id": data["page_id"]})
    for place in places:
        object_id = normalise_id(str(place.get("id", "")))
        is_ours = place.get("type", "page") in {"page", "database", "data_source"}
        if object_id and is_ours:
            found.setdefault(object_id)
    return list(found)


def _parse(body: bytes) -> dict[str, Any] | None:
    try:
        payload = json.loads(body)
    except ValueError:
        return None
    return payload if isinstance(payload, dict) else None

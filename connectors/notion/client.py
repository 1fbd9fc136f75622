"""Calls of Notion's API in both versions, checked and with every listing whole.

In 2022-06-28 a database holds its columns and rows itself; since 2025-09-03 it has one or more
data sources that do. Here the older form looks like the newer one: its one data source has the
database's own id.
"""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from pydantic import ValidationError

from connectors.notion.body import RawBlock
from connectors.notion.payloads import (
    Block,
    Comment,
    ErrorReply,
    Listing,
    NotionObject,
    Reference,
    User,
)
from connectors.pagination import Batch, read_batches
from connectors.rest import RestClient
from core.clock import Clock
from core.errors import PermanentError, ResourceGoneError, SettingsError, ZhixingError
from core.http import HttpClient, HttpLimits
from core.http_reply import HttpReply
from core.pacing import Timing
from core.source_settings import NotionSettings

LEGACY_VERSION = "2022-06-28"
PAGE_SIZE = 100
ROW_LIMIT = 10_000
"""Rows a single query gives at most.

Source: https://developers.notion.com/reference/query-a-data-source
"""
_SMALLEST_PAGE = 10
_BAD_REQUEST = 400


class NotionApi:
    """Asks Notion; errors are those of `HttpClient.request`."""

    def __init__(
        self,
        name: str,
        settings: NotionSettings,
        *,
        clock: Clock,
        timing: Timing | None = None,
    ) -> None:
        token = settings.token.get_secret_value()
        if not token:
            raise SettingsError(
                f"source {name!r} has no token; set NOTION_TOKEN to the secret of your Notion "
                "integration (Notion: Settings, Connections, Develop or manage integrations)"
            )
        self.place = f"Notion ({name!r})"
        self.is_legacy = settings.api_version == LEGACY_VERSION
        self._http = HttpClient(
            base_url=f"{settings.base_url.rstrip('/')}/v1",
            place=self.place,
            credentials={
                "Authorization": f"Bearer {token}",
                "Notion-Version": settings.api_version,
            },
            remedy="set NOTION_TOKEN to the integration's secret, and give the integration the "
            "capability to read content",
            limits=HttpLimits(
                timeout_s=settings.timeout_s, max_calls_per_s=settings.max_calls_per_s
            ),
            read_error=self._read_error,
            clock=clock,
            timing=timing or Timing(),
        )
        self._rest = RestClient(http=self._http)

    @property
    def calls(self) -> Mapping[str, int]:
        """Calls made so far by kind."""
        return self._http.calls

    async def search(self) -> AsyncIterator[Batch[NotionObject]]:
        """Yield everything shared with us that the search index has, latest edit first.

        It is late and it lacks things: a hint, never a proof of absence.
        """
        body = {"sort": {"timestamp": "last_edited_time", "direction": "descending"}}
        async for batch in self._read_pages("search", "search", body):
            yield Batch(
                items=tuple(self._rest.parse(one, NotionObject, "search") for one in batch.items),
                cursor=batch.cursor,
            )

    async def fetch_page(self, page_id: str) -> NotionObject:
        """Return a page with its properties."""
        return await self._rest.get(f"pages/{page_id}", NotionObject, kind="page")

    async def fetch_database(self, database_id: str) -> NotionObject:
        """Return a database with the names of its data sources."""
        found = await self._rest.get(f"databases/{database_id}", NotionObject, kind="database")
        if self.is_legacy:
            own = Reference(id=found.id, name=found.plain_title)
            found = found.model_copy(update={"data_sources": (own,)})
        return found

    async def fetch_data_source(self, source_id: str) -> NotionObject:
        """Return a data source with its columns."""
        if self.is_legacy:
            return await self.fetch_database(source_id)
        return await self._rest.get(f"data_sources/{source_id}", NotionObject, kind="data_source")

    async def fetch_block(self, block_id: str) -> RawBlock:
        """Return a block without what is below it."""
        return await self._get_raw(f"blocks/{block_id}", "block")

    async def fetch_children(self, block_id: str) -> list[RawBlock]:
        """Return the blocks directly below a page or block, in order."""
        found: list[RawBlock] = []
        async for batch in self._read_pages(f"blocks/{block_id}/children", "children"):
            found += batch.items
        for raw in found:
            self._rest.parse(raw, Block, "blocks/children")
        return found

    async def query_rows(self, source_id: str) -> AsyncIterator[NotionObject]:
        """Yield all rows of a data source, oldest first, each once.

        Raises:
            PermanentError: More rows than a query may give were made in the same minute.
        """
        seen: set[str] = set()
        since = ""
        while True:
            count, last, is_cut = 0, "", False
            async for listing in self._query(source_id, since):
                is_cut = listing.is_cut
                for raw in listing.results:
                    row = self._rest.parse(raw, NotionObject, "query")
                    count, last = count + 1, row.created_time
                    if row.id not in seen:
                        seen.add(row.id)
                        yield row
            if not is_cut and count < ROW_LIMIT:
                return
            if last == since or not last:
                raise PermanentError(
                    f"{self.place}: data source {source_id!r} has more than {ROW_LIMIT} rows made "
                    "in the same minute, which Notion does not list; split it"
                )
            since = last

    async def fetch_property(self, page_id: str, property_id: str) -> list[dict[str, Any]]:
        """Return all items of a property that a page shows in part."""
        found: list[dict[str, Any]] = []
        path = f"pages/{page_id}/properties/{property_id}"
        async for batch in self._read_pages(path, "property"):
            found += batch.items
        return found

    async def fetch_comments(self, page_id: str) -> list[Comment]:
        """Return the unresolved comments on a page."""
        found: list[Comment] = []
        async for batch in self._read_pages("comments", "comments", params={"block_id": page_id}):
            found += [self._rest.parse(one, Comment, "comments") for one in batch.items]
        return found

    async def fetch_users(self) -> list[User]:
        """Return the people and bots of the workspace."""
        found: list[User] = []
        async for batch in self._read_pages("users", "users"):
            found += [self._rest.parse(one, User, "users") for one in batch.items]
        return found

    async def download(self, url: str, *, max_bytes: int) -> bytes:
        """Return a file that Notion hosts."""
        reply = await self._rest.download(url, max_bytes=max_bytes, kind="file")
        return reply.body

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._rest.close()

    async def _get_raw(self, path: str, kind: str) -> dict[str, Any]:
        raw = await self._http.request_json("GET", path, kind=kind)
        self._rest.parse(raw, Block, path)
        return raw if isinstance(raw, dict) else {}

    async def _query(self, source_id: str, since: str) -> AsyncIterator[Listing]:
        body: dict[str, Any] = {"sorts": [{"timestamp": "created_time", "direction": "ascending"}]}
        if since:
            body["filter"] = {"timestamp": "created_time", "created_time": {"on_or_after": since}}
        kind = "databases" if self.is_legacy else "data_sources"
        listings: list[Listing] = []
        path = f"{kind}/{source_id}/query"
        async for _ in self._read_pages(path, "query", body, listings=listings):
            yield listings[-1]

    async def _read_pages(
        self,
        path: str,
        kind: str,
        body: Mapping[str, Any] | None = None,
        *,
        params: Mapping[str, str] | None = None,
        listings: list[Listing] | None = None,
    ) -> AsyncIterator[Batch[dict[str, Any]]]:
        async def fetch(cursor: str, size: int) -> Batch[dict[str, Any]]:
            place: dict[str, str | int] = {"page_size": size}
            if cursor:
                place["start_cursor"] = cursor
            if body is None:
                asked = {**(params or {}), **place}
                listing = await self._rest.get(path, Listing, params=asked, kind=kind)
            else:
                listing = await self._rest.post(
                    path, Listing, json={**body, **place}, kind=kind, is_repeatable=True
                )
            if listings is not None:
                listings[:] = [listing]
            following = listing.next_cursor if listing.has_more else ""
            return Batch(items=listing.results, cursor=following)

        pages = read_batches(
            fetch, place=f"{self.place} {path!r}", size=PAGE_SIZE, smallest=_SMALLEST_PAGE
        )
        async for batch in pages:
            yield batch

    def _read_error(self, reply: HttpReply) -> ZhixingError | None:
        """Explain refusals whose status alone says too little."""
        if reply.status != _BAD_REQUEST:
            return None
        try:
            error = ErrorReply.model_validate(json.loads(reply.body))
        except (ValueError, ValidationError):
            return None
        if "multiple data sources" in error.message:
            return PermanentError(
                f"{self.place}: a database has several data sources, which API version "
                f"{LEGACY_VERSION} can't read; set api_version to 2025-09-03"
            )
        if error.code == "validation_error" and "is a database" in error.message:
            return ResourceGoneError(f"{self.place}: {error.message}")
        return PermanentError(f"{self.place} refused a call: {error.code}: {error.message[:200]}")

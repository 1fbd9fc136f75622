"""What both flavours of a site are asked alike."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from connectors.confluence.model import Entry, Readers
from connectors.confluence.v1 import V1
from connectors.pagination import Batch
from connectors.rest import RestClient


@dataclass(slots=True, kw_only=True)
class SiteApi:
    """The common part of `ConfluenceApi`."""

    rest: RestClient
    _v1: V1 = field(init=False)

    def __post_init__(self) -> None:
        self._v1 = V1(self.rest)

    @property
    def site(self) -> str:
        """See `ConfluenceApi`."""
        return self.rest.http.base_url

    @property
    def calls(self) -> Mapping[str, int]:
        """See `ConfluenceApi`."""
        return self.rest.http.calls

    def search(self, query: str) -> AsyncIterator[Batch[Entry]]:
        """See `ConfluenceApi`."""
        return self._v1.search(query)

    async def fetch_restriction(self, content_id: str) -> Readers:
        """See `ConfluenceApi`."""
        return await self._v1.fetch_restriction(content_id)

    async def download(self, path: str, *, max_bytes: int) -> bytes:
        """See `ConfluenceApi`."""
        reply = await self.rest.download(path, max_bytes=max_bytes, kind="download")
        return reply.body

    async def close(self) -> None:
        """See `ConfluenceApi`."""
        await self.rest.close()

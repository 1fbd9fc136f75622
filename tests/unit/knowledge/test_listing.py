"""Reading ahead of a source's listing."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from core.errors import ServiceUnavailableError
from knowledge.documents import DocumentId
from knowledge.listing import Listing
from knowledge.source import Change, Unchanged


async def collect(listing: Listing, seen: list[Change]) -> None:
    async for change in listing.changes():
        seen.append(change)  # noqa: PERF401 - what came before the error is wanted too


@pytest.mark.parametrize("error", [ServiceUnavailableError("down"), ValueError("a bug")])
async def test_any_error_of_a_listing_is_raised_after_what_came_before(error: Exception) -> None:
    async def discover() -> AsyncIterator[Change]:
        yield Unchanged(document_id=DocumentId("wiki:1"), scope="wiki")
        raise error

    listing = Listing(discover())
    seen: list[Change] = []
    # Not a measure of speed: without the error it would wait for ever.
    with pytest.raises(type(error)):
        async with asyncio.timeout(10):
            await collect(listing, seen)
    assert len(seen) == 1
    await listing.close()

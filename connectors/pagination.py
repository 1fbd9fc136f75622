"""Reading a listing page by page, whatever the vendor calls its cursor."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from core.errors import RateLimitedError, ServiceUnavailableError

T = TypeVar("T")

_PAGES_BEFORE_GROWING = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(Generic[T]):
    """One page of a listing; `cursor` is where the next one begins, empty at the end."""

    items: tuple[T, ...]
    cursor: str = ""


FetchBatch = Callable[[str, int], Awaitable[Batch[T]]]
"""Fetches the page at a cursor (empty = the first) with at most that many items."""


async def read_batches(
    fetch: FetchBatch[T], *, place: str, size: int, smallest: int = 1, cursor: str = ""
) -> AsyncIterator[Batch[T]]:
    """Yield the pages of a listing in order, from a cursor on.

    A page the service can't deliver is asked for again at half the size; after some pages the
    size grows back. The listing ends where there is no cursor, never by the length of a page:
    services lower page sizes on their own.

    Args:
        fetch: Fetches one page.
        place: What messages call the listing.
        size: Items asked for at first.
        smallest: Where halving ends.
        cursor: Where to begin; empty = at the start.

    Raises:
        ServiceUnavailableError: A page can't be had at the smallest size, or a cursor came twice,
            which would go on for ever.
    """
    seen = {cursor}
    asked, good = size, 0
    while True:
        try:
            batch = await fetch(cursor, asked)
        except RateLimitedError:
            raise
        except ServiceUnavailableError:
            if asked <= smallest:
                raise
            asked, good = max(smallest, asked // 2), 0
            continue
        yield batch
        if not batch.cursor:
            return
        if batch.cursor in seen:
            raise ServiceUnavailableError(
                f"{place} returned the same cursor twice; its listing would never end"
            )
        seen.add(batch.cursor)
        cursor = batch.cursor
        good += 1
        if asked < size and good >= _PAGES_BEFORE_GROWING:
            asked, good = min(size, asked * 2), 0


async def read_items(
    fetch: FetchBatch[T], *, place: str, size: int, smallest: int = 1
) -> AsyncIterator[T]:
    """Yield the items of a listing; raises as `read_batches`."""
    async for batch in read_batches(fetch, place=place, size=size, smallest=smallest):
        for item in batch.items:
            yield item

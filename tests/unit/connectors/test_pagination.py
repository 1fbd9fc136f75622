import pytest

from connectors.pagination import Batch, read_batches, read_items
from core.errors import RateLimitedError, ServiceUnavailableError


class Listing:
    """Numbers in pages; pages larger than it can deliver fail."""

    def __init__(self, count: int, *, largest: int = 100) -> None:
        self.count = count
        self.largest = largest
        self.asked: list[tuple[str, int]] = []

    async def fetch(self, cursor: str, size: int) -> Batch[int]:
        self.asked.append((cursor, size))
        if size > self.largest:
            raise ServiceUnavailableError("504")
        start = int(cursor or 0)
        end = min(self.count, start + size)
        return Batch(items=tuple(range(start, end)), cursor=str(end) if end < self.count else "")


async def test_items_come_in_order_over_all_pages() -> None:
    listing = Listing(25)
    assert [n async for n in read_items(listing.fetch, place="x", size=10)] == list(range(25))
    assert [cursor for cursor, _ in listing.asked] == ["", "10", "20"]


async def test_a_page_that_fails_is_asked_for_in_smaller_pieces_and_the_size_grows_back() -> None:
    listing = Listing(40, largest=4)
    assert [n async for n in read_items(listing.fetch, place="x", size=16)] == list(range(40))
    sizes = [size for _, size in listing.asked]
    assert sizes[:4] == [16, 8, 4, 4]
    assert 8 in sizes[4:]


async def test_a_listing_that_fails_at_the_smallest_size_ends_in_its_error() -> None:
    listing = Listing(40, largest=2)
    with pytest.raises(ServiceUnavailableError, match="504"):
        [n async for n in read_items(listing.fetch, place="x", size=20, smallest=5)]


async def test_too_many_calls_do_not_make_pages_smaller() -> None:
    async def fetch(_cursor: str, _size: int) -> Batch[int]:
        raise RateLimitedError("429", retry_after_s=1)

    with pytest.raises(RateLimitedError):
        [n async for n in read_items(fetch, place="x", size=20)]


async def test_a_repeated_cursor_ends_the_listing() -> None:
    async def fetch(cursor: str, _size: int) -> Batch[int]:
        return Batch(items=(1,), cursor="b" if cursor == "a" else "a")

    with pytest.raises(ServiceUnavailableError, match="same cursor twice"):
        [n async for n in read_items(fetch, place="listing", size=20)]


async def test_a_listing_goes_on_from_a_cursor() -> None:
    listing = Listing(25)
    batches = [b async for b in read_batches(listing.fetch, place="x", size=10, cursor="20")]
    assert [batch.items for batch in batches] == [(20, 21, 22, 23, 24)]


async def test_an_empty_page_with_a_cursor_is_not_the_end() -> None:
    async def fetch(cursor: str, _size: int) -> Batch[int]:
        return Batch(items=(), cursor="next") if not cursor else Batch(items=(7,))

    assert [n async for n in read_items(fetch, place="x", size=20)] == [7]

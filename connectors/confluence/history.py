"""Earlier versions of a page: read back, and missed when the site has removed them.

Removing an earlier version at the site counts those after it down by one, and on some sites leaves
a gap. The first is seen in any listing, by the moment of the current version; the second only in
the page's list of versions, which is looked at for some pages of each full listing in turn.
"""

import asyncio
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from connectors.confluence.includes import convert_version
from connectors.confluence.model import PageEntry, PageText
from connectors.confluence.site import Site
from connectors.confluence.token import PageToken, is_same_moment, to_ms
from core.errors import PermanentError, TransientError, UnsupportedContentError
from knowledge.documents import BodyPart, Content, Version

# No page is looked at more often, however few there are.
LEAST_DAYS_BETWEEN = 7
_CHECKED_AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What is known of a page's earlier versions.

    Attributes:
        contents: Those that the ledger does not have yet, oldest first; all of them when it is
            rewritten.
        past: When all of them came into force, for the page's state.
        is_rewritten: What the ledger has is no longer the site's.
    """

    contents: tuple[Content, ...] = ()
    past: tuple[int, ...] = ()
    is_rewritten: bool = False
    notes: tuple[str, ...] = ()


async def read_history(site: Site, entry: PageEntry, text: PageText) -> History:
    """Return the earlier versions; all of them when some that the ledger has were removed."""
    held = site.held.get(site.id_of(entry.page_id))
    current = text.revision
    is_older = held is not None and current.number <= held.number
    is_rewritten = entry.page_id in site.shortened or (
        held is not None and is_older and not held.is_same_version(current)
    )
    try:
        if held is None or is_rewritten:
            return await _read_whole(site, entry, text, is_rewritten=is_rewritten)
        if is_older:
            return History(past=held.past)
        return await _read_new(site, entry, text, held)
    except PermanentError as error:
        past = held.past if held is not None and not is_rewritten else ()
        note = f"its earlier versions can't be read: {error}"
        return History(past=past, is_rewritten=is_rewritten, notes=(note,))


async def find_shortened(site: Site, entries: Sequence[PageEntry], *, now: datetime) -> set[str]:
    """Return the ids of pages that have lost versions, among those whose turn it is.

    Every page with earlier versions has its turn, weekly at most, and no more than about
    `versions_checked` of a space a day.
    """
    past = {
        entry.page_id: token.past
        for entry in entries
        if (token := site.held.get(site.id_of(entry.page_id)))
        and token.past
        and token.is_same_version(entry.revision)
    }
    turn = choose_pages(past.keys(), site.settings.versions_checked, now)
    chosen = [entry for entry in entries if entry.page_id in turn]
    limit = asyncio.Semaphore(_CHECKED_AT_ONCE)

    async def has_lost(entry: PageEntry) -> bool:
        ours = past[entry.page_id]
        since = datetime.fromtimestamp(ours[0] / 1000, UTC)
        async with limit:
            try:
                moments = await site.api.fetch_moments(entry.page_id, entry.kind, since)
            except (PermanentError, TransientError):
                # It has its turn again; a listing does not fail because of it.
                return False
        theirs = [to_ms(one) for one in moments]
        return not all(any(is_same_moment(one, other) for other in theirs) for one in ours)

    found = await asyncio.gather(*map(has_lost, chosen))
    return {entry.page_id for entry, is_lost in zip(chosen, found, strict=True) if is_lost}


def build_version(text: PageText, author: str, *, at: datetime) -> Version:
    """Return the version that a text is of."""
    revision = text.revision
    return Version(
        number=revision.number,
        at=at,
        author=author,
        message=revision.message,
        label=f"v{revision.number}",
    )


async def _read_whole(
    site: Site, entry: PageEntry, text: PageText, *, is_rewritten: bool
) -> History:
    current = text.revision.number
    wanted = range(max(current - site.settings.versions + 1, 1), current)
    found = await _fetch(site, entry, wanted)
    return History(
        contents=await _convert(site, text, found),
        past=tuple(to_ms(one.revision.at) for one in found),
        is_rewritten=is_rewritten,
    )


async def _read_new(site: Site, entry: PageEntry, text: PageText, held: PageToken) -> History:
    """Read what came after the held version; where several did, see whether that is still there."""
    current, kept = text.revision.number, site.settings.versions - 1
    first = max(held.number + 1, current - kept)
    # The page itself being the next version, nothing has to be asked.
    asked = range(max(held.number, current - kept), current) if first < current else range(0)
    found = await _fetch(site, entry, asked)
    if held.number in asked:
        same = [one for one in found if held.is_same_version(one.revision)]
        if not same:
            return await _read_whole(site, entry, text, is_rewritten=True)
        found = [one for one in found if one not in same]
    past = (*held.past, held.at, *(to_ms(one.revision.at) for one in found))
    return History(contents=await _convert(site, text, found), past=past[-kept:] if kept else ())


async def _fetch(site: Site, entry: PageEntry, wanted: Collection[int]) -> list[PageText]:
    return [*await site.api.fetch_versions(entry.page_id, entry.kind, wanted)] if wanted else []


async def _convert(site: Site, text: PageText, versions: Sequence[PageText]) -> tuple[Content, ...]:
    contents: list[Content] = []
    for version in versions:
        try:
            parts = await convert_version(site, version)
        except UnsupportedContentError:
            continue
        author = await site.get_author(version.revision.author, version.revision.author_name)
        contents.append(
            Content(
                title=version.title or text.title,
                parts=parts or (BodyPart(markdown=""),),
                version=build_version(version, author, at=version.revision.at),
            )
        )
    return tuple(contents)


def choose_pages(page_ids: Collection[str], count: int, now: datetime) -> set[str]:
    """Choose the pages whose turn it is on a day, about `count` of them at most."""
    if not count or not page_ids:
        return set()
    turns = max(-(-len(page_ids) // count), LEAST_DAYS_BETWEEN)
    today = now.date().toordinal() % turns
    return {one for one in page_ids if zlib.crc32(one.encode()) % turns == today}

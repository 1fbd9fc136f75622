"""Pages shown in pages: each becomes a part of its own, under the rights of its own page."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from connectors.confluence.model import PageEntry, PageText
from connectors.confluence.site import Site, make_kind
from connectors.confluence.storage import convert_excerpt, convert_storage
from connectors.confluence.storage_parse import find_users
from connectors.confluence.storage_text import (
    IncludedPage,
    PageLink,
    PageRef,
    StorageContext,
    StorageText,
)
from connectors.confluence.token import IncludeState
from core.errors import PermanentError, UnsupportedContentError
from knowledge.access import AccessRule
from knowledge.documents import BodyPart, DocumentId

_MAX_DEPTH = 5
_MAX_INCLUDES = 100


@dataclass(slots=True, kw_only=True)
class Expansion:
    """The parts of a page, with everything its text now depends on.

    Attributes:
        latest_at: When the youngest of the included pages changed; None = nothing included.
    """

    parts: list[BodyPart] = field(default_factory=list)
    links: list[PageLink] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    states: list[IncludeState] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    latest_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Origin:
    """Where the text being written stands; a page's own text has no id and no rule."""

    chain: tuple[str, ...]
    space: str
    document_id: DocumentId | None = None
    rule: AccessRule | None = None


async def expand_page(site: Site, entry: PageEntry, text: PageText) -> Expansion:
    """Convert a page and put in what it includes.

    Raises:
        UnsupportedContentError: Its body is nested too deeply.
        TransientError: An included page could not be fetched for now.
    """
    expansion = Expansion()
    stored = convert_storage(text.body, await build_context(site, text))
    expansion.links += stored.links
    expansion.files += stored.files
    await _expand(site, stored, _Origin(chain=(entry.page_id,), space=entry.space), expansion)
    return expansion


async def convert_version(site: Site, text: PageText) -> tuple[BodyPart, ...]:
    """Convert an earlier version: its own text alone, for what it included then is not known."""
    stored = convert_storage(text.body, await build_context(site, text))
    own = (piece for piece in stored.pieces if isinstance(piece, str))
    return tuple(BodyPart(markdown=markdown) for markdown in own)


async def build_context(site: Site, text: PageText) -> StorageContext:
    """Gather what a body names: people and the site."""
    names = await site.get_names(find_users(text.body))
    return StorageContext(title=text.title, site=site.api.site, names=names)


async def find_included(site: Site, ref: PageRef, *, space: str) -> PageEntry | None:
    """Return the page that is included, with everything its rule needs; None = no such page.

    Raises:
        TransientError: The site did not answer.
    """
    entry = site.find_page(ref, space=space)
    try:
        if entry is None and ref.page_id:
            entry, _ = await site.api.fetch_page(ref.page_id, make_kind(ref))
        elif entry is None:
            entry = await site.api.find_page(ref.space or space, ref.title, make_kind(ref))
    except PermanentError:
        return None
    if entry is None:
        return None
    site.take_pages([entry])
    await site.complete_rights([entry])
    return entry


def build_state(site: Site, entry: PageEntry | None, name: str) -> IncludeState:
    """Return what is compared of an included page."""
    if entry is None:
        return IncludeState(page_id="", name=name)
    return IncludeState(
        page_id=entry.page_id,
        name=name,
        number=entry.revision.number,
        access=site.rights.build_rule(entry).access_id[:8],
    )


async def _expand(site: Site, stored: StorageText, origin: _Origin, expansion: Expansion) -> None:
    expansion.notes += stored.notes
    for piece in stored.pieces:
        if isinstance(piece, str):
            expansion.parts.append(
                BodyPart(
                    markdown=piece, included_from=origin.document_id, included_rule=origin.rule
                )
            )
        else:
            await _include(site, piece, origin, expansion)


async def _include(site: Site, piece: IncludedPage, origin: _Origin, expansion: Expansion) -> None:
    space = piece.page.space or origin.space
    name = piece.page.page_id or f"{space}/{piece.page.title}"
    if len(origin.chain) > _MAX_DEPTH or len(expansion.states) >= _MAX_INCLUDES:
        expansion.notes.append("included pages are left out: too many, or too deep in one another")
        return
    entry = await find_included(site, piece.page, space=origin.space)
    expansion.states.append(build_state(site, entry, name))
    if entry is None or entry.page_id in origin.chain:
        why = "includes itself" if entry else "was not found, or the account can't read it"
        expansion.notes.append(f"included page {name!r} {why}")
        return
    text = await _fetch(site, entry)
    stored = await _convert(site, piece, text) if text else None
    if text is None or stored is None:
        expansion.notes.append(f"included page {name!r} has nothing to show here")
        return
    rule = site.rights.build_rule(entry)
    inner = _Origin(
        chain=(*origin.chain, entry.page_id),
        space=entry.space,
        document_id=site.id_of(entry.page_id),
        rule=rule & origin.rule if origin.rule else rule,
    )
    times: Sequence[datetime | None] = (expansion.latest_at, text.revision.at)
    expansion.latest_at = max(at for at in times if at is not None)
    await _expand(site, stored, inner, expansion)


async def _convert(site: Site, piece: IncludedPage, text: PageText) -> StorageText | None:
    context = await build_context(site, text)
    try:
        if piece.excerpt is None:
            return convert_storage(text.body, context)
        return convert_excerpt(text.body, piece.excerpt, context)
    except UnsupportedContentError:
        return None


async def _fetch(site: Site, entry: PageEntry) -> PageText | None:
    try:
        found = await site.api.fetch_texts([entry.page_id], entry.kind)
        if entry.page_id in found:
            return found[entry.page_id]
        return (await site.api.fetch_page(entry.page_id, entry.kind))[1]
    except PermanentError:
        return None

"""Pages and blog posts as documents: text, versions, links, comments, rights."""

from collections.abc import Sequence
from datetime import datetime

from connectors.confluence.history import build_version, read_history
from connectors.confluence.includes import Expansion, build_context, expand_page
from connectors.confluence.model import CommentEntry, PageEntry, PageText
from connectors.confluence.site import Site
from connectors.confluence.storage import convert_storage
from connectors.confluence.storage_text import PageLink
from connectors.confluence.token import build_comment_states, build_token
from core.errors import UnsupportedContentError
from knowledge.documents import (
    BodyPart,
    Content,
    Document,
    DocumentId,
    Link,
    Status,
)


async def read_page(site: Site, entry: PageEntry, text: PageText, *, now: datetime) -> Document:
    """Build the document of a page.

    Args:
        site: With the page's rights complete.
        entry: The page as it was listed.
        text: Its text, perhaps of a later version than was listed.
        now: Moments in the future are not believed.

    Raises:
        UnsupportedContentError: Its body can't be converted.
        TransientError: Something it needs could not be fetched for now.
    """
    try:
        expansion = await expand_page(site, entry, text)
    except UnsupportedContentError as error:
        raise UnsupportedContentError(f"page {text.title!r} ({entry.page_id}): {error}") from error
    comments = await _read_comments(site, entry)
    parts = [*expansion.parts, *await _write_comments(site, text, comments)]
    latest = max(expansion.latest_at or text.revision.at, text.revision.at)
    author = await site.get_author(text.revision.author, text.revision.author_name)
    history = await read_history(site, entry, text)
    token = build_token(
        entry,
        revision=text.revision,
        past=history.past,
        includes=tuple(expansion.states),
        comments=build_comment_states(comments),
    )
    return Document(
        document_id=site.id_of(entry.page_id),
        source=site.name,
        scope=site.scope_of(entry.space),
        locator=make_locator(entry),
        url=site.api.page_url(entry),
        content=Content(
            title=text.title,
            parts=tuple(parts) or (BodyPart(markdown=""),),
            version=build_version(text, author, at=min(latest, now)),
        ),
        access=site.rights.build_rule(entry),
        token=token.encode(),
        status=Status.ARCHIVED if entry.is_archived else Status.CURRENT,
        space=entry.space,
        author=author,
        labels=entry.labels or (),
        breadcrumbs=site.breadcrumbs_of(entry),
        links=await _resolve_links(site, entry, expansion),
        history=history.contents,
        rewrites_history=history.is_rewritten,
        notes=tuple(dict.fromkeys((*expansion.notes, *history.notes))),
    )


def make_locator(entry: PageEntry) -> str:
    """Return how a page is found again."""
    return f"{entry.kind.value}/{entry.page_id}"


async def _read_comments(site: Site, entry: PageEntry) -> tuple[CommentEntry, ...]:
    if not site.settings.comments:
        return ()
    # A page that never had one need not be asked.
    if entry.page_id in site.pages and site.comments and entry.page_id not in site.comments:
        return ()
    return await site.api.list_comments(entry.page_id, entry.kind)


async def _write_comments(
    site: Site, text: PageText, comments: Sequence[CommentEntry]
) -> list[BodyPart]:
    written: list[str] = []
    for comment in comments:
        body = PageText(
            page_id=text.page_id, title=text.title, body=comment.body, revision=comment.revision
        )
        stored = convert_storage(comment.body, await build_context(site, body))
        said = "\n\n".join(piece for piece in stored.pieces if isinstance(piece, str))
        author = await site.get_author(comment.revision.author, comment.revision.author_name)
        day = comment.revision.at.date().isoformat()
        if said:
            written.append(f"**{author or '?'}, {day}:**\n\n{said}")
    if not written:
        return []
    return [BodyPart(markdown="\n\n".join(["## Comments 评论", *written]))]


async def _resolve_links(site: Site, entry: PageEntry, expansion: Expansion) -> tuple[Link, ...]:
    await site.find_titles([link.page for link in expansion.links], space=entry.space)
    links: dict[DocumentId, Link] = {}
    for link in expansion.links:
        target = _find_target(site, entry, link)
        if target is not None and target != site.id_of(entry.page_id):
            links.setdefault(target, Link(target=target, text=link.text))
    if not expansion.files or not site.settings.attachments:
        return tuple(links.values())
    files = await site.find_files(entry)
    for name in expansion.files:
        if file := files.get(name):
            links.setdefault(site.id_of(file), Link(target=site.id_of(file), text=name))
    return tuple(links.values())


def _find_target(site: Site, entry: PageEntry, link: PageLink) -> DocumentId | None:
    if link.page.page_id:
        return site.id_of(link.page.page_id)
    found = site.find_page(link.page, space=entry.space)
    return site.id_of(found.page_id) if found is not None else None

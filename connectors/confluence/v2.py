"""Replies of v2 as our own entries."""

from connectors.confluence.model import AttachmentEntry, Kind, PageEntry, PageText, Revision
from connectors.confluence.payloads import AttachmentV2, PageV2, VersionV2
from core.errors import PermanentError


def read_page(page: PageV2, space: str, kind: Kind) -> PageEntry | None:
    """Return a listed page; None when it is neither in force nor archived."""
    if page.status not in {"current", "archived"} or page.version is None:
        return None
    return PageEntry(
        page_id=page.id,
        space=space,
        title=page.title,
        revision=read_revision(page.version),
        kind=kind,
        is_archived=page.status == "archived",
        parent_id=page.parent_id or "",
    )


def read_text(page: PageV2) -> PageText:
    """Return a page's text.

    Raises:
        PermanentError: The site did not say which version it is.
    """
    if page.version is None:
        raise PermanentError(f"Confluence sent {page.id!r} without its version")
    return PageText(
        page_id=page.id,
        title=page.title,
        body=page.body.storage.value if page.body.storage else "",
        revision=read_revision(page.version),
    )


def read_revision(version: VersionV2) -> Revision:
    """Return a version."""
    return Revision(
        number=version.number,
        at=version.at,
        author=(version.author_id,) if version.author_id else (),
        message=version.message or "",
    )


def read_attachment(one: AttachmentV2) -> AttachmentEntry:
    """Return a listed attachment."""
    return AttachmentEntry(
        attachment_id=one.id,
        page_id=one.page_id or one.blog_post_id or "",
        space="",
        file_name=one.title,
        media_type=one.media_type or "",
        size=one.size,
        download=one.download,
        revision=read_revision(one.version),
    )

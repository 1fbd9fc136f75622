"""Replies of v2 as our own entries."""

from connectors.confluence.model import AttachmentEntry, Kind, PageEntry, PageText, Revision
from connectors.confluence.payloads import AttachmentV2, PageV2, VersionV2
from core.errors import PermanentError


def read_page(page: PageV2, space: str, kind: Kind) -> PageEntry | None:
    """Return a listed page; None when it is neither in force nor archived.

    Raises:
        PermanentError: The site did not say which version it is.
    """
    if page.status not in {"current", "archived"}:
        return None
    if page.version is None:
        # Left out, it would seem to be deleted.
        raise PermanentError(f"Confluence sent {page.id!r} without its version")
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
        PermanentError: The site did not say which version it is, or left the text out: an empty
            page has an empty one.
    """
    body = page.body.text
    if page.version is None or body is None:
        missing = "version" if page.version is None else "text"
        raise PermanentError(f"Confluence sent {page.id!r} without its {missing}")
    return PageText(
        page_id=page.id,
        title=page.title,
        body=body,
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

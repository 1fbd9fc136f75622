"""Attachments as documents of their own, under the rights of their page."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import PurePosixPath

from connectors.confluence.model import AttachmentEntry, PageEntry
from connectors.confluence.site import Site
from connectors.confluence.token import build_attachment_token
from connectors.files.convert import convert_file, is_light
from connectors.files.converted import Converted, Job, Limits
from connectors.files.parser_pool import ParserPool
from connectors.files.sniff import get_kind
from core.errors import SettingsError, UnsupportedContentError
from knowledge.access import NOBODY
from knowledge.documents import BodyPart, Content, Document, Link, Status, Version

# What holds text that people look for; pictures, archives and recordings are left alone.
_READ = frozenset(
    {
        ".md", ".markdown", ".txt", ".text", ".log", ".rst", ".csv", ".tsv", ".html", ".htm",
        ".pdf", ".docx", ".xlsx", ".xlsm", ".json", ".yaml", ".yml", ".xml", ".sql", ".py", ".sh",
        ".toml", ".ini", ".conf", ".java", ".go", ".js", ".ts",
    }
)  # fmt: skip


def is_readable(entry: AttachmentEntry, *, max_bytes: int) -> bool:
    """Tell whether an attachment becomes a document."""
    is_text = PurePosixPath(entry.file_name).suffix.lower() in _READ
    return is_text and 0 < entry.size <= max_bytes


def make_locator(entry: AttachmentEntry) -> str:
    """Return how an attachment is found again; its page is part of it, for the rights."""
    return f"attachment/{entry.page_id}/{entry.attachment_id}"


async def read_attachment(
    site: Site, entry: AttachmentEntry, page: PageEntry | None, pool: ParserPool
) -> Document:
    """Fetch and convert an attachment.

    Args:
        site: With the page's rights complete.
        entry: The attachment as it is now.
        page: The page it hangs on; None = it can't be read, so nobody may read the attachment.
        pool: Processes for formats whose parsers may hang.

    Raises:
        UnsupportedContentError: It can't be converted; the message says why.
    """
    max_bytes = int(site.settings.max_file_mb * 1_000_000)
    data = await site.api.download(entry.download, max_bytes=max_bytes)
    is_page = data.lstrip()[:9].lower().startswith((b"<!doctype", b"<html"))
    if is_page and not entry.file_name.lower().endswith((".html", ".htm", ".xml")):
        raise SettingsError(
            f"{site.api.site!r} sent a web page for attachment {entry.file_name!r}; that is "
            f"usually its login form: check sources.{site.name}.token"
        )
    converted = await _convert(Job(name=entry.file_name, data=data, limits=Limits()), pool)
    author = await site.get_author(entry.revision.author, entry.revision.author_name)
    return Document(
        document_id=site.id_of(entry.attachment_id),
        source=site.name,
        scope=site.scope_of(page.space if page else entry.space),
        locator=make_locator(entry),
        url=site.api.page_url(page) if page else site.api.site,
        content=Content(
            title=entry.file_name,
            parts=(BodyPart(markdown=converted.markdown),),
            version=Version(
                number=entry.revision.number,
                at=entry.revision.at,
                author=author,
                message=entry.revision.message,
                label=f"v{entry.revision.number}",
            ),
        ),
        access=site.rights.build_rule(page) if page else NOBODY,
        token=build_attachment_token(entry, page),
        status=Status.ARCHIVED if page and page.is_archived else Status.CURRENT,
        space=page.space if page else entry.space,
        author=author,
        labels=converted.labels,
        breadcrumbs=(*site.breadcrumbs_of(page), page.title) if page else (),
        links=(Link(target=site.id_of(page.page_id), text=page.title),) if page else (),
        notes=converted.notes,
    )


async def list_all(site: Site, space: str) -> AsyncIterator[AttachmentEntry]:
    """Yield the attachments of a space in bulk.

    Raises:
        TransientError: The listing failed.
    """
    async for batch in site.api.search(f'space = "{space}" and type = attachment'):
        for entry in batch.items:
            if isinstance(entry, AttachmentEntry):
                yield entry


async def _convert(job: Job, pool: ParserPool) -> Converted:
    if not job.data.strip():
        raise UnsupportedContentError(f"{job.name!r} is empty")
    kind, _ = await asyncio.to_thread(get_kind, job.name, job.data)
    if is_light(kind, len(job.data)):
        return await asyncio.to_thread(convert_file, job)
    return await pool.convert(job)

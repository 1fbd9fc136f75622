"""The text of files that Notion hosts. What lies elsewhere an author has named: never fetched."""

import asyncio
import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from connectors.files.convert import convert_file, is_light
from connectors.files.converted import Converted, FileKind, Job, Limits
from connectors.files.ocr import is_ocr_installed
from connectors.files.parser_pool import ParserPool
from connectors.files.sniff import find_kind_by_name, get_kind
from connectors.notion.blocks import find_file_name
from connectors.notion.body import Node
from connectors.notion.client import NotionApi
from connectors.notion.payloads import BlockBody
from core.errors import AccessDeniedError, PermanentError, RefusedError

_TYPES = frozenset({"file", "pdf", "image"})
_PARSERS = min(2, os.cpu_count() or 1)
_PARSER_TIMEOUT_S = 120.0


@dataclass(slots=True, kw_only=True)
class FileTexts:
    """Markdown by block id, and what could not be read."""

    texts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class HostedFiles:
    """Downloads and converts."""

    def __init__(self, api: NotionApi, *, max_bytes: int) -> None:
        self._api = api
        self._max_bytes = max_bytes
        self._pool = ParserPool(size=_PARSERS, timeout_s=_PARSER_TIMEOUT_S)

    async def read(self, nodes: Iterable[Node]) -> FileTexts:
        """Return the texts of the files on a page; one that can't be read is a note.

        Raises:
            TransientError: The storage did not answer; the page is read again later.
        """
        found = FileTexts()
        for top in nodes:
            for node in top.walk():
                if _is_hosted(node):
                    await self._read_one(node, found)
        return found

    async def close(self) -> None:
        """End the parser processes."""
        await self._pool.close()

    async def _read_one(self, node: Node, found: FileTexts) -> None:
        name = find_file_name(node.block.body)
        if find_kind_by_name(name) is FileKind.IMAGE and not is_ocr_installed():
            return
        try:
            data = await self._download(node)
            converted = await self._convert(Job(name=name, data=data, limits=Limits()))
        except (PermanentError, RefusedError) as error:
            found.notes.append(f"file {name!r}: {error}")
            return
        found.texts[node.block.id] = converted.markdown
        found.notes += [f"file {name!r}: {note}" for note in converted.notes]

    async def _download(self, node: Node) -> bytes:
        """Download a file; its address lives for an hour, after that a new one is asked for."""
        place = node.block.body.file
        try:
            return await self._api.download(place.url if place else "", max_bytes=self._max_bytes)
        except AccessDeniedError:
            raw = await self._api.fetch_block(node.block.id)
            fresh = BlockBody.model_validate(raw.get(node.block.type) or {}).file
            url = fresh.url if fresh else ""
            return await self._api.download(url, max_bytes=self._max_bytes)

    async def _convert(self, job: Job) -> Converted:
        kind, _ = await asyncio.to_thread(get_kind, job.name, job.data)
        if is_light(kind, len(job.data)):
            return await asyncio.to_thread(convert_file, job)
        return await self._pool.convert(job)


def _is_hosted(node: Node) -> bool:
    block = node.block
    return block.type in _TYPES and block.body.type == "file" and block.body.file is not None

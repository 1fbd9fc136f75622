"""A folder of files, or a single file, as a source of knowledge."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from connectors.files.access_file import FolderRules
from connectors.files.convert import convert_file, is_light
from connectors.files.converted import Converted, FileKind, Job, Limits
from connectors.files.document import FileFacts, build_document
from connectors.files.embeds import Expansion, expand_embeds
from connectors.files.file_token import FileToken, describe_setup, parse_token
from connectors.files.frontmatter import split_front_matter
from connectors.files.ocr import is_ocr_installed
from connectors.files.parser_pool import ParserPool
from connectors.files.reading import hash_bytes, read_file
from connectors.files.snapshot import Snapshot, Verdict, select_known
from connectors.files.sniff import get_kind
from connectors.files.text import decode_text
from connectors.files.vault import is_page
from connectors.files.walk import FoundFile, Listing, list_files, list_single
from core.clock import Clock
from core.errors import PermanentError, ResourceGoneError, ServiceUnavailableError, SettingsError
from core.settings import FilesSettings
from knowledge.access import NOBODY, AccessRule
from knowledge.documents import BodyPart, Document, DocumentId, Link, Status
from knowledge.source import (
    AccessChanged,
    Change,
    Checkpoint,
    Cursor,
    Failed,
    Head,
    KnownDocument,
    ScopeListed,
    Unchanged,
    Upserted,
)

_CHECKPOINT_EVERY = 256
_PARSERS = min(2, os.cpu_count() or 1)


class FilesSource:
    """Reads a root; its one scope is the source itself.

    Every run lists the whole root, so the cursor says nothing. A file keeps its document over
    renames (`identity.identify`); rules are compared apart from content (`.access.yaml`).

    Args:
        name: The source's name in the settings.
        settings: Where the files are and what is read of them.
        clock: Tells which dates lie in the future.
    """

    def __init__(self, name: str, settings: FilesSettings, *, clock: Clock) -> None:
        self._name = name
        self._settings = settings
        self._clock = clock
        self._path = Path(settings.path).expanduser()
        self._limits = Limits.from_settings(settings)
        self._max_bytes = int(settings.max_file_mb * 1_000_000)
        self._setup = describe_setup(settings.space)
        self._pool = ParserPool(size=_PARSERS, timeout_s=settings.timeout_s)
        self._snapshot: Snapshot | None = None

    @property
    def name(self) -> str:
        """The source's name in the settings; first part of its document ids."""
        return self._name

    async def discover(
        self,
        cursor: Cursor,  # noqa: ARG002 - every run lists everything
        known: Mapping[DocumentId, KnownDocument],
    ) -> AsyncIterator[Change]:
        """Yield the whole root: broken access files and refused entries first, then by path.

        An `.access.yaml` that closes its folder because it is invalid is a Failed of its own, so
        that it is seen. A changed rule goes in front of what else is said of its document.

        Raises:
            SettingsError: The root does not exist.
        """
        snapshot = await asyncio.to_thread(self._take_snapshot, known)
        self._snapshot = snapshot
        verdicts = await asyncio.to_thread(self._judge_all, snapshot)
        for change in self._describe_failures(snapshot, known):
            yield change
        for number, (path, verdict) in enumerate(verdicts.items(), start=1):
            for change in await self._describe(snapshot, path, verdict):
                yield change
            if number % _CHECKPOINT_EVERY == 0:
                yield Checkpoint(cursor=Cursor(""))
        yield ScopeListed(scope=self._name, error="; ".join(snapshot.listing.errors[:5]))
        yield Checkpoint(cursor=Cursor(""))

    async def fetch(self, change: Upserted) -> Document:
        """Return a file's document; see `knowledge.source.Source.fetch`."""
        snapshot = await self._get_snapshot()
        found, data = await asyncio.to_thread(
            read_file, snapshot.root, change.locator, max_bytes=self._max_bytes
        )
        job = Job(name=found.path, data=data, limits=self._limits)
        kind, _ = await asyncio.to_thread(get_kind, job.name, data)
        facts = FileFacts(
            source=self._name,
            space=self._settings.space,
            document_id=change.document_id,
            found=found,
            content_hash="",
            rule=snapshot.get_rule(found),
            setup=self._setup,
            now=self._clock.now(),
        )
        if is_light(kind, len(data)):
            return await asyncio.to_thread(self._convert, snapshot, facts, job, kind)
        converted = await self._pool.convert(job)
        return await asyncio.to_thread(self._build, snapshot, facts, job, converted)

    async def head(self, known: KnownDocument) -> Head:
        """Look at a file's size, time and status as it is now."""
        return await asyncio.to_thread(self._look, known)

    async def fetch_access(self, known: KnownDocument) -> AccessRule:
        """Return who may read a file now; NOBODY when it, or its folder, can't be looked at."""
        return await asyncio.to_thread(self._read_rule, known)

    async def close(self) -> None:
        """End the parser processes."""
        await self._pool.close()

    @property
    def _root(self) -> Path:
        return self._path.parent if self._path.is_file() else self._path

    def _take_snapshot(self, known: Mapping[DocumentId, KnownDocument]) -> Snapshot:
        if not self._path.exists():
            raise SettingsError(
                f"source {self._name!r}: {str(self._path)!r} does not exist; mount it, or mend "
                f"sources.{self._name}.path"
            )
        snapshot = Snapshot(
            root=self._root,
            listing=self._list(),
            rules=FolderRules(self._root),
            max_bytes=self._max_bytes,
        )
        snapshot.identify(self._name, select_known(self._name, known).values())
        return snapshot

    def _list(self) -> Listing:
        if self._path.is_file():
            return list_single(self._path)
        return list_files(self._path, self._settings.include, self._settings.exclude)

    async def _get_snapshot(self) -> Snapshot:
        if self._snapshot is None:
            self._snapshot = await asyncio.to_thread(self._take_snapshot, {})
        return self._snapshot

    def _judge_all(self, snapshot: Snapshot) -> dict[str, Verdict]:
        has_ocr = self._settings.ocr and is_ocr_installed()
        return {
            path: snapshot.judge(path, setup=self._setup, has_ocr=has_ocr)
            for path in snapshot.listing.files
        }

    def _describe_failures(
        self, snapshot: Snapshot, known: Mapping[DocumentId, KnownDocument]
    ) -> Iterator[Change]:
        for found in snapshot.listing.files.values():
            snapshot.get_rule(found)
        for path, reason in snapshot.rules.failures.items():
            yield self._fail(DocumentId(f"{self._name}:{path}"), reason)
        before = select_known(self._name, known)
        for path, reason in snapshot.listing.refused.items():
            own = before.get(path)
            document_id = own.document_id if own else DocumentId(f"{self._name}:{path}")
            yield self._fail(document_id, f"{path!r} {reason}")

    def _fail(self, document_id: DocumentId, reason: str) -> Failed:
        return Failed(document_id=document_id, scope=self._name, reason=reason)

    async def _describe(self, snapshot: Snapshot, path: str, verdict: Verdict) -> list[Change]:
        found, document_id = snapshot.listing.files[path], snapshot.ids[path]
        known = snapshot.known.get(path)
        changes: list[Change] = []
        rule = snapshot.get_rule(found)
        if known is not None and known.access_id != rule.access_id:
            changes.append(AccessChanged(document_id=document_id, scope=self._name, rule=rule))
        token = ""
        if verdict is Verdict.TOUCHED and known is not None:
            current = await asyncio.to_thread(snapshot.find_hash, found)
            if current and current == known.content_hash:
                verdict, token = Verdict.SAME, _move_token(known, found)
        if verdict is Verdict.SAME:
            changes.append(Unchanged(document_id=document_id, scope=self._name, token=token))
        else:
            changes.append(
                Upserted(
                    document_id=document_id,
                    scope=self._name,
                    locator=path,
                    token=self._describe_attempt(found),
                )
            )
        return changes

    def _describe_attempt(self, found: FoundFile) -> str:
        """Name everything that decides whether reading the file would fail again."""
        has_ocr = self._settings.ocr and is_ocr_installed()
        setup = describe_setup(self._settings.model_dump_json(), has_ocr)
        return FileToken(size=found.size, mtime_ns=found.mtime_ns, setup=setup).encode()

    def _convert(self, snapshot: Snapshot, facts: FileFacts, job: Job, kind: FileKind) -> Document:
        converted = convert_file(job)
        if kind is FileKind.MARKDOWN:
            expansion = expand_embeds(facts.found.path, converted.markdown, snapshot.find_page)
            return self._finish(snapshot, facts, job, converted, expansion)
        return self._build(snapshot, facts, job, converted)

    def _build(
        self, snapshot: Snapshot, facts: FileFacts, job: Job, converted: Converted
    ) -> Document:
        expansion = Expansion(parts=[BodyPart(markdown=converted.markdown)])
        return self._finish(snapshot, facts, job, converted, expansion)

    def _finish(
        self,
        snapshot: Snapshot,
        facts: FileFacts,
        job: Job,
        converted: Converted,
        expansion: Expansion,
    ) -> Document:
        links: dict[DocumentId, Link] = {}
        for link in converted.links:
            target = snapshot.find_id(link.target, facts.found.folder)
            if target is not None and target != facts.document_id:
                links.setdefault(target, Link(target=target, text=link.text))
        facts = replace(facts, content_hash=hash_bytes(job.data))
        return build_document(facts, converted, expansion, tuple(links.values()))

    def _look(self, known: KnownDocument) -> Head:
        root = self._root
        if not root.exists():
            raise ServiceUnavailableError(f"folder {str(root)!r} is gone; is it still mounted?")
        token, status = parse_token(known.token), Status.CURRENT
        found, data = read_file(root, known.locator, max_bytes=self._max_bytes)
        if is_page(found.path):
            front, _ = split_front_matter(decode_text(data, found.path).text)
            status = Status.ARCHIVED if front.is_archived else Status.CURRENT
        is_same = token is not None and (
            token.is_of(found) or hash_bytes(data) == known.content_hash
        )
        current = FileToken(size=found.size, mtime_ns=found.mtime_ns, setup=self._setup)
        return Head(
            document_id=known.document_id,
            token=known.token if is_same else current.encode(),
            status=status,
        )

    def _read_rule(self, known: KnownDocument) -> AccessRule:
        try:
            found, _ = read_file(self._root, known.locator, max_bytes=self._max_bytes)
        except (PermanentError, ResourceGoneError, ServiceUnavailableError):
            return NOBODY
        return FolderRules(self._root).get_rule(found.folder)


def _move_token(known: KnownDocument, found: FoundFile) -> str:
    """Return the ledger's token with the file's new time."""
    token = parse_token(known.token)
    return replace(token, mtime_ns=found.mtime_ns).encode() if token else ""

"""A page's versions, and its text in each of them, as far as the reader may read it today."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, unquote

from core.errors import SettingsError
from knowledge.access import ReadableClasses
from knowledge.documents import DocumentId, Hit, Status
from knowledge.ledger import Ledger
from knowledge.ledger_records import DocumentRecord, VersionRecord
from knowledge.stores import Level, PassageFilter, PassageStore

ROWS_AT_MOST = 100_000
CANDIDATES_SHOWN = 5
CURRENT = "current"
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageVersion:
    """A version of a page, and how long it held.

    Attributes:
        until: When the next version that is known replaced it; None = in force.
    """

    record: VersionRecord
    until: datetime | None

    @property
    def name(self) -> str:
        """What people call it."""
        return self.record.label or f"v{self.record.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionText:
    """The text under one heading in one version."""

    heading_path: tuple[str, ...]
    text: str


class PageVersions:
    """Looks up pages and their versions for one reader.

    The rule of today holds for every version: who may not read the page now learns nothing of it.
    """

    def __init__(self, *, store: PassageStore, ledger: Ledger, access: ReadableClasses) -> None:
        self._store = store
        self._ledger = ledger
        self._access = access

    async def get_page(self, reference: str) -> DocumentRecord:
        """Return the page that an id, a URL or a title names, today's title or a former one.

        Raises:
            SettingsError: There is none that the reader may read, or more than one.
        """
        wanted = reference.strip()
        # Sources of answers show file paths as people write them, browsers with escapes.
        plain = unquote(wanted)
        spellings = dict.fromkeys((wanted, plain, quote(plain)))
        found = await self._find_readable(list(spellings))
        for one in spellings:
            found = found or await self._find_readable(await self._ledger.find_ids(url=one))
        if not found:
            titles = await self._ledger.load_titles()
            same = [key for key, title in titles if _fold(title) == _fold(wanted)]
            found = await self._find_readable(same)
        if not found:
            found = await self._find_readable(await self._ledger.find_ids(former_title=wanted))
        if not found:
            raise SettingsError(
                f"no page {reference!r} is known that you may read; give its id, title or URL"
            )
        if len(found) > 1:
            shown = ", ".join(f"{one.document_id!r}" for one in found[:CANDIDATES_SHOWN])
            raise SettingsError(f"{len(found)} pages are called {reference!r}: give an id: {shown}")
        return found[0]

    async def load_versions(self, page: DocumentRecord) -> list[PageVersion]:
        """Return the versions that are kept, oldest first."""
        records = await self._ledger.load_versions(page.document_id)
        ends: list[datetime | None] = [one.at for one in records[1:]] + [None]
        return [
            PageVersion(record=record, until=end)
            for record, end in zip(records, ends, strict=False)
        ]

    async def load_text(self, page: DocumentRecord, version: PageVersion) -> list[SectionText]:
        """Return a version's text by heading, in the order of the page."""
        moment = version.record.at
        whole = await self._load_rows(page, moment, Level.SECTION)
        have_whole = {hit.section_id for hit in whole}
        passages = await self._load_rows(page, moment, Level.PASSAGE)
        # A section that is one single passage has no row of its own.
        rows = [*whole, *(hit for hit in passages if hit.section_id not in have_whole)]
        by_path: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for hit in sorted(rows, key=lambda one: one.position):
            for path, text in _split_headings(hit.heading_path, hit.text):
                by_path[path].append(text)
        return [
            SectionText(heading_path=path, text="\n\n".join(texts))
            for path, texts in by_path.items()
        ]

    async def _load_rows(self, page: DocumentRecord, moment: datetime, level: Level) -> list[Hit]:
        where = PassageFilter(
            access=self._access,
            level=level,
            as_of=moment,
            statuses=frozenset(Status),
            documents=frozenset({page.document_id}),
        )
        hits = await self._store.list_hits(where, limit=ROWS_AT_MOST)
        # The second lock: what the ledger says now.
        states = await self._ledger.check_rows([hit.passage_id for hit in hits])
        return [
            hit
            for hit in hits
            if (state := states.get(hit.passage_id))
            and self._access.admits(state.access_no)
            and (state.valid_to is None or state.valid_to > moment)
        ]

    async def _find_readable(self, ids: Sequence[str]) -> list[DocumentRecord]:
        records = await self._ledger.load_documents([DocumentId(one) for one in ids])
        return sorted(
            (one for one in records.values() if self._access.admits(one.access_no)),
            key=lambda one: one.document_id,
        )


def choose_version(versions: Sequence[PageVersion], name: str) -> PageVersion:
    """Return the version that a number, `v3`, a label or `current` names.

    Raises:
        SettingsError: There is none of that name.
    """
    wanted = name.strip().casefold()
    if wanted == CURRENT and versions:
        return versions[-1]
    for one in versions:
        label = one.record.label.casefold()
        if wanted in {str(one.record.number), f"v{one.record.number}"} or wanted == label:
            return one
    known = ", ".join(one.name for one in versions) or "none"
    raise SettingsError(f"there is no version {name!r} of the page; known are {known}")


def _split_headings(path: tuple[str, ...], text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the parts of a row under the headings inside it: small sections share one row."""
    open_headings: list[tuple[int, str]] = []
    lines: list[str] = []
    is_code = False
    for line in text.splitlines():
        is_code ^= line.lstrip().startswith(("```", "~~~"))
        heading = None if is_code else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        yield from _finish(path, open_headings, lines)
        level, lines = len(heading[1]), []
        open_headings = [one for one in open_headings if one[0] < level]
        open_headings.append((level, heading[2]))
    yield from _finish(path, open_headings, lines)


def _finish(
    path: tuple[str, ...], headings: Sequence[tuple[int, str]], lines: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    text = "\n".join(lines).strip()
    if text:
        yield (*path, *(title for _, title in headings)), text


def _fold(title: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", title).casefold().split())

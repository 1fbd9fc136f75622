"""Reading pages for tools: with the asker's rights, checked against those who listen."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.agent.caller import Caller
from core.errors import SettingsError, ToolRetryError
from knowledge.access import ReadableClasses
from knowledge.documents import Hit, SectionId, Status
from knowledge.ledger import Ledger
from knowledge.ledger_records import DocumentRecord
from knowledge.page_versions import CURRENT, PageVersion, PageVersions, choose_version
from knowledge.retrieval import Evidence
from knowledge.retrieval.lock import check_hits
from knowledge.stores import Level, PassageFilter, PassageStore

MOST_ROWS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedPage:
    """A page the asker may read, with its versions, oldest first."""

    record: DocumentRecord
    versions: Sequence[PageVersion]
    pages: PageVersions

    def choose(self, name: str) -> PageVersion:
        """Return a version by number, `v3`, label or `current`.

        Raises:
            ToolRetryError: There is none of that name; the message lists those that are.
        """
        try:
            return choose_version(self.versions, name or CURRENT)
        except SettingsError as error:
            raise ToolRetryError(str(error)) from error


class PageReading:
    """Opens pages and reads their sections in any version."""

    def __init__(self, *, store: PassageStore, ledger: Ledger) -> None:
        self._store = store
        self._ledger = ledger

    async def open(self, reference: str, caller: Caller) -> OpenedPage:
        """Open a page by id, title or URL, as the asker.

        Raises:
            ToolRetryError: There is none the asker may read, or more than one. A page they may not
                read is told as one that does not exist.
        """
        access = caller.reader.asker_readable
        pages = PageVersions(store=self._store, ledger=self._ledger, access=access)
        try:
            record = await pages.get_page(reference)
        except SettingsError as error:
            raise ToolRetryError(str(error)) from error
        return OpenedPage(record=record, versions=await pages.load_versions(record), pages=pages)

    async def load_evidence(
        self, page: OpenedPage, version: PageVersion, caller: Caller
    ) -> list[Evidence]:
        """Return the sections of a version in the order of the page, as the asker may read them."""
        access = caller.reader.asker_readable
        passages: dict[SectionId, list[Hit]] = defaultdict(list)
        for hit in await self._load_rows(page, version, Level.PASSAGE, access):
            passages[hit.section_id].append(hit)
        wholes = await self._load_rows(page, version, Level.SECTION, access)
        texts = {hit.section_id: hit.text for hit in wholes}
        found = [
            Evidence(
                hit=hits[0],
                # A section that is one single passage has no row of its own.
                section_text=texts.get(section_id, hits[0].text),
                passages=tuple(hits),
            )
            for section_id, hits in passages.items()
        ]
        return sorted(found, key=lambda one: one.hit.position)

    async def _load_rows(
        self, page: OpenedPage, version: PageVersion, level: Level, access: ReadableClasses
    ) -> list[Hit]:
        moment = version.record.at
        where = PassageFilter(
            access=access,
            level=level,
            as_of=moment,
            statuses=frozenset(Status),
            documents=frozenset({page.record.document_id}),
        )
        rows = await self._store.list_hits(where, limit=MOST_ROWS)
        checked = await check_hits(self._ledger, rows, access, only_current=False, as_of=moment)
        return sorted(checked, key=lambda hit: hit.position)


def is_for_asker_alone(evidence: Iterable[Evidence], caller: Caller) -> bool:
    """Tell whether somebody who listens may not read all of it."""
    readable = caller.reader.audience_readable
    return any(
        not readable.admits(hit.access_no) for one in evidence for hit in (one.hit, *one.passages)
    )


def is_page_for_asker_alone(page: OpenedPage, caller: Caller) -> bool:
    """Tell whether somebody who listens may not read the page."""
    return not caller.reader.audience_readable.admits(page.record.access_no)

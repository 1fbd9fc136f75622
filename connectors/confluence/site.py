"""What is known of a site while a source is open."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from connectors.confluence.model import (
    AccountIds,
    AttachmentEntry,
    ConfluenceApi,
    Kind,
    PageEntry,
    Space,
)
from connectors.confluence.principals import Principals
from connectors.confluence.rights import Rights
from connectors.confluence.storage_text import PageRef
from connectors.confluence.token import PageToken
from core.errors import PermanentError
from core.settings import ConfluenceSettings
from knowledge.documents import DocumentId

_TITLES_A_SEARCH = 25
_IDS_A_SEARCH = 100


@dataclass(slots=True, kw_only=True)
class Site:
    """Spaces, listed pages and attachments, and names, each asked for once.

    Attributes:
        held: State of each page that the ledger holds.
        shortened: Pages, by id, whose history at the site has lost versions that the ledger has.
        comments: States of the comments of each listed page.
        listed_files: Spaces whose attachments are all known.
        names: Display names by account, as far as they were asked for.
    """

    name: str
    settings: ConfluenceSettings
    api: ConfluenceApi
    principals: Principals
    rights: Rights
    spaces: dict[str, Space] = field(default_factory=dict)
    pages: dict[str, PageEntry] = field(default_factory=dict)
    attachments: dict[str, AttachmentEntry] = field(default_factory=dict)
    comments: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    listed_files: set[str] = field(default_factory=set)
    held: Mapping[DocumentId, PageToken] = field(default_factory=dict)
    shortened: set[str] = field(default_factory=set)
    _titles: dict[tuple[str, str, bool], str] = field(default_factory=dict)
    _files: dict[str, dict[str, str]] = field(default_factory=dict)

    def id_of(self, native_id: str) -> DocumentId:
        """Return the document id of a page or attachment."""
        return DocumentId(f"{self.name}:{native_id}")

    def scope_of(self, space: str) -> str:
        """Return the scope of a space."""
        return f"{self.name}/{space}"

    def take_pages(self, entries: Iterable[PageEntry]) -> None:
        """Remember pages as they are now."""
        entries = tuple(entries)
        for entry in entries:
            old = self.pages.get(entry.page_id)
            if old is not None:
                self._titles.pop(_title_key(old), None)
            self.pages[entry.page_id] = entry
            if not entry.is_archived:
                self._titles[_title_key(entry)] = entry.page_id
        self.rights.take(entries)

    async def complete_rights(
        self, entries: Collection[PageEntry], *, afresh: bool = False
    ) -> None:
        """Ask for everything that the rules of these pages need and that is not known.

        Raises:
            TransientError: The site did not answer.
        """
        unknown = {one.space for one in entries if not self.rights.knows_space(one.space)}
        if foreign := unknown - self.spaces.keys():
            for space in await self.api.fetch_spaces(sorted(foreign)):
                await self.rights.read_space(space)
        for key in sorted(unknown & self.spaces.keys()):
            await self.rights.read_space(self.spaces[key])
        self.take_pages(await self.rights.complete(entries, afresh=afresh))

    async def find_pages(self, ids: Collection[str]) -> dict[str, PageEntry]:
        """Return pages by id as they are now, many in one call; what is gone is left out."""
        found: dict[str, PageEntry] = {}
        asked = sorted(set(ids))
        for start in range(0, len(asked), _IDS_A_SEARCH):
            query = f"id in ({', '.join(asked[start : start + _IDS_A_SEARCH])})"
            async for batch in self.api.search(query):
                found |= {one.page_id: one for one in batch.items if isinstance(one, PageEntry)}
        self.take_pages(found.values())
        return found

    def take_attachments(self, entries: Iterable[AttachmentEntry]) -> None:
        """Remember attachments as they are now."""
        for entry in entries:
            self.attachments[entry.attachment_id] = entry
            self._files.setdefault(entry.page_id, {})[entry.file_name] = entry.attachment_id

    def forget_space(self, key: str) -> None:
        """Forget the pages of a space, because it is listed anew."""
        for entry in [one for one in self.pages.values() if one.space == key]:
            self._titles.pop(_title_key(entry), None)
            self._files.pop(entry.page_id, None)
            del self.pages[entry.page_id]

    def find_page(self, ref: PageRef, *, space: str) -> PageEntry | None:
        """Return the listed page that is meant, seen from a space."""
        if ref.page_id:
            return self.pages.get(ref.page_id)
        found = self._titles.get((ref.space or space, ref.title, ref.is_blog))
        return self.pages.get(found) if found else None

    async def find_files(self, entry: PageEntry) -> Mapping[str, str]:
        """Return the ids of a page's attachments by file name."""
        if entry.page_id not in self._files and entry.space not in self.listed_files:
            try:
                found = await self.api.list_attachments(entry.page_id, entry.kind)
            except PermanentError:
                found = ()  # a link for the graph is worth less than the page
            self._files[entry.page_id] = {}
            self.take_attachments(found)
        return self._files.get(entry.page_id, {})

    async def find_titles(self, refs: Collection[PageRef], *, space: str) -> None:
        """Look for pages by title, many in one call; those found are remembered."""
        missing = sorted(
            {
                (ref.space or space, ref.title)
                for ref in refs
                if ref.title and self.find_page(ref, space=space) is None
            }
        )
        ours = [one for one in missing if one[0] in self.spaces]
        for start in range(0, len(ours), _TITLES_A_SEARCH):
            parts = ours[start : start + _TITLES_A_SEARCH]
            wanted = " or ".join(
                f'(space = "{_escape(key)}" and title = "{_escape(title)}")' for key, title in parts
            )
            query = f"type in (page, blogpost) and ({wanted})"
            async for batch in self.api.search(query):
                self.take_pages(one for one in batch.items if isinstance(one, PageEntry))

    async def get_names(self, accounts: Collection[str]) -> Mapping[str, str]:
        """Return display names: the directory's own, else the site's; each asked for once."""
        unknown = []
        for account in accounts:
            person = self.principals.find_person((account,))
            if person is not None:
                self.names[account] = person.name
            elif account not in self.names:
                unknown.append(account)
        if unknown:
            try:
                found = await self.api.fetch_names(unknown)
            except PermanentError:
                found = {}  # a name is worth less than the page it stands on
            self.names |= {account: found.get(account, "") for account in unknown}
        return {account: self.names[account] for account in accounts if self.names.get(account)}

    async def get_author(self, account: AccountIds, given: str) -> str:
        """Return the name of who wrote a version."""
        person = self.principals.find_person(account)
        if person is not None or given or not account:
            return person.name if person is not None else given
        return (await self.get_names(account[:1])).get(account[0], "")

    def breadcrumbs_of(self, entry: PageEntry) -> tuple[str, ...]:
        """Return the titles above a page, beginning with the space's name."""
        space = self.spaces.get(entry.space)
        titles = [self.pages[one].title for one in self._ancestors(entry) if one in self.pages]
        return (space.name if space else entry.space, *titles)

    def _ancestors(self, entry: PageEntry) -> list[str]:
        if entry.ancestors is not None:
            return list(entry.ancestors)
        found: list[str] = []
        parent = entry.parent_id
        while parent and parent not in found and parent in self.pages:
            found.append(parent)
            parent = self.pages[parent].parent_id
        return found[::-1]


def make_kind(ref: PageRef) -> Kind:
    """Return the kind of page that is meant."""
    return Kind.BLOG_POST if ref.is_blog else Kind.PAGE


def _title_key(entry: PageEntry) -> tuple[str, str, bool]:
    return entry.space, entry.title, entry.kind is Kind.BLOG_POST


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')

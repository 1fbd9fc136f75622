"""What a Confluence site says, whichever flavour it is of. Frozen and pure."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from connectors.pagination import Batch

AccountIds = tuple[str, ...]
"""All ids of one account: account id, user key, user name, as far as they are given."""


class Kind(StrEnum):
    """Kinds of content that become documents, or belong to one."""

    PAGE = "page"
    BLOG_POST = "blogpost"
    ATTACHMENT = "attachment"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A space; `space_id` is the number Cloud uses in place of the key."""

    key: str
    space_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """Who is named as a reader. As a restriction, nobody named means no restriction."""

    users: frozenset[AccountIds] = frozenset()
    groups: frozenset[str] = frozenset()
    is_anonymous: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nobody at all is named."""
        return not (self.users or self.groups or self.is_anonymous)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One version of a page, attachment or comment."""

    number: int
    at: datetime
    author: AccountIds = ()
    author_name: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEntry:
    """A page or blog post as it is listed, without its text.

    Attributes:
        parent_id: Empty at the top, and where the listing only gives ancestors.
        ancestors: Ids from the top down; None = the listing gives the parent alone.
        restriction: None = could not be read, so nobody is admitted.
        labels: None = not said by the listing.
    """

    page_id: str
    space: str
    title: str
    revision: Revision
    kind: Kind = Kind.PAGE
    is_archived: bool = False
    parent_id: str = ""
    ancestors: tuple[str, ...] | None = None
    restriction: Readers | None = None
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentEntry:
    """An attachment as it is listed; `download` is a path or address to get it from."""

    attachment_id: str
    page_id: str
    space: str
    file_name: str
    media_type: str
    size: int
    download: str
    revision: Revision


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentEntry:
    """A comment; `body` is empty in listings."""

    comment_id: str
    page_id: str
    revision: Revision
    body: str = ""


Entry = PageEntry | AttachmentEntry | CommentEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """A page with its text in one version. The title is that version's own."""

    page_id: str
    title: str
    body: str
    revision: Revision


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHead:
    """Where a document stands now; `place` is its parent's id, empty at the top."""

    number: int
    title: str
    place: str
    is_archived: bool


class ConfluenceApi(Protocol):
    """What the source asks of a site; errors are those of `HttpClient.request`."""

    async def fetch_spaces(self, keys: Collection[str]) -> tuple[Space, ...]:
        """Return the named spaces that can be seen; all global ones when none is named."""
        ...

    def list_pages(self, space: Space, kind: Kind) -> AsyncIterator[Batch[PageEntry]]:
        """Yield all pages or blog posts of a space, current and archived; drafts never.

        Restrictions and labels are filled in as far as they come in bulk.
        """
        ...

    def search(self, query: str) -> AsyncIterator[Batch[Entry]]:
        """Yield what a CQL query finds, with restrictions, labels and ancestors."""
        ...

    async def complete(self, entry: PageEntry) -> PageEntry:
        """Return the entry with the restriction and labels that the listing did not give."""
        ...

    async def fetch_texts(self, ids: Sequence[str], kind: Kind) -> Mapping[str, PageText]:
        """Return pages with their text, several in one call; those that are gone are left out."""
        ...

    async def fetch_page(self, page_id: str, kind: Kind) -> tuple[PageEntry, PageText]:
        """Return one page with everything the listing would say."""
        ...

    async def find_page(self, space: str, title: str, kind: Kind) -> PageEntry | None:
        """Return the current page of that title."""
        ...

    async def fetch_versions(
        self, page_id: str, kind: Kind, numbers: Collection[int]
    ) -> tuple[PageText, ...]:
        """Return earlier versions, oldest first; those that are gone are left out."""
        ...

    async def fetch_moments(
        self, page_id: str, kind: Kind, since: datetime
    ) -> tuple[datetime, ...]:
        """Return when versions came into force, the current one first.

        Those before `since` may be left out; no text is read.
        """
        ...

    async def fetch_ancestors(self, page_id: str) -> tuple[str, ...]:
        """Return the ids of all ancestors, from the top down."""
        ...

    async def fetch_restriction(self, content_id: str) -> Readers:
        """Return who may read a page, folder or other content by its own restriction."""
        ...

    async def fetch_space_readers(self, space: Space) -> Readers:
        """Return who may view a space."""
        ...

    async def list_attachments(self, page_id: str, kind: Kind) -> tuple[AttachmentEntry, ...]:
        """Return the attachments of a page."""
        ...

    async def list_comments(self, page_id: str, kind: Kind) -> tuple[CommentEntry, ...]:
        """Return the comments of a page, with their text, oldest first."""
        ...

    async def fetch_attachment(self, attachment_id: str) -> AttachmentEntry:
        """Return an attachment as it is now."""
        ...

    async def fetch_head(self, page_id: str, kind: Kind) -> PageHead:
        """Return version and status in one call; raises ResourceGoneError for the trash too."""
        ...

    async def list_trash(self, spaces: Sequence[Space]) -> frozenset[str]:
        """Return ids of what lies in the trash, the newest first as far as one call tells."""
        ...

    async def fetch_names(self, accounts: Collection[str]) -> Mapping[str, str]:
        """Return display names by the id asked for; who is unknown is left out."""
        ...

    async def fetch_members(self, group: str) -> frozenset[AccountIds]:
        """Return the members of a group, nested groups resolved as far as the site does.

        Raises:
            ResourceGoneError: There is no such group.
        """
        ...

    async def fetch_groups_of(self, account: str) -> frozenset[str]:
        """Return the groups of an account, by what restrictions call them.

        Raises:
            PermanentError: There is no such account, or its groups can't be seen.
        """
        ...

    def page_url(self, entry: PageEntry) -> str:
        """Return the address of a page for people, stable over renames."""
        ...

    async def download(self, path: str, *, max_bytes: int) -> bytes:
        """Return a file."""
        ...

    @property
    def site(self) -> str:
        """The address of the site."""
        ...

    @property
    def calls(self) -> Mapping[str, int]:
        """Calls made so far, by kind."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...

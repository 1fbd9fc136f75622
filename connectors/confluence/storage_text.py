"""What the converter of the storage format makes of a body. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# Macros of add-ons that show their body by user or group.
_FOR_SOME = frozenset({"show-if", "hide-if", "visibility-show", "visibility-hide", "show-to"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRef:
    """A page as another page's source names it: by id, or by title within a space.

    Attributes:
        space: Key of the space; empty = the space of the page that names it.
        is_blog: Names a blog post.
    """

    title: str = ""
    space: str = ""
    page_id: str = ""
    is_blog: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLink:
    """A link to a page, with the text that stands for it."""

    page: PageRef
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IncludedPage:
    """A place where the text of another page is shown.

    Attributes:
        excerpt: None = all of it; else the excerpt of that name, empty for the one without.
    """

    page: PageRef
    excerpt: str | None = None


Piece = str | IncludedPage
"""Markdown of the page's own, or text from another page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageText:
    """A body as Markdown, cut where other pages are included."""

    pieces: tuple[Piece, ...]
    links: tuple[PageLink, ...] = ()
    files: tuple[str, ...] = ()
    """Names of attachments the text shows or links to."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageContext:
    """What a body does not say itself.

    Attributes:
        title: Title of the page, for links to itself.
        site: Address of the wiki; links to it are links to pages.
        names: Display names by account id, user key or user name.
    """

    title: str = ""
    site: str = ""
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Findings:
    """What is gathered while a body is written."""

    context: StorageContext
    sections: Mapping[int, str]
    links: list[PageLink] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    includes: list[IncludedPage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def mark_include(self, page: IncludedPage) -> str:
        """Take note of an included page and return the mark that holds its place."""
        self.includes.append(page)
        return f"\x00{len(self.includes) - 1}\x00"

    def is_for_some(self, macro: str) -> bool:
        """Tell whether a macro shows its body to some readers only, and take note of it.

        Who they are stands in the vendor's own parameters, so nobody is shown it.
        """
        if macro not in _FOR_SOME:
            return False
        self.notes.append(f"text in the macro {macro!r} is left out: only some readers see it")
        return True

"""A source held in memory that keeps the protocol, and fails on demand."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from core.errors import ResourceGoneError, UnsupportedContentError
from knowledge.access import ALL_MEMBERS, NOBODY, AccessRule
from knowledge.documents import (
    BodyPart,
    Content,
    Document,
    DocumentId,
    Status,
    Version,
)
from knowledge.source import (
    AccessChanged,
    Change,
    Checkpoint,
    Cursor,
    Head,
    KnownDocument,
    ScopeListed,
    Unchanged,
    Upserted,
)

START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class MemoryPage:
    """One page; `number` 0 = the source does not count versions."""

    text: str
    rule: AccessRule = ALL_MEMBERS
    number: int = 1
    at: datetime = START
    title: str = ""
    status: Status = Status.CURRENT
    labels: tuple[str, ...] = ()
    history: tuple[Content, ...] = ()
    included: BodyPart | None = None
    breadcrumbs: tuple[str, ...] = ()


@dataclass
class MemorySource:
    """Pages by key in one scope.

    Attributes:
        broken: Keys that cannot be read, with the reason.
        listing_error: Ends the listing part-way.
        fetched: Keys in the order they were fetched.
    """

    pages: dict[str, MemoryPage]
    name: str = "memory"
    scope: str = "memory"
    broken: dict[str, Exception] = field(default_factory=dict)
    listing_error: str = ""
    gone: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    cursors: list[str] = field(default_factory=list)

    def edit(self, key: str, text: str) -> None:
        """Write the next version of a page, a day later."""
        page = self.pages[key]
        self.pages[key] = replace(
            page,
            text=text,
            number=page.number + 1 if page.number else 0,
            at=page.at + timedelta(days=1),
        )

    def id_of(self, key: str) -> DocumentId:
        """Return a page's document id."""
        return DocumentId(f"{self.name}:{key}")

    async def discover(
        self, cursor: Cursor, known: Mapping[DocumentId, KnownDocument]
    ) -> AsyncIterator[Change]:
        """Yield rules, then pages, in the order of keys."""
        self.cursors.append(cursor)
        for key, page in sorted(self.pages.items()):
            document_id = self.id_of(key)
            held = known.get(document_id)
            if held and held.access_id != page.rule.access_id:
                yield AccessChanged(document_id=document_id, scope=self.scope, rule=page.rule)
            if held and held.token == _token(page):
                yield Unchanged(document_id=document_id, scope=self.scope)
            else:
                yield Upserted(
                    document_id=document_id, scope=self.scope, locator=key, token=_token(page)
                )
        yield Checkpoint(cursor=Cursor(str(len(self.cursors))))
        yield ScopeListed(scope=self.scope, error=self.listing_error)

    async def fetch(self, change: Upserted) -> Document:
        """Return a page whole."""
        self.fetched.append(change.locator)
        if error := self.broken.get(change.locator):
            raise error
        page = self.pages.get(change.locator)
        if page is None:
            raise UnsupportedContentError(f"{change.locator!r} vanished meanwhile")
        parts = (BodyPart(markdown=page.text), *((page.included,) if page.included else ()))
        return Document(
            document_id=change.document_id,
            source=self.name,
            scope=self.scope,
            locator=change.locator,
            url=f"memory/{change.locator}",
            content=Content(
                title=page.title or change.locator,
                parts=parts,
                version=Version(number=page.number, at=page.at),
            ),
            access=page.rule,
            token=_token(page),
            status=page.status,
            labels=page.labels,
            breadcrumbs=page.breadcrumbs,
            history=page.history,
        )

    async def head(self, known: KnownDocument) -> Head:
        """Return a page's token."""
        page = self.pages.get(known.locator)
        if page is None:
            raise ResourceGoneError(f"{known.locator!r} is gone")
        return Head(document_id=known.document_id, token=_token(page), status=page.status)

    async def fetch_access(self, known: KnownDocument) -> AccessRule:
        """Return a page's rule."""
        page = self.pages.get(known.locator)
        return page.rule if page else NOBODY

    async def close(self) -> None:
        """Do nothing."""


def _token(page: MemoryPage) -> str:
    return f"{page.number}/{page.at.isoformat()}/{page.title}/{page.status}/{hash(page.text)}"

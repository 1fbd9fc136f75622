"""What a listed page or attachment means for the ledger: changed, unchanged, other readers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from connectors.confluence import attachments, pages
from connectors.confluence.includes import build_state
from connectors.confluence.model import AttachmentEntry, PageEntry
from connectors.confluence.site import Site
from connectors.confluence.storage_text import PageRef
from connectors.confluence.token import (
    IncludeState,
    PageToken,
    build_attachment_token,
    build_token,
    parse_token,
)
from core.settings import IngestSettings
from knowledge.access import AccessRule
from knowledge.documents import DocumentId
from knowledge.source import AccessChanged, Change, Failed, KnownDocument, Unchanged, Upserted


@dataclass(slots=True, kw_only=True)
class Describer:
    """Compares a site with what the ledger holds of it.

    Attributes:
        holds: When a disappearance is not believed; nothing is tightened because of it either.
    """

    site: Site
    known: Mapping[DocumentId, KnownDocument]
    holds: IngestSettings

    def describe_page(self, entry: PageEntry, *, is_doubtful: bool = False) -> Iterator[Change]:
        """Yield a listed page's changes; `is_doubtful` when its scope seems to have shrunk."""
        document_id, scope = self.site.id_of(entry.page_id), self.site.scope_of(entry.space)
        known = self.known.get(document_id)
        if known is not None and not (is_doubtful and not self.site.rights.is_certain(entry)):
            yield from self.compare_rule(known, self.site.rights.build_rule(entry), scope)
        comments = self.site.comments.get(entry.page_id, ())
        token = parse_token(known.token) if known is not None else None
        is_same = (
            known is not None
            and token is not None
            and known.scope == scope
            and entry.page_id not in self.site.shortened
            and token.is_of(entry, comments=comments)
            and self.has_same_includes(token)
        )
        if is_same:
            yield Unchanged(document_id=document_id, scope=scope)
        else:
            yield self.make_upsert(entry)

    def make_upsert(self, entry: PageEntry) -> Upserted:
        """Return that a page is to be read."""
        token = build_token(entry, revision=entry.revision)
        return Upserted(
            document_id=self.site.id_of(entry.page_id),
            scope=self.site.scope_of(entry.space),
            locator=pages.make_locator(entry),
            token=token.encode(),
        )

    def describe_attachment(self, entry: AttachmentEntry, page: PageEntry) -> Iterator[Change]:
        """Yield a listed attachment's changes; nothing for kinds that are not read."""
        max_bytes = int(self.site.settings.max_file_mb * 1_000_000)
        document_id = self.site.id_of(entry.attachment_id)
        scope = self.site.scope_of(page.space)
        if not attachments.is_readable(entry, max_bytes=max(max_bytes, entry.size)):
            return
        if entry.size > max_bytes:
            reason = (
                f"attachment {entry.file_name!r} of page {page.title!r} is larger than "
                f"{self.site.settings.max_file_mb:g} MB; raise max_file_mb to read it"
            )
            yield Failed(document_id=document_id, scope=scope, reason=reason)
            return
        known = self.known.get(document_id)
        token = build_attachment_token(entry, page)
        if known is not None:
            yield from self.compare_rule(known, self.site.rights.build_rule(page), scope)
            if (known.token, known.scope) == (token, scope):
                yield Unchanged(document_id=document_id, scope=scope)
                return
        yield Upserted(
            document_id=document_id,
            scope=scope,
            locator=attachments.make_locator(entry),
            token=token,
        )

    def compare_rule(
        self, known: KnownDocument, rule: AccessRule, scope: str
    ) -> Iterator[AccessChanged]:
        """Yield the rule when it is another one than the ledger has."""
        if known.access_id != rule.access_id:
            yield AccessChanged(document_id=known.document_id, scope=scope, rule=rule)

    def is_doubtful(self, scope: str, listed: set[DocumentId]) -> bool:
        """Tell whether so much of a scope is missing that it is not believed."""
        ours = [one for one in self.known.values() if one.scope == scope]
        missing = sum(1 for one in ours if one.document_id not in listed)
        if missing == len(ours):
            return bool(ours)
        is_much = missing > self.holds.hold_share * len(ours)
        return missing >= self.holds.hold_min_documents and is_much

    async def prepare_includes(self, tokens: list[PageToken]) -> None:
        """Ask for the included pages of these tokens that are not known, in bulk.

        Raises:
            TransientError: The site did not answer.
        """
        states = [state for token in tokens for state in token.includes]
        ids = {one.page_id for one in states if one.page_id} - self.site.pages.keys()
        if ids:
            found = await self.site.find_pages(ids)
            await self.site.complete_rights(list(found.values()))
        # Rules of pages in other spaces are needed too, as they are now.
        unnamed = [_make_ref(one) for one in states if not one.page_id]
        if unnamed:
            await self.site.find_titles(unnamed, space="")

    def has_same_includes(self, token: PageToken) -> bool:
        """Tell whether every included page is as it was: there, in that version, so readable."""
        return all(self._is_same(state) for state in token.includes)

    def _is_same(self, state: IncludeState) -> bool:
        entry = self.site.pages.get(state.page_id) if state.page_id else None
        if entry is None:
            entry = self.site.find_page(_make_ref(state), space="")
        return build_state(self.site, entry, state.name) == state


def _make_ref(state: IncludeState) -> PageRef:
    space, _, title = state.name.partition("/")
    return PageRef(space=space, title=title) if title else PageRef(page_id=state.name)

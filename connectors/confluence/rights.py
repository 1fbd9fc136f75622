"""Who may read a page: its space AND every ancestor AND the page itself; not known = nobody."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from connectors.confluence.model import ConfluenceApi, PageEntry, Readers, Space
from connectors.confluence.principals import Principals
from core.errors import PermanentError
from knowledge.access import NOBODY, AccessRule, Principal

_IDS_A_SEARCH = 100


@dataclass(slots=True, kw_only=True)
class Rights:
    """What is known of the rights on a site, and how the rest is asked for.

    Attributes:
        fixed_readers: Principals by space key that the operator has given.
        failures: Why the readers of a space are not known, by its key.
    """

    api: ConfluenceApi
    principals: Principals
    fixed_readers: Mapping[str, tuple[str, ...]]
    failures: dict[str, str] = field(default_factory=dict)
    _spaces: dict[str, frozenset[Principal] | None] = field(default_factory=dict)
    _own: dict[str, Readers | None] = field(default_factory=dict)
    _parents: dict[str, str] = field(default_factory=dict)
    _unlisted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Ancestors and own id of parents that no listing names, such as folders."""

    async def read_space(self, space: Space) -> None:
        """Ask who may view a space, anew.

        Raises:
            TransientError: The site did not answer; what was known stays.
        """
        self.failures.pop(space.key, None)
        if space.key in self.fixed_readers:
            self._spaces[space.key] = frozenset(map(Principal, self.fixed_readers[space.key]))
            return
        try:
            readers = await self.api.fetch_space_readers(space)
        except PermanentError as error:
            self._spaces[space.key] = None
            self.failures[space.key] = (
                f"who may view space {space.key!r} can't be read, so nobody reads its pages: "
                f"{error}; give the account the right to see the permissions of the space, or "
                "name its readers in space_readers"
            )
            return
        self._spaces[space.key] = self.principals.build_clause(readers)

    def knows_space(self, key: str) -> bool:
        """Tell whether the readers of a space have been asked for."""
        return key in self._spaces

    def take(self, entries: Iterable[PageEntry]) -> None:
        """Remember what entries say of their own restrictions and places."""
        for entry in entries:
            self._own[entry.page_id] = entry.restriction
            self._parents[entry.page_id] = entry.parent_id

    async def complete(
        self, entries: Collection[PageEntry], *, afresh: bool = False
    ) -> list[PageEntry]:
        """Ask for the restrictions of all ancestors of these pages that are not known.

        Returns the ancestors that were found.

        Args:
            entries: Pages whose own restrictions have been taken.
            afresh: Ask for known ones too, because they may have changed meanwhile.
        """
        found: list[PageEntry] = []
        for entry in entries:
            if entry.ancestors is None:
                await self._find_unlisted(entry)
        wanted = {one for entry in entries for one in self._chain(entry) or ()}
        missing = sorted(wanted if afresh else wanted - self._own.keys())
        for start in range(0, len(missing), _IDS_A_SEARCH):
            found += await self._read(missing[start : start + _IDS_A_SEARCH])
        return found

    def build_rule(self, entry: PageEntry) -> AccessRule:
        """Return who may read a page."""
        space = self._spaces.get(entry.space)
        chain = self._chain(entry)
        if space is None or chain is None or entry.restriction is None:
            return NOBODY
        clauses = [space]
        for restriction in (entry.restriction, *(self._own.get(one) for one in chain)):
            if restriction is None:
                return NOBODY
            # Nobody named means no restriction of its own.
            if not restriction.is_empty:
                clauses.append(self.principals.build_clause(restriction))
        return AccessRule.of(*clauses)

    def is_certain(self, entry: PageEntry) -> bool:
        """Tell whether every ancestor of a page could be read."""
        chain = self._chain(entry)
        return chain is not None and all(self._own.get(one) is not None for one in chain)

    def _chain(self, entry: PageEntry) -> tuple[str, ...] | None:
        """Return the ancestors from the page upwards; None when they are not all known."""
        if entry.ancestors is not None:
            return tuple(reversed(entry.ancestors))
        chain: list[str] = []
        parent = entry.parent_id
        while parent:
            if parent in chain or parent == entry.page_id:
                return None
            if parent in self._unlisted:
                return (*chain, *reversed(self._unlisted[parent]))
            chain.append(parent)
            if parent not in self._parents:
                return None
            parent = self._parents[parent]
        return tuple(chain)

    async def _find_unlisted(self, entry: PageEntry) -> None:
        """Ask for the ancestors of a page whose parents lead out of what was listed."""
        if self._chain(entry) is not None:
            return
        top, child = entry.parent_id, entry.page_id
        seen = {child}
        while top in self._parents and top not in seen:
            seen.add(top)
            top, child = self._parents[top], top
        if top in seen:
            return
        try:
            self._unlisted[top] = await self.api.fetch_ancestors(child)
        except PermanentError:
            # An ancestor that can't be read closes everything below it.
            self._unlisted[top] = (top,)
            self._own[top] = None

    async def _read(self, ids: list[str]) -> list[PageEntry]:
        found: dict[str, PageEntry] = {}
        async for batch in self.api.search(f"id in ({', '.join(ids)})"):
            found |= {one.page_id: one for one in batch.items if isinstance(one, PageEntry)}
        for one in ids:
            entry = found.get(one)
            restriction = entry.restriction if entry else None
            if restriction is None:
                restriction = await self._fetch_own(one)
            self._own[one] = restriction
            if entry is not None:
                found[one] = replace(entry, restriction=restriction)
        return list(found.values())

    async def _fetch_own(self, content_id: str) -> Readers | None:
        try:
            return await self.api.fetch_restriction(content_id)
        except PermanentError:
            return None

"""Which pages of a space have to be looked at first for changed rights. Pure.

A right that is changed at one page closes or opens everything below it. Pages that others stand
below and pages with readers of their own are few, and asking for them alone takes few calls.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from connectors.confluence.token import parse_token
from knowledge.source import KnownDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The pages of a space as the ledger has them.

    Attributes:
        places: Parent of each page; empty at the top.
        access: Id of each page's rule.
    """

    places: Mapping[str, str]
    access: Mapping[str, str]

    def find_decisive(self) -> frozenset[str]:
        """Return the pages that others stand below, and those with another rule than above."""
        above = {place for place in self.places.values() if place in self.places}
        usual, _ = Counter(self.access.values()).most_common(1)[0] if self.access else ("", 0)
        own = {
            page
            for page, place in self.places.items()
            if self.access[page] != self.access.get(place, usual)
        }
        return frozenset(above | own)

    def find_with_descendants(self, pages: Collection[str]) -> frozenset[str]:
        """Return these pages and everything below them."""
        children: defaultdict[str, list[str]] = defaultdict(list)
        for page, place in self.places.items():
            children[place].append(page)
        found: set[str] = set()
        waiting = list(pages)
        while waiting:
            page = waiting.pop()
            if page not in found:
                found.add(page)
                waiting += children[page]
        return frozenset(found)


def build_tree(known: Iterable[KnownDocument], scope: str) -> Tree:
    """Return the pages and blog posts of a scope."""
    places, access = {}, {}
    for one in known:
        token = parse_token(one.token) if one.scope == scope else None
        if token is not None:
            page = one.locator.rpartition("/")[2]
            places[page], access[page] = token.place, one.access_id
    return Tree(places=places, access=access)

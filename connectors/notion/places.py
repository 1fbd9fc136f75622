"""Where every object lies: the tree of pages, databases and data sources. Pure."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from connectors.notion.payloads import NotionObject
from connectors.notion.state import PageState

PlaceKind = Literal["page", "database", "data_source", ""]
_MAX_DEPTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An object in the tree; `parent` is empty at the top of the workspace."""

    object_id: str
    kind: PlaceKind
    title: str
    edited: str
    parent: str


class Places:
    """All objects known, from the ledger at first and as they are listed now."""

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}
        self._children: dict[str, dict[str, None]] = defaultdict(dict)

    def __contains__(self, object_id: str) -> bool:
        return object_id in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def find(self, object_id: str) -> Place | None:
        """Return an object's place, if it is known."""
        return self._places.get(object_id)

    def put(self, place: Place) -> None:
        """Put an object where it lies now."""
        before = self._places.get(place.object_id)
        if before is not None and before.parent != place.parent:
            self._children[before.parent].pop(place.object_id, None)
        self._places[place.object_id] = place
        self._children[place.parent].setdefault(place.object_id)

    def put_object(self, found: NotionObject, *, kind: PlaceKind, parent: str) -> None:
        """Put an object of the API; `parent` must be a page, database or data source."""
        self.put(
            Place(
                object_id=found.id,
                kind=kind,
                title=found.plain_title,
                edited=found.last_edited_time,
                parent=parent,
            )
        )

    def remember(self, object_id: str, state: PageState) -> None:
        """Put a document and what lies above it as the ledger remembers them."""
        parents = (*state.ancestors, "")
        self.put(
            Place(
                object_id=object_id,
                kind=state.kind,
                title=state.title,
                edited=state.edited,
                parent=parents[0],
            )
        )
        # Data sources are no documents; nothing else would remember where they lie.
        for above, parent in zip(state.ancestors, parents[1:], strict=True):
            if above not in self._places and parent:
                self.put(Place(object_id=above, kind="", title="", edited="", parent=parent))

    def drop(self, object_id: str) -> None:
        """Forget an object that is gone."""
        place = self._places.pop(object_id, None)
        if place is not None:
            self._children[place.parent].pop(object_id, None)

    def children(self, object_id: str) -> tuple[str, ...]:
        """Return what is known to lie directly in an object."""
        return tuple(self._children.get(object_id, ()))

    def ancestors(self, object_id: str) -> tuple[str, ...]:
        """Return the ids from an object's parent upwards.

        The last one may be an object that is not shared with us: it is named by its child, and
        what lies above it is not known.
        """
        found: list[str] = []
        place = self._places.get(object_id)
        while place is not None and place.parent and len(found) < _MAX_DEPTH:
            if place.parent in found or place.parent == object_id:
                break
            found.append(place.parent)
            place = self._places.get(place.parent)
        return tuple(found)

    def root(self, object_id: str) -> str:
        """Return the highest object above, or the object itself, that is shared with us."""
        known = [one for one in (object_id, *self.ancestors(object_id)) if one in self._places]
        return known[-1] if known else object_id

"""What one run knows: the tree, the rules, what the ledger holds, what was read and waits."""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from connectors.notion.access_file import AccessFile
from connectors.notion.body import hash_content, pack, unpack
from connectors.notion.client import NotionApi
from connectors.notion.payloads import NotionObject
from connectors.notion.places import Place, PlaceKind, Places
from connectors.notion.reading import BodyReader
from connectors.notion.state import Kind, PageState, is_settled, parse_state
from core.errors import AccessDeniedError, ResourceGoneError, ZhixingError
from core.settings import IngestSettings
from knowledge.access import NOBODY, PUBLIC, AccessRule
from knowledge.documents import DocumentId
from knowledge.source import AccessChanged, Change, Failed, Gone, KnownDocument, Unchanged, Upserted

_PARENT_KINDS: Mapping[str, PlaceKind] = {
    "page_id": "page",
    "block_id": "page",
    "database_id": "database",
    "data_source_id": "data_source",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A document as it was just read.

    Attributes:
        content: Hash of everything that is written from what was read.
    """

    object_id: str
    kind: Kind
    title: str
    edited: str
    content: str
    read_at: datetime


@dataclass(slots=True, kw_only=True)
class Round:
    """One run.

    Attributes:
        known: What the ledger holds, by Notion id.
        states: Their tokens, as far as they can be read.
        unshared: Objects that are named but not shared with us.
        closed_tables: Databases that nobody may read until their tables are written anew.
        waiting: Packed readings of documents that ingestion has not fetched yet.
        today: The day that goes into states.
        ingest: When a disappearance is not believed.
        keeps_history: Documents keep what they said before.
        roots: Those the operator has chosen; empty = everything that is shared.
    """

    name: str
    api: NotionApi
    access: AccessFile
    setup: str
    today: str = ""
    keeps_history: bool = False
    ingest: IngestSettings = field(default_factory=IngestSettings)
    roots: frozenset[str] = frozenset()
    places: Places = field(default_factory=Places)
    known: dict[str, KnownDocument] = field(default_factory=dict)
    states: dict[str, PageState] = field(default_factory=dict)
    unshared: set[str] = field(default_factory=set)
    waiting: dict[str, bytes] = field(default_factory=dict)
    closed_tables: dict[str, None] = field(default_factory=dict)
    reader: BodyReader = field(init=False)
    _told: dict[str, str] = field(default_factory=dict)
    _placed: dict[str, Kind] = field(default_factory=dict)
    _parent_kinds: dict[str, PlaceKind] = field(default_factory=dict)
    _block_pages: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reader = BodyReader(self.api)

    def remember(self, known: Mapping[DocumentId, KnownDocument]) -> None:
        """Take in what the ledger holds of this source."""
        for document_id, one in known.items():
            source, _, object_id = document_id.partition(":")
            if source != self.name:
                continue
            self.known[object_id] = one
            state = parse_state(one.token)
            if state is not None:
                self.states[object_id] = state
                self.places.remember(object_id, state)

    def document_id(self, object_id: str) -> DocumentId:
        """Return the id of the document of a page or database."""
        return DocumentId(f"{self.name}:{object_id}")

    def rule(self, object_id: str) -> AccessRule:
        """Return who may read an object: the nearest entry of the access file says it."""
        return self.access.find_rule((object_id, *self.places.ancestors(object_id)))

    def scope(self, object_id: str) -> str:
        """Return the root an object lies under."""
        for one in reversed(self.places.ancestors(object_id)):
            if one in self.roots:
                return one
        return object_id if object_id in self.roots else self.places.root(object_id)

    def is_wanted(self, object_id: str) -> bool:
        """Tell whether an object lies under one of the chosen roots."""
        chain = (object_id, *self.places.ancestors(object_id))
        return not self.roots or not self.roots.isdisjoint(chain)

    def databases_above(self, object_id: str) -> tuple[str, ...]:
        """Return the database an object is a row of, if it is one."""
        above = self.places.ancestors(object_id)[:2]
        is_row = bool(above) and self.kind_of(above[0]) in {"database", "data_source"}
        return tuple(one for one in above if self.kind_of(one) == "database") if is_row else ()

    def kind_of(self, object_id: str) -> PlaceKind:
        """Return what an object is, as far as it is known."""
        place = self.places.find(object_id)
        return (place.kind if place else "") or self._parent_kinds.get(object_id, "")

    def find_title(self, target: str, readers: AccessRule) -> str | None:
        """Return a title that those readers may all see; None for any other."""
        place = self.places.find(target)
        if place is None or not implies(readers, self.rule(target)):
            return None
        return place.title or None

    def describe_dependence(self, own: str, target: str, *, has_text: bool) -> str:
        """Return the state of another page as far as a page that shows it depends on it.

        Args:
            own: The page that shows it.
            target: The page that is shown.
            has_text: Its text is shown, and not only its title.
        """
        title = self.find_title(target, self.rule(own)) or ""
        if not has_text:
            return hash_content(title)[:12]
        place = self.places.find(target)
        edited = place.edited if place else ""
        return "+" + hash_content(title, edited, self.rule(target).access_id)[:12]

    async def put(self, found: NotionObject, kind: PlaceKind, *, parent: str = "") -> None:
        """Put an object into the tree, and what lies above it if that is not known yet.

        Args:
            found: The object.
            kind: What it is.
            parent: The page it was found on, where its own word is a block.
        """
        above = found.parent
        place = parent
        if above.type == "block_id" and not place:
            place = await self._find_block_page(above.block_id)
        elif above.type != "block_id":
            place = above.place
        if place and above.type in _PARENT_KINDS:
            self._parent_kinds.setdefault(place, _PARENT_KINDS[above.type])
        self.places.put_object(found, kind=kind, parent=place)
        if above.data_source_id and above.database_id and above.data_source_id not in self.places:
            self._put_source(above.data_source_id, above.database_id)
        await self._climb(found.id)

    def judge(self, found: Found) -> Iterator[Change]:
        """Say what a document that was just read means for the index."""
        yield from self.tell_rule(found.object_id)
        known, before = self.known.get(found.object_id), self.states.get(found.object_id)
        now = PageState(
            kind=found.kind,
            edited=found.edited,
            is_settled=is_settled(found.edited, found.read_at),
            title=found.title,
            ancestors=self.places.ancestors(found.object_id),
            content=found.content,
            depends=before.depends if before else {},
            setup=self.setup,
            read_on=self.today,
        )
        is_same = before is not None and before.content == now.content
        if known is not None and is_same and not self.has_moved(found.object_id):
            token = now.encode()
            yield Unchanged(
                document_id=known.document_id,
                scope=self.scope(found.object_id),
                token="" if token == known.token else token,
            )
            return
        yield self.build_upsert(found.object_id, found.kind, attempt=found.content)

    def build_upsert(self, object_id: str, kind: Kind, *, attempt: str = "") -> Upserted:
        """Return the order to fetch a document."""
        return Upserted(
            document_id=self.document_id(object_id),
            scope=self.scope(object_id),
            locator=build_locator(kind, object_id),
            token=f"{attempt}|{self.setup}" if attempt else "",
        )

    def fail(self, object_id: str, reason: str) -> Failed:
        """Return the record of a document that could not be listed."""
        return Failed(
            document_id=self.document_id(object_id), scope=self.scope(object_id), reason=reason
        )

    def lose(self, object_id: str) -> Gone:
        """Return the news that a document is gone."""
        return Gone(document_id=self.document_id(object_id), scope=self.known[object_id].scope)

    def has_moved(self, object_id: str) -> bool:
        """Tell whether a document must be written anew though its own text is the same."""
        before, known = self.states.get(object_id), self.known.get(object_id)
        place = self.places.find(object_id)
        if before is None or known is None or place is None or object_id in self.closed_tables:
            return True
        is_elsewhere = (
            before.ancestors != self.places.ancestors(object_id)
            or before.title != place.title
            or before.setup != self.setup
            or known.scope != self.scope(object_id)
        )
        return is_elsewhere or self.shows_old(object_id, before)

    def shows_old(self, object_id: str, before: PageState) -> bool:
        """Tell whether another page that a document shows reads or is read differently now."""
        return any(
            state != self.describe_dependence(object_id, target, has_text=state.startswith("+"))
            for target, state in before.depends.items()
        )

    def tell_rule(self, object_id: str) -> Iterator[AccessChanged]:
        """Yield the rule of a document when it is not the ledger's, once.

        The table a row stands in shows the row under the table's rule: when the row's own rule
        has changed, nobody may read the table until it is written anew.
        """
        known, state = self.known.get(object_id), self.states.get(object_id)
        kind = state.kind if state else self._placed.get(object_id)
        # Where nobody knows where it lies, it is about to be read, rule and all.
        if known is None or kind is None:
            return
        rule = self.rule(object_id)
        told = self._told.get(object_id, known.access_id)
        if told == rule.access_id:
            return
        if kind == "database" and told == NOBODY.access_id:
            self.closed_tables.setdefault(object_id)
            return
        self._told[object_id] = rule.access_id
        yield AccessChanged(document_id=known.document_id, scope=known.scope, rule=rule)
        for database_id in self.databases_above(object_id):
            yield from self._close_table(database_id)

    def _close_table(self, database_id: str) -> Iterator[AccessChanged]:
        known = self.known.get(database_id)
        if known is not None and database_id not in self.closed_tables:
            self.closed_tables[database_id] = None
            self._told[database_id] = NOBODY.access_id
            yield AccessChanged(document_id=known.document_id, scope=known.scope, rule=NOBODY)

    async def place_forgotten(self) -> AsyncIterator[AccessChanged]:
        """Find out where documents lie whose state is gone, as of those whose text is owed anew.

        Their rule depends on it and must not wait for their text. Nobody may read what is not to
        be placed, until it is read again.
        """
        for object_id, known in self.known.items():
            if object_id in self.states:
                continue
            kind, _ = parse_locator(known.locator)
            try:
                await self.put(await self.fetch_any(object_id, kind), kind)
            except ZhixingError:
                if known.access_id != NOBODY.access_id:
                    yield AccessChanged(
                        document_id=known.document_id, scope=known.scope, rule=NOBODY
                    )
                continue
            self._placed[object_id] = kind

    def keep(self, object_id: str, value: object) -> None:
        """Keep a reading until its document is fetched."""
        self.waiting[object_id] = pack(value)

    def take(self, object_id: str) -> Any:  # noqa: ANN401 - JSON of whatever was kept
        """Return a reading that was kept, once; None when there is none."""
        data = self.waiting.pop(object_id, None)
        return None if data is None else unpack(data)

    async def _find_block_page(self, block_id: str) -> str:
        if block_id not in self._block_pages:
            try:
                self._block_pages[block_id] = await self.reader.find_page(block_id)
            except (ResourceGoneError, AccessDeniedError):
                return block_id
        return self._block_pages[block_id]

    async def _climb(self, object_id: str) -> None:
        """Learn what lies above an object, up to the top or to what is not shared with us."""
        while True:
            top = (object_id, *self.places.ancestors(object_id))[-1]
            if top in self.places or top in self.unshared:
                return
            kind = self._parent_kinds.get(top, "page")
            try:
                found = await self.fetch_any(top, kind)
            except (ResourceGoneError, AccessDeniedError):
                self.unshared.add(top)
                return
            place = found.parent.place
            if found.parent.type == "block_id":
                place = await self._find_block_page(found.parent.block_id)
            if place:
                self._parent_kinds.setdefault(place, _PARENT_KINDS.get(found.parent.type, "page"))
            self.places.put_object(found, kind=kind, parent=place)

    async def fetch_any(self, object_id: str, kind: PlaceKind) -> NotionObject:
        """Fetch an object by what it is."""
        match kind:
            case "database":
                return await self.api.fetch_database(object_id)
            case "data_source":
                return await self.api.fetch_data_source(object_id)
            case _:
                return await self.api.fetch_page(object_id)

    def _put_source(self, source_id: str, database_id: str) -> None:
        self._parent_kinds.setdefault(database_id, "database")
        self.places.put(
            Place(object_id=source_id, kind="data_source", title="", edited="", parent=database_id)
        )


def implies(readers: AccessRule, other: AccessRule) -> bool:
    """Tell whether everybody who satisfies one rule is sure to satisfy another one."""
    return all(
        PUBLIC in clause or any(own <= clause for own in readers.clauses)
        for clause in other.clauses
    )


def build_locator(kind: Kind, object_id: str) -> str:
    """Return where a document is kept: what it is, and its id."""
    return f"{kind}/{object_id}"


def parse_locator(locator: str) -> tuple[Kind, str]:
    """Undo `build_locator`."""
    kind, _, object_id = locator.partition("/")
    return ("database" if kind == "database" else "page"), object_id

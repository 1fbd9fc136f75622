"""Reads the blocks of a page, and what they show of other pages."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from connectors.notion.blocks import SyncedText
from connectors.notion.body import Node, RawBlock, attach_children, parse_nodes, prune_block
from connectors.notion.client import NotionApi
from connectors.notion.ids import normalise_id
from connectors.notion.payloads import Parent
from core.errors import AccessDeniedError, ResourceGoneError

MAX_DEPTH = 60
MAX_BLOCKS = 20_000
_MAX_CLIMB = 60
_MAX_ORIGINS = 200
_CHILDREN_OF_OWN = {"child_page": "page", "child_database": "database"}


@dataclass(slots=True, kw_only=True)
class Body:
    """The blocks of a page, pruned.

    Attributes:
        children: Pages and databases that lie in it, by id: `page` or `database`.
        notes: What was left out.
    """

    blocks: list[RawBlock] = field(default_factory=list)
    children: dict[str, str] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)


class BodyReader:
    """Reads bodies block by block; one serves one run."""

    def __init__(self, api: NotionApi) -> None:
        self._api = api
        self._originals: OrderedDict[str, SyncedText | None] = OrderedDict()

    async def read(self, page_id: str) -> Body:
        """Return everything below a page or block, save what lies in pages below it.

        Blocks nested deeper than `MAX_DEPTH`, beyond `MAX_BLOCKS`, or within themselves are left
        out with a note.
        """
        body = Body()
        seen = {page_id}
        body.blocks = await self._read_below(page_id, body, seen, 0)
        return body

    async def read_originals(self, nodes: Iterable[Node]) -> dict[str, SyncedText]:
        """Return the originals of all synced copies, and of the copies within those.

        One that is not shared with us is missing from the answer: whose text it is can't be told.
        """
        found: dict[str, SyncedText] = {}
        waiting = [*_find_sources(nodes)]
        while waiting and len(found) < _MAX_ORIGINS:
            block_id = waiting.pop()
            if block_id in found:
                continue
            original = await self._get_original(block_id)
            if original is not None:
                found[block_id] = original
                waiting += _find_sources(original.nodes)
        return found

    async def find_page(self, block_id: str) -> str:
        """Return the page a block stands on.

        Raises:
            ResourceGoneError: It is not shared with us.
        """
        for _ in range(_MAX_CLIMB):
            raw = await self._api.fetch_block(block_id)
            parent = Parent.model_validate(raw.get("parent") or {})
            if parent.type != "block_id" and parent.place:
                return parent.place
            if not parent.place:
                break
            block_id = parent.block_id
        raise ResourceGoneError(f"the page of block {block_id!r} can't be told")

    async def _read_below(
        self, block_id: str, body: Body, seen: set[str], depth: int
    ) -> list[RawBlock]:
        if depth >= MAX_DEPTH:
            body.notes[f"blocks nested deeper than {MAX_DEPTH} levels are left out"] = None
            return []
        kept: list[RawBlock] = []
        for raw in await self._api.fetch_children(block_id):
            child_id = normalise_id(str(raw["id"]))
            if child_id in seen or len(seen) > MAX_BLOCKS:
                body.notes["blocks within themselves, or too many of them, are left out"] = None
                continue
            seen.add(child_id)
            block = prune_block(raw)
            kept.append(block)
            kind = _CHILDREN_OF_OWN.get(str(raw.get("type")))
            if kind is not None:
                body.children[child_id] = kind
            elif raw.get("has_children") and not _is_copy(raw):
                attach_children(block, await self._read_below(child_id, body, seen, depth + 1))
        return kept

    async def _get_original(self, block_id: str) -> SyncedText | None:
        if block_id in self._originals:
            return self._originals[block_id]
        try:
            page = await self.find_page(block_id)
            body = await self.read(block_id)
            found = SyncedText(page=page, nodes=parse_nodes(body.blocks)) if page else None
        except (ResourceGoneError, AccessDeniedError):
            found = None
        self._originals[block_id] = found
        if len(self._originals) > _MAX_ORIGINS:
            self._originals.popitem(last=False)
        return found


def _is_copy(raw: RawBlock) -> bool:
    synced = raw.get("synced_block")
    return isinstance(synced, dict) and bool(synced.get("synced_from"))


def _find_sources(nodes: Iterable[Node]) -> list[str]:
    return [
        source.block_id
        for top in nodes
        for node in top.walk()
        if (source := node.block.body.synced_from) is not None and source.block_id
    ]

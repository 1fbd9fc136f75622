"""The state of the workspace: pages, databases, blocks, who shares what; and how it is changed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.clock import Clock, SystemClock

Json = dict[str, Any]

CONTENT_FILE, ACCESS_FILE = "notion.json", "notion_access.json"
_KINDS = ("pages", "databases", "data_sources")


@dataclass(slots=True, kw_only=True)
class HostedFile:
    """A file in the workspace's own storage."""

    name: str
    data: bytes


@dataclass(slots=True, kw_only=True)
class Workspace:
    """Everything the workspace holds; objects have the shape of API version 2025-09-03.

    Attributes:
        objects: Pages, databases and data sources by id.
        blocks: The children of every page and block, by its id.
        hidden: Objects that are not shared with the integration.
        access: Entries of the access file by id.
        access_path: Where that file lies; written anew on every change of `access`.
        unsearchable: What the search index never finds.
        made: How many objects and blocks were made here; ids count on from it.
        search_lags: Edits reach the search index only by `catch_up_search`.
    """

    objects: dict[str, Json] = field(default_factory=dict)
    blocks: dict[str, list[Json]] = field(default_factory=dict)
    users: list[Json] = field(default_factory=list)
    comments: dict[str, list[Json]] = field(default_factory=dict)
    files: dict[str, HostedFile] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    access: dict[str, Json] = field(default_factory=dict)
    access_path: Path | None = None
    unsearchable: set[str] = field(default_factory=set)
    search_lags: bool = False
    made: int = 0
    clock: Clock = field(default_factory=SystemClock)
    _indexed: dict[str, str] = field(default_factory=dict)
    _owners: dict[str, str] = field(default_factory=dict)
    _version: int = 0
    _search: tuple[object, list[Json]] = (None, [])

    @classmethod
    def load(cls, folder: Path) -> "Workspace":
        """Read a company's workspace. Blocking."""
        content = json.loads((folder / CONTENT_FILE).read_text(encoding="utf-8"))
        access_path = folder / ACCESS_FILE
        access = json.loads(access_path.read_text(encoding="utf-8")) if access_path.exists() else {}
        workspace = cls(
            objects={one["id"]: one for kind in _KINDS for one in content.get(kind, [])},
            blocks=content.get("block_children", {}),
            users=content.get("users", []),
            access=access.get("pages", {}),
        )
        workspace.catch_up_search()
        return workspace

    # Reading

    def find(self, object_id: str, kind: str = "") -> Json | None:
        """Return an object that is shared with the integration; None for any other."""
        found = self.objects.get(object_id)
        if found is None or object_id in self.hidden or (kind and found["object"] != kind):
            return None
        return found

    def find_block(self, block_id: str) -> Json | None:
        """Return a block, or the block that stands for a page; None when it is not shared."""
        page = self.page_of(block_id)
        if page is None or page in self.hidden or block_id in self.hidden:
            return None
        siblings = self.blocks.get(self._owner_of(block_id) or "", [])
        return next((one for one in siblings if one["id"] == block_id), None)

    def children(self, block_id: str) -> list[Json] | None:
        """Return the blocks directly below a page or block; None when it is not shared."""
        owner = self.page_of(block_id)
        if owner is None or self.find(owner) is None or block_id in self.hidden:
            return None
        return [one for one in self.blocks.get(block_id, []) if not self._is_trashed_child(one)]

    def rows(self, source_id: str) -> list[Json]:
        """Return the rows of a data source, oldest first."""
        found = [
            one
            for one in self.objects.values()
            if one["object"] == "page"
            and one["parent"].get("data_source_id") == source_id
            and one["id"] not in self.hidden
            and not one.get("in_trash")
        ]
        return sorted(found, key=lambda one: (one.get("created_time", ""), one["id"]))

    def searchable(self) -> list[Json]:
        """Return what the search index has, latest known edit first."""
        state = (self._version, frozenset(self.hidden), frozenset(self.unsearchable))
        if self._search[0] != state:
            self._search = (state, self._find_searchable())
        return self._search[1]

    def _find_searchable(self) -> list[Json]:
        found = [
            one
            for one in self.objects.values()
            if one["object"] in {"page", "data_source"}
            and one["id"] in self._indexed
            and one["id"] not in self.unsearchable
            and not self.is_out_of_sight(one["id"])
        ]
        return sorted(found, key=lambda one: (self._indexed[one["id"]], one["id"]), reverse=True)

    def is_out_of_sight(self, object_id: str) -> bool:
        """Tell whether an object is not shared, or it or something above it is in the trash."""
        if object_id in self.hidden:
            return True
        above: str | None = object_id
        while above and above in self.objects:
            if self.objects[above].get("in_trash"):
                return True
            above = self.parent_of(above)
        return False

    def parent_of(self, object_id: str) -> str | None:
        """Return the object another one lies in; None at the top."""
        parent = self.objects[object_id]["parent"]
        if parent["type"] == "block_id":
            return self.page_of(parent["block_id"])
        if parent["type"] == "workspace":
            return None
        return str(parent[parent["type"]])

    def page_of(self, block_id: str) -> str | None:
        """Return the page a block stands on; a page's own id for itself."""
        if block_id in self.objects:
            return block_id
        above = self._owner_of(block_id)
        for _ in range(len(self._owners) + 1):
            if above is None or above in self.objects:
                return above
            above = self._owner_of(above)
        return None

    # Changing

    def replace_block(self, block: Json, edited: str = "") -> None:
        """Put a block in the place of the one with its id."""
        for owner, blocks in self.blocks.items():
            for index, one in enumerate(blocks):
                if one["id"] == block["id"]:
                    blocks[index] = block
                    self.touch(self.page_of(owner), edited)
                    return
        raise KeyError(block["id"])

    def update_page(self, page_id: str, values: Mapping[str, Any], edited: str = "") -> None:
        """Change a page: its properties one by one, its trash mark, anything else as a whole."""
        page = self.objects[page_id]
        for key, value in values.items():
            if key == "properties":
                page["properties"].update(value)
            else:
                page[key] = value
        self.touch(page_id, edited)

    def set_access(self, object_id: str, entry: Json | None) -> None:
        """Set or remove an entry of the access file."""
        if entry is None:
            self.access.pop(object_id, None)
        else:
            self.access[object_id] = entry
        if self.access_path is not None:
            self.write_access(self.access_path)

    def write_access(self, path: Path) -> None:
        """Write the access file, now and after every change from here on. Blocking."""
        self.access_path = path
        path.write_text(json.dumps({"pages": self.access}, ensure_ascii=False), encoding="utf-8")

    def catch_up_search(self) -> None:
        """Let the search index learn of all edits."""
        self._version += 1
        self._indexed = {
            key: str(one.get("last_edited_time", "")) for key, one in self.objects.items()
        }

    def _owner_of(self, block_id: str) -> str | None:
        if block_id not in self._owners:
            self._owners = {block["id"]: owner for owner, block in self.all_blocks()}
        return self._owners.get(block_id)

    def own(self, block_id: str, owner: str) -> None:
        """Note where a new block lies."""
        self._owners[block_id] = owner

    def forget_orders(self) -> None:
        """Note that blocks lie elsewhere than before."""
        self._owners.clear()
        self._version += 1

    def all_blocks(self) -> Iterator[tuple[str, Json]]:
        """Yield every block with the page or block it lies in."""
        for owner, blocks in self.blocks.items():
            for block in blocks:
                yield owner, block

    def _is_trashed_child(self, block: Json) -> bool:
        return bool(self.objects.get(block["id"], {}).get("in_trash"))

    def touch(self, object_id: str | None, edited: str = "") -> None:
        """Note an edit of a page, now or when it is said to have been."""
        self._version += 1
        if object_id is None or object_id not in self.objects:
            return
        self.objects[object_id]["last_edited_time"] = edited or self.now()
        self.index(object_id)

    def index(self, object_id: str) -> None:
        """Let the search index know an object, unless it lags."""
        self._version += 1
        if not self.search_lags:
            self._indexed[object_id] = str(self.objects[object_id]["last_edited_time"])

    def now(self) -> str:
        """Return the workspace's time as the API writes it, to the second."""
        moment: datetime = self.clock.now().astimezone(UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")

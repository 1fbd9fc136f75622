"""Changes to the workspace as people make them: pages, blocks, rows, files, moves, the trash."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from playground.notion.workspace import HostedFile, Json, Workspace


class Editor:
    """Changes a workspace; every change moves the edited page's time and the search index."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def edit_text(self, block_id: str, text: str) -> None:
        """Give a block another text."""
        found = copy.deepcopy(self.workspace.find_block(block_id))
        if found is None:
            raise KeyError(block_id)
        found[found["type"]]["rich_text"] = rich_text(text)
        self.workspace.replace_block(found)

    def add_block(self, owner: str, kind: str, body: Mapping[str, Any], **more: Any) -> str:  # noqa: ANN401 - JSON
        """Add a block at the end of a page or block; returns its id."""
        block_id = self._new_id()
        block: Json = {
            "object": "block",
            "id": block_id,
            "type": kind,
            "parent": self._describe_parent(owner),
            "has_children": False,
            "created_time": self.workspace.now(),
            "last_edited_time": self.workspace.now(),
            "archived": False,
            "in_trash": False,
            kind: dict(body),
            **more,
        }
        self.workspace.blocks.setdefault(owner, []).append(block)
        self.workspace.own(block_id, owner)
        if owner not in self.workspace.objects and (parent := self.workspace.find_block(owner)):
            parent["has_children"] = True
        self.workspace.touch(self.workspace.page_of(owner))
        return block_id

    def add_text(self, owner: str, text: str, kind: str = "paragraph") -> str:
        """Add a block of text; returns its id."""
        return self.add_block(owner, kind, {"rich_text": rich_text(text)})

    def add_page(self, title: str, parent: str = "", *, properties: Json | None = None) -> str:
        """Make a page at the top, in a page or block, or as a row of a data source; its id."""
        page_id = self._new_id()
        self.workspace.objects[page_id] = {
            "object": "page",
            "id": page_id,
            "parent": self._describe_parent(parent),
            "properties": {
                self._title_column(parent): {
                    "id": "title",
                    "type": "title",
                    "title": rich_text(title),
                },
                **(properties or {}),
            },
            "url": f"https://www.notion.so/{page_id.replace('-', '')}",
            **self._new_stamps(),
        }
        if parent and self.workspace.objects.get(parent, {}).get("object") != "data_source":
            self._add_child_block(parent, page_id, "child_page", title)
        self.workspace.index(page_id)
        return page_id

    def add_database(self, title: str, parent: str, columns: Json | None = None) -> tuple[str, str]:
        """Make a database with one data source in a page; returns both ids."""
        database_id, source_id = self._new_id(), self._new_id()
        self.workspace.objects[database_id] = {
            "object": "database",
            "id": database_id,
            "title": rich_text(title),
            "description": [],
            "parent": self._describe_parent(parent),
            "data_sources": [],
            "url": f"https://www.notion.so/{database_id.replace('-', '')}",
            **self._new_stamps(),
        }
        self._add_child_block(parent, database_id, "child_database", title)
        self.add_data_source(title, database_id, columns, source_id=source_id)
        return database_id, source_id

    def add_data_source(
        self, title: str, database: str, columns: Json | None = None, *, source_id: str = ""
    ) -> str:
        """Give a database one more data source; returns its id."""
        source_id = source_id or self._new_id()
        title_column = {"id": "title", "name": "Name", "type": "title", "title": {}}
        self.workspace.objects[source_id] = {
            "object": "data_source",
            "id": source_id,
            "title": rich_text(title),
            "description": [],
            "parent": {"type": "database_id", "database_id": database},
            "properties": {"Name": title_column, **(columns or {})},
            **self._new_stamps(),
        }
        self.workspace.objects[database]["data_sources"].append({"id": source_id, "name": title})
        self.workspace.index(source_id)
        return source_id

    def add_file(self, name: str, data: bytes) -> str:
        """Store a file; returns the id that blocks name it by."""
        file_id = self._new_id()
        self.workspace.files[file_id] = HostedFile(name=name, data=data)
        return file_id

    def rename_page(self, page_id: str, title: str) -> None:
        """Give a page another title."""
        value = {"id": "title", "type": "title", "title": rich_text(title)}
        page = self.workspace.objects[page_id]
        name = next(k for k, one in page["properties"].items() if one["type"] == "title")
        self.workspace.update_page(page_id, {"properties": {name: value}})
        for _, block in self.workspace.all_blocks():
            if block["id"] == page_id:
                block[block["type"]]["title"] = title

    def move_page(self, page_id: str, parent: str) -> None:
        """Move a page into another one, or to the top with an empty id."""
        self._remove_child_block(page_id)
        self.workspace.objects[page_id]["parent"] = self._describe_parent(parent)
        if parent and self.workspace.objects.get(parent, {}).get("object") != "data_source":
            title = "".join(t["plain_text"] for t in self._title_of(page_id))
            self._add_child_block(parent, page_id, "child_page", title)
        self.workspace.touch(page_id)

    def trash_page(self, page_id: str) -> None:
        """Move a page to the trash."""
        self.workspace.update_page(page_id, {"in_trash": True, "archived": True})

    def restore_page(self, page_id: str) -> None:
        """Take a page out of the trash."""
        self.workspace.update_page(page_id, {"in_trash": False, "archived": False})

    def remove_page(self, page_id: str) -> None:
        """Delete a page for ever."""
        self._remove_child_block(page_id)
        del self.workspace.objects[page_id]
        self.workspace.forget_orders()

    def _describe_parent(self, parent: str) -> Json:
        if not parent:
            return {"type": "workspace", "workspace": True}
        found = self.workspace.objects.get(parent)
        if found is None:
            return {"type": "block_id", "block_id": parent}
        if found["object"] == "data_source":
            database = found["parent"]["database_id"]
            return {"type": "data_source_id", "data_source_id": parent, "database_id": database}
        key = f"{found['object']}_id"
        return {"type": key, key: parent}

    def _add_child_block(self, owner: str, object_id: str, kind: str, title: str) -> None:
        self.add_block(owner, kind, {"title": title})
        self.workspace.blocks[owner][-1]["id"] = object_id
        self.workspace.forget_orders()

    def _remove_child_block(self, object_id: str) -> None:
        for owner, blocks in self.workspace.blocks.items():
            kept = [one for one in blocks if one["id"] != object_id]
            if len(kept) < len(blocks):
                self.workspace.blocks[owner] = kept
                self.workspace.forget_orders()
                self.workspace.touch(self.workspace.page_of(owner))

    def _title_column(self, parent: str) -> str:
        """Return what the title of a page in that place is called."""
        columns: Json = self.workspace.objects.get(parent, {}).get("properties", {})
        is_source = self.workspace.objects.get(parent, {}).get("object") == "data_source"
        names = [name for name, one in columns.items() if one["type"] == "title"]
        return names[0] if is_source and names else "title"

    def _title_of(self, page_id: str) -> Sequence[Json]:
        values: Iterable[Json] = self.workspace.objects[page_id]["properties"].values()
        return next((one["title"] for one in values if one["type"] == "title"), [])

    def _new_id(self) -> str:
        self.workspace.made += 1
        return str(uuid5(NAMESPACE_URL, f"playground:notion:{self.workspace.made}"))

    def _new_stamps(self) -> Json:
        return {
            "created_time": self.workspace.now(),
            "last_edited_time": self.workspace.now(),
            "archived": False,
            "in_trash": False,
        }


def rich_text(text: str) -> list[Json]:
    """Return text as the API writes it; an empty list for none."""
    if not text:
        return []
    return [
        {
            "type": "text",
            "text": {"content": text, "link": None},
            "annotations": {"bold": False, "strikethrough": False, "code": False},
            "plain_text": text,
            "href": None,
        }
    ]

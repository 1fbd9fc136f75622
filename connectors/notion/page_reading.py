"""A page or database as it was read, whole: from it the document is written. JSON in between."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from connectors.notion.body import RawBlock, hash_content
from connectors.notion.client import NotionApi
from connectors.notion.payloads import Comment, NotionObject
from connectors.notion.properties import needs_more
from connectors.notion.reading import Body, BodyReader
from connectors.notion.round import Found

# What of an object nobody reads, or what changes by itself.
_UNREAD = {"created_time", "last_edited_time", "archived", "in_trash", "parent"}


@dataclass(slots=True, kw_only=True)
class PageReading:
    """A page with its blocks."""

    found: NotionObject
    body: Body
    comments: tuple[Comment, ...] = ()
    read_at: datetime

    @classmethod
    async def read(
        cls,
        api: NotionApi,
        reader: BodyReader,
        found: NotionObject,
        *,
        comments: bool,
        read_at: datetime,
    ) -> "PageReading":
        """Read a page whole.

        Args:
            api: What to ask.
            reader: Who reads blocks.
            found: The page itself.
            comments: Read them too.
            read_at: The moment before `found` was read.
        """
        body = await reader.read(found.id)
        said = tuple(await api.fetch_comments(found.id)) if comments else ()
        return cls(found=found, body=body, comments=said, read_at=read_at)

    def describe(self) -> Found:
        """Return what a listing compares."""
        # Beyond 25 references only the moment of editing tells that something is different.
        is_cut = any(needs_more(one) for one in self.found.properties.values())
        content = hash_content(
            self.found.model_dump(mode="json", exclude=_UNREAD),
            _drop_moments(self.body.blocks),
            [one.model_dump(mode="json") for one in self.comments],
            self.found.last_edited_time if is_cut else "",
        )
        return Found(
            object_id=self.found.id,
            kind="page",
            title=self.found.plain_title,
            edited=self.found.last_edited_time,
            content=content,
            read_at=self.read_at,
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "found": self.found.model_dump(mode="json"),
            "blocks": self.body.blocks,
            "children": self.body.children,
            "notes": list(self.body.notes),
            "comments": [one.model_dump(mode="json") for one in self.comments],
            "read_at": self.read_at.isoformat(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "PageReading":
        """Undo `to_json`."""
        return cls(
            found=NotionObject.model_validate(value["found"]),
            body=Body(
                blocks=value["blocks"],
                children=value["children"],
                notes=dict.fromkeys(value["notes"]),
            ),
            comments=tuple(Comment.model_validate(one) for one in value["comments"]),
            read_at=datetime.fromisoformat(value["read_at"]),
        )


@dataclass(slots=True, kw_only=True)
class SourceReading:
    """A data source with its first rows; `has_more` = there are others."""

    found: NotionObject
    rows: list[NotionObject] = field(default_factory=list)
    has_more: bool = False


@dataclass(slots=True, kw_only=True)
class DatabaseReading:
    """A database with its data sources."""

    found: NotionObject
    sources: list[SourceReading] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    read_at: datetime

    @property
    def edited(self) -> str:
        """The latest edit of the database, its columns or its rows."""
        moments = [self.found.last_edited_time]
        for source in self.sources:
            moments.append(source.found.last_edited_time)
            moments += [row.last_edited_time for row in source.rows]
        return max(moments)

    def describe(self) -> Found:
        """Return what a listing compares."""
        content = hash_content(
            self.found.model_dump(mode="json", exclude=_UNREAD),
            [
                [
                    source.found.model_dump(mode="json", exclude=_UNREAD),
                    [row.model_dump(mode="json", exclude=_UNREAD) for row in source.rows],
                    source.has_more,
                ]
                for source in self.sources
            ],
        )
        return Found(
            object_id=self.found.id,
            kind="database",
            title=self.found.plain_title,
            edited=self.edited,
            content=content,
            read_at=self.read_at,
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "found": self.found.model_dump(mode="json"),
            "sources": [
                {
                    "found": source.found.model_dump(mode="json"),
                    "rows": [row.model_dump(mode="json") for row in source.rows],
                    "has_more": source.has_more,
                }
                for source in self.sources
            ],
            "notes": list(self.notes),
            "read_at": self.read_at.isoformat(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "DatabaseReading":
        """Undo `to_json`."""
        return cls(
            found=NotionObject.model_validate(value["found"]),
            sources=[
                SourceReading(
                    found=NotionObject.model_validate(one["found"]),
                    rows=[NotionObject.model_validate(row) for row in one["rows"]],
                    has_more=one["has_more"],
                )
                for one in value["sources"]
            ],
            notes=dict.fromkeys(value["notes"]),
            read_at=datetime.fromisoformat(value["read_at"]),
        )


def _drop_moments(blocks: Sequence[RawBlock]) -> list[object]:
    """Leave the blocks' own moments out: a block edited and edited back says what it said."""
    return [
        {
            key: _drop_moments(value) if key == "~children" else value
            for key, value in block.items()
            if key != "last_edited_time"
        }
        for block in blocks
    ]

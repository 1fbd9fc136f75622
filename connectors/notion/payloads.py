"""Notion's replies as far as they are read; tolerant, for the API grows without a new version.

Both spellings of the trash are taken: `archived` (2022-06-28) and `in_trash`. Ids come out in the
normal form of `ids.normalise_id`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from connectors.notion.ids import normalise_id
from connectors.rest import Payload

T = TypeVar("T")

NotionId = Annotated[str, BeforeValidator(lambda value: normalise_id(str(value)) or str(value))]
OptionalId = Annotated[str, BeforeValidator(lambda value: normalise_id(str(value or "")))]
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else str(value))]


def _empty_for_none(value: object) -> object:
    return [] if value is None else value


def _dict_for_none(value: object) -> object:
    return value if isinstance(value, Mapping) else {}


JsonObject = Annotated[dict[str, Any], BeforeValidator(_dict_for_none)]


class Annotations(Payload):
    """How a run of text looks."""

    bold: bool = False
    strikethrough: bool = False
    code: bool = False


class Reference(Payload):
    """Something named by its id."""

    id: OptionalId = ""
    name: Text = ""


class DateValue(Payload):
    """A day, a moment or a span between two."""

    start: Text = ""
    end: Text = ""
    time_zone: Text = ""


class LinkPreview(Payload):
    """A link that Notion shows as a card."""

    url: Text = ""
    href: Text = ""
    title: Text = ""


class Mention(Payload):
    """Who or what a text mentions."""

    type: str = ""
    user: Reference | None = None
    page: Reference | None = None
    database: Reference | None = None
    data_source: Reference | None = None
    date: DateValue | None = None
    link_preview: LinkPreview | None = None
    link_mention: LinkPreview | None = None

    @property
    def target(self) -> str:
        """The id of the mentioned page or database; empty for anything else."""
        one = self.page or self.database or self.data_source
        return one.id if one else ""


class Expression(Payload):
    """A formula in TeX."""

    expression: Text = ""


class RichText(Payload):
    """A run of text with one look."""

    type: str = "text"
    plain_text: Text = ""
    href: Text = ""
    annotations: Annotations = Annotations()
    mention: Mention | None = None
    equation: Expression | None = None


RichTexts = Annotated[tuple[RichText, ...], BeforeValidator(_empty_for_none)]


class FilePlace(Payload):
    """Where a file lies; the address of a hosted one is signed and lasts an hour."""

    url: Text = ""


class FileValue(Payload):
    """A file: hosted by Notion (`file`) or anywhere (`external`)."""

    type: str = ""
    name: Text = ""
    caption: RichTexts = ()
    file: FilePlace | None = None
    external: FilePlace | None = None


class SyncedFrom(Payload):
    """The block a synced copy shows."""

    block_id: OptionalId = ""


class BlockBody(FileValue):
    """What blocks hold, of whatever type; each has some of it."""

    rich_text: RichTexts = ()
    title: Annotated[tuple[RichText, ...] | str, BeforeValidator(lambda value: value or "")] = ""
    checked: bool | None = None
    language: Text = ""
    expression: Text = ""
    url: Text = ""
    cells: Annotated[tuple[RichTexts, ...], BeforeValidator(_empty_for_none)] = ()
    has_column_header: bool = False
    list_start_index: int | None = None
    synced_from: SyncedFrom | None = None
    page_id: OptionalId = ""
    database_id: OptionalId = ""
    block_type: Text = ""


class Block(Payload):
    """A block without its children; `body` is what the reply keeps under the type's name."""

    id: NotionId
    type: str = "unsupported"
    has_children: bool = False
    last_edited_time: Text = ""
    body: BlockBody = BlockBody()

    @model_validator(mode="before")
    @classmethod
    def _take_body(cls, value: object) -> object:
        if isinstance(value, Mapping) and "body" not in value:
            return {**value, "body": value.get(str(value.get("type"))) or {}}
        return value


class Parent(Payload):
    """What an object lies in."""

    type: str = ""
    page_id: OptionalId = ""
    database_id: OptionalId = ""
    data_source_id: OptionalId = ""
    block_id: OptionalId = ""

    @property
    def place(self) -> str:
        """The id of the nearest thing it lies in; empty = the workspace itself."""
        if self.type == "block_id":
            return self.block_id
        return self.data_source_id or self.database_id or self.page_id


class NotionObject(Payload):
    """A page, database or data source."""

    object: str = ""
    id: NotionId
    parent: Parent = Parent()
    archived: bool = False
    in_trash: bool = False
    created_time: Text = ""
    last_edited_time: Text = ""
    last_edited_by: Reference | None = None
    url: Text = ""
    title: RichTexts = ()
    description: RichTexts = ()
    properties: JsonObject = Field(default_factory=dict)
    data_sources: Annotated[tuple[Reference, ...], BeforeValidator(_empty_for_none)] = ()

    @property
    def is_trashed(self) -> bool:
        """Whether it lies in the trash."""
        return self.archived or self.in_trash

    @property
    def plain_title(self) -> str:
        """The title as text; empty when nobody has given one."""
        spans = self.title or self._find_title()
        return " ".join("".join(span.plain_text for span in spans).split())

    def _find_title(self) -> tuple[RichText, ...]:
        # The title's property may be called anything.
        for value in self.properties.values():
            if isinstance(value, Mapping) and value.get("type") == "title":
                spans = value.get("title")
                if isinstance(spans, list):
                    return tuple(RichText.model_validate(one) for one in spans)
        return ()


class RequestStatus(Payload):
    """Whether a query came to its natural end."""

    type: str = ""
    incomplete_reason: Text = ""


class Listing(Payload):
    """One page of a list."""

    results: Annotated[tuple[dict[str, Any], ...], BeforeValidator(_empty_for_none)] = ()
    next_cursor: Text = ""
    has_more: bool = False
    request_status: RequestStatus | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the query ended at Notion's limit of rows, not at the last row."""
        return self.request_status is not None and self.request_status.type == "incomplete"


class PersonDetails(Payload):
    """What Notion tells of a person, with the right capability."""

    email: Text = ""


class User(Payload):
    """A person or bot."""

    id: NotionId
    name: Text = ""
    type: str = ""
    person: PersonDetails | None = None


class Comment(Payload):
    """An unresolved comment."""

    id: NotionId
    created_time: Text = ""
    created_by: Reference | None = None
    rich_text: RichTexts = ()


class ErrorReply(Payload):
    """Why a call was refused."""

    code: str = ""
    message: str = ""

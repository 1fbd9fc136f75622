"""A page as a document: its properties, its text, what it shows of other pages. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from connectors.notion.blocks import Surroundings, SyncedText, write_blocks
from connectors.notion.body import parse_nodes
from connectors.notion.page_reading import PageReading
from connectors.notion.payloads import Comment, NotionObject
from connectors.notion.properties import find_number_format, find_relations, write_property
from connectors.notion.rich_text import References, write_rich_text
from connectors.notion.round import Found, Round, build_locator
from connectors.notion.state import PageState, is_settled, parse_moment
from knowledge.access import AccessRule
from knowledge.documents import BodyPart, Content, Document, Link, Version

UNTITLED = "Untitled"
_LABELS = frozenset({"multi_select"})
# What a path is made of; data sources hardly ever have a name of their own.
_TITLED = frozenset({"page", "database"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PageExtras:
    """What was read for a page beside itself.

    Attributes:
        columns: Of the data source it is a row of, by name.
        properties: Its properties with all their items.
        file_notes: What of its files could not be read.
    """

    synced: Mapping[str, SyncedText] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    people: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    properties: Mapping[str, Any] = field(default_factory=dict)
    file_notes: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Draft:
    """A document's parts as they are put together, and what they depend on.

    Attributes:
        latest: When the youngest of the included pages was edited.
    """

    parts: list[BodyPart] = field(default_factory=list)
    depends: dict[str, str] = field(default_factory=dict)
    latest: str = ""

    def add(self, markdown: str) -> None:
        """Add text of the document's own."""
        if markdown.strip():
            self.parts.append(BodyPart(markdown=markdown))

    def add_included(
        self, markdown: str, origins: Sequence[str], round_: Round, *, own: str
    ) -> None:
        """Add text of other pages, readable only by those who may read all of them."""
        rule = round_.rule(origins[0])
        for origin in origins[1:]:
            rule &= round_.rule(origin)
        for origin in origins:
            self.depends[origin] = round_.describe_dependence(own, origin, has_text=True)
            place = round_.places.find(origin)
            self.latest = max(self.latest, place.edited if place else "")
        self.parts.append(
            BodyPart(
                markdown=markdown,
                included_from=round_.document_id(origins[-1]),
                included_rule=rule,
            )
        )


def build_page(round_: Round, reading: PageReading, extras: PageExtras) -> Document:
    """Write a page that is in the tree; what its synced copies show must be there too."""
    found, page_rule = reading.found, round_.rule(reading.found.id)
    references = build_references(round_, page_rule, extras.people)
    draft = Draft()
    around = Surroundings(
        page=found.id, references=references, synced=extras.synced, files=extras.files
    )
    draft.add(_write_properties(extras.properties or found.properties, extras.columns, references))
    for segment in write_blocks(parse_nodes(reading.body.blocks), around):
        if segment.origins:
            draft.add_included(segment.markdown, segment.origins, round_, own=found.id)
        else:
            draft.add(segment.markdown)
    draft.add(_write_comments(reading.comments, references))
    for value in found.properties.values():
        for target in find_relations(value):
            references.links.setdefault(target, references.find_title(target) or "")
    labels = _find_labels(found.properties)
    return finish(
        round_,
        reading.describe(),
        found=found,
        draft=draft,
        references=references,
        labels=labels,
        notes=(*reading.body.notes, *extras.file_notes),
    )


def build_references(round_: Round, readers: AccessRule, people: Mapping[str, str]) -> References:
    """Return how a text for those readers may name people and pages."""
    return References(find_title=lambda target: round_.find_title(target, readers), people=people)


def finish(
    round_: Round,
    described: Found,
    *,
    found: NotionObject,
    draft: Draft,
    references: References,
    labels: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Document:
    """Put a document together; its token says what it depends on."""
    object_id, rule = found.id, round_.rule(found.id)
    ancestors = round_.places.ancestors(object_id)
    titled = [one for one in ancestors if round_.kind_of(one) in _TITLED]
    for target in (*references.shown, *titled):
        state = round_.describe_dependence(object_id, target, has_text=False)
        draft.depends.setdefault(target, state)
    token = PageState(
        kind=described.kind,
        edited=described.edited,
        is_settled=is_settled(described.edited, described.read_at),
        title=described.title,
        ancestors=ancestors,
        content=described.content,
        depends=draft.depends,
        setup=round_.setup,
        read_on=round_.today,
    )
    author = found.last_edited_by
    name = references.people.get(author.id, author.name) if author else ""
    root = round_.scope(object_id)
    return Document(
        document_id=round_.document_id(object_id),
        source=round_.name,
        scope=root,
        locator=build_locator(described.kind, object_id),
        url=found.url or f"https://www.notion.so/{object_id.replace('-', '')}",
        content=Content(
            title=described.title or UNTITLED,
            parts=tuple(draft.parts),
            version=Version(number=0, at=_find_moment(described.edited, draft.latest), author=name),
        ),
        access=rule,
        token=token.encode(),
        content_hash=described.content,
        keeps_history=round_.keeps_history,
        space=round_.find_title(root, rule) or "",
        author=name,
        labels=labels,
        breadcrumbs=_find_breadcrumbs(round_, titled, rule),
        links=_build_links(round_, object_id, references),
        notes=tuple(dict.fromkeys((*notes, *references.notes))),
    )


def _find_moment(edited: str, latest: str) -> datetime:
    return max(parse_moment(edited), parse_moment(latest))


def _find_breadcrumbs(
    round_: Round, ancestors: Sequence[str], readers: AccessRule
) -> tuple[str, ...]:
    """Return the titles above that every reader may see, from the root down."""
    titles: dict[str, None] = {}
    for one in reversed(ancestors):
        title = round_.find_title(one, readers)
        if title:
            titles.setdefault(title)
    return tuple(titles)


def _build_links(round_: Round, own: str, references: References) -> tuple[Link, ...]:
    return tuple(
        Link(target=round_.document_id(target), text=text)
        for target, text in references.links.items()
        if target != own and target in round_.places
    )


def _write_properties(
    properties: Mapping[str, Any], columns: Mapping[str, Any], references: References
) -> str:
    lines = []
    for name, value in properties.items():
        if value.get("type") == "title":
            continue
        number_format = find_number_format(columns.get(name))
        text = write_property(value, references, number_format=number_format)
        if text:
            lines.append(f"- {name}: {_indent(text)}")
    return "\n".join(lines)


def _indent(text: str) -> str:
    return "\n".join(filter(str.strip, text.split("\n"))).replace("\n", "\n  ")


def _write_comments(comments: Sequence[Comment], references: References) -> str:
    lines = []
    for one in comments:
        text = write_rich_text(one.rich_text, references).strip()
        by = one.created_by
        author = references.name_person(by.id, by.name) if by else "?"
        day = one.created_time.partition("T")[0]
        if text:
            lines.append(f"- {author}, {day}: {_indent(text)}")
    return "# 评论 Comments\n\n" + "\n".join(lines) if lines else ""


def _find_labels(properties: Mapping[str, Any]) -> tuple[str, ...]:
    labels: dict[str, None] = {}
    for value in properties.values():
        if value.get("type") in _LABELS:
            for one in value.get(value["type"]) or ():
                labels.setdefault(str(one.get("name", "")))
    return tuple(filter(None, labels))

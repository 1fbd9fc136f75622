"""A wiki in memory: spaces, pages with all versions, attachments, people and groups."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.clock import Clock, SystemClock
from core.errors import SettingsError


@dataclass(slots=True, kw_only=True)
class PageVersion:
    """One version; `by` is a person's id."""

    number: int
    when: datetime
    by: str
    message: str
    title: str
    body: str


@dataclass(slots=True, kw_only=True)
class WikiPage:
    """A page or blog post; `readers` None = no restriction of its own."""

    page_id: str
    space: str
    parent_id: str
    kind: str = "page"
    status: str = "current"
    labels: list[str] = field(default_factory=list)
    readers: dict[str, list[str]] | None = None
    author: str = ""
    versions: list[PageVersion] = field(default_factory=list)

    @property
    def current(self) -> PageVersion:
        """The newest version."""
        return self.versions[-1]

    @property
    def title(self) -> str:
        """The title now."""
        return self.current.title


@dataclass(slots=True, kw_only=True)
class FileVersion:
    """One version of an attachment; None = its bytes are of no interest."""

    number: int
    when: datetime
    by: str
    content: bytes | None


@dataclass(slots=True, kw_only=True)
class WikiFile:
    """An attachment."""

    file_id: str
    page_id: str
    name: str
    media_type: str
    versions: list[FileVersion]

    @property
    def current(self) -> FileVersion:
        """The newest version."""
        return self.versions[-1]


@dataclass(slots=True, kw_only=True)
class WikiComment:
    """A comment on a page; `parent_id` is set on replies to another one."""

    comment_id: str
    page_id: str
    by: str
    when: datetime
    body: str
    number: int = 1
    parent_id: str = ""
    is_inline: bool = False


@dataclass(slots=True, kw_only=True)
class WikiSpace:
    """A space; `view` has groups and users who may see it."""

    key: str
    space_id: str
    name: str
    view: dict[str, list[str]]
    is_anonymous: bool = False


@dataclass(slots=True, kw_only=True)
class WikiPerson:
    """Somebody with an account."""

    person_id: str
    account_id: str
    name: str
    is_active: bool = True


@dataclass(slots=True, kw_only=True)
class Wiki:
    """Everything the wiki holds.

    Attributes:
        hidden: Pages that the API's account can't see, though they are there.
        folders: Content that is no page but may stand between pages, with its parent's id.
    """

    clock: Clock = field(default_factory=SystemClock)
    spaces: dict[str, WikiSpace] = field(default_factory=dict)
    pages: dict[str, WikiPage] = field(default_factory=dict)
    files: dict[str, WikiFile] = field(default_factory=dict)
    comments: dict[str, WikiComment] = field(default_factory=dict)
    people: dict[str, WikiPerson] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    folders: dict[str, str] = field(default_factory=dict)

    def children_of(self, page_id: str) -> list[WikiPage]:
        """Return the current pages right below a page."""
        return [one for one in self.pages.values() if one.parent_id == page_id and is_visible(one)]

    def ancestors_of(self, page: WikiPage) -> list[str]:
        """Return the ids of all ancestors, from the top down."""
        found: list[str] = []
        parent = page.parent_id
        while parent and parent not in found:
            found.append(parent)
            above = self.pages.get(parent)
            parent = above.parent_id if above else self.folders.get(parent, "")
        return found[::-1]

    def find_title(self, space: str, title: str) -> WikiPage | None:
        """Return the current page of that title in a space."""
        return next(
            (
                one
                for one in self.pages.values()
                if one.space == space and one.status == "current" and one.title == title
            ),
            None,
        )

    def can_read(self, person_id: str, page: WikiPage) -> bool:
        """Tell whether a person may read a page: space, every ancestor, the page itself."""
        person = self.people.get(person_id)
        if person is None or not person.is_active or page.status in {"trashed", "deleted"}:
            return False
        if page.status == "draft" and page.author != person_id:
            return False
        space = self.spaces[page.space]
        if not (space.is_anonymous or self._is_named(person_id, space.view)):
            return False
        above = [self.pages[one] for one in self.ancestors_of(page) if one in self.pages]
        return all(
            one.readers is None or self._is_named(person_id, one.readers) for one in (*above, page)
        )

    def files_of(self, page_id: str) -> list[WikiFile]:
        """Return the attachments of a page."""
        return [one for one in self.files.values() if one.page_id == page_id]

    def comments_of(self, page_id: str) -> list[WikiComment]:
        """Return the comments of a page."""
        return [one for one in self.comments.values() if one.page_id == page_id]

    def account_of(self, person_id: str) -> str:
        """Return a person's account id; the id itself for who is not known."""
        person = self.people.get(person_id)
        return person.account_id if person else person_id

    def find_account(self, account_id: str) -> WikiPerson | None:
        """Return whose account that is."""
        return next((one for one in self.people.values() if one.account_id == account_id), None)

    def _is_named(self, person_id: str, readers: Mapping[str, Iterable[str]]) -> bool:
        if person_id in readers.get("users", ()):
            return True
        return any(person_id in self.groups.get(one, ()) for one in readers.get("groups", ()))


def is_visible(page: WikiPage) -> bool:
    """Tell whether a page is in force: neither a draft, nor archived, nor in the trash."""
    return page.status == "current"


def load_wiki(folder: Path, clock: Clock | None = None) -> Wiki:
    """Load a company's confluence.json, attachments.json, people.json and groups.json.

    Raises:
        SettingsError: A file is missing or not of the expected form.
    """
    try:
        values = {
            name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            for name in ("confluence", "attachments", "people", "groups")
        }
        return _build(values, clock or SystemClock())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(
            f"{str(folder)!r} holds no company with a Confluence: {error!r}"
        ) from error


def read_when(text: str) -> datetime:
    """Return a moment in UTC."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def read_version(value: Mapping[str, Any]) -> PageVersion:
    """Return a version as the company's files describe it."""
    return PageVersion(
        number=value["number"],
        when=read_when(value["when"]),
        by=value["by"],
        message=value.get("message") or "",
        title=value["title"],
        body=value["body_storage"],
    )


def read_file_version(value: Mapping[str, Any]) -> FileVersion:
    """Return a version of an attachment as the company's files describe it."""
    content = value.get("content")
    return FileVersion(
        number=value["number"],
        when=read_when(value["when"]),
        by=value["by"],
        content=content.encode() if isinstance(content, str) else None,
    )


def read_readers(value: Mapping[str, Any] | None) -> dict[str, list[str]] | None:
    """Return a restriction; nobody named is none."""
    named = (value or {}).get("read") or {}
    readers = {"users": list(named.get("users", ())), "groups": list(named.get("groups", ()))}
    return readers if readers["users"] or readers["groups"] else None


def _build(values: Mapping[str, Any], clock: Clock) -> Wiki:
    wiki = Wiki(clock=clock)
    for number, space in enumerate(values["confluence"]["spaces"], start=1):
        wiki.spaces[space["key"]] = WikiSpace(
            key=space["key"],
            space_id=str(90_000 + number),
            name=space["name"],
            view={name: list(who) for name, who in space["permissions"]["view"].items()},
        )
    for page in values["confluence"]["pages"]:
        wiki.pages[page["id"]] = WikiPage(
            page_id=page["id"],
            space=page["space"],
            parent_id=page["parent_id"] or "",
            status=page["status"],
            labels=list(page["labels"]),
            readers=read_readers(page["restrictions"]),
            author=page.get("draft_author") or "",
            versions=[read_version(one) for one in page["versions"]],
        )
    for file in values["attachments"]:
        wiki.files[file["id"]] = WikiFile(
            file_id=file["id"],
            page_id=file["page_id"],
            name=file["file_name"],
            media_type=file["media_type"],
            versions=[read_file_version(one) for one in file["versions"]],
        )
    for person in values["people"]:
        if person.get("confluence_account_id"):
            wiki.people[person["id"]] = WikiPerson(
                person_id=person["id"],
                account_id=person["confluence_account_id"],
                name=person["name"],
                is_active=person.get("active", True),
            )
    wiki.groups = {group["id"]: list(group["members"]) for group in values["groups"]}
    return wiki

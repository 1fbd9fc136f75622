"""What of a page decides whether it has to be read again, kept as text in the ledger. Pure."""

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from connectors.confluence.model import (
    AttachmentEntry,
    CommentEntry,
    PageEntry,
    PageHead,
    Revision,
)

# Changes when pages have to be read again although they have not changed at the source.
_FORM = 2
_NEAR_MS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IncludeState:
    """A page that is shown in another one, as it was then.

    Attributes:
        page_id: Empty = no such page was found.
        name: `SPACE/title`, by which it is looked for again.
        number: Its version.
        access: Beginning of the id of its own rule.
    """

    page_id: str
    name: str
    number: int = 0
    access: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageToken:
    """The state of a page.

    Attributes:
        place: Id of its parent; empty at the top.
        words: Digest of title and labels.
        at: When the version came into force, in whole milliseconds since 1970.
        past: When earlier versions did, oldest first, as far as they were read.
        comments: Id and version of each comment.
    """

    number: int
    place: str
    words: str
    at: int = 0
    past: tuple[int, ...] = ()
    is_archived: bool = False
    includes: tuple[IncludeState, ...] = ()
    comments: tuple[tuple[str, int], ...] = ()
    form: int = _FORM

    def encode(self) -> str:
        """Return it as text."""
        includes = [[one.page_id, one.name, one.number, one.access] for one in self.includes]
        values = [self.form, self.number, self.place, self.words, int(self.is_archived)]
        times = [self.at, self.past]
        return json.dumps([*values, includes, self.comments, *times], ensure_ascii=False)

    def is_of(self, entry: PageEntry, *, comments: tuple[tuple[str, int], ...]) -> bool:
        """Tell whether the page still is as it was, as far as a listing can tell."""
        return self.is_same_version(entry.revision) and (
            self.place,
            self.words,
            self.is_archived,
            self.comments,
            self.form,
        ) == (_place(entry), _digest_words(entry), entry.is_archived, comments, _FORM)

    def is_version_of(self, entry: PageEntry) -> bool:
        """Tell whether text, title and labels are the same; a search may be late with the rest."""
        return self.is_same_version(entry.revision) and (self.words, self.form) == (
            _digest_words(entry),
            _FORM,
        )

    def is_same_version(self, revision: Revision) -> bool:
        """Tell whether a version is this one, by its number and its moment.

        Removing an earlier version counts those after it down by one.
        """
        return self.number == revision.number and is_same_moment(self.at, to_ms(revision.at))

    def is_at(self, head: PageHead) -> bool:
        """Tell whether version, place and status are the same."""
        return (self.number, self.place, self.is_archived) == (
            head.number,
            head.place,
            head.is_archived,
        )


def build_token(
    entry: PageEntry,
    *,
    revision: Revision,
    past: tuple[int, ...] = (),
    includes: tuple[IncludeState, ...] = (),
    comments: tuple[tuple[str, int], ...] = (),
) -> PageToken:
    """Return the state of a page whose text was read in that version."""
    return PageToken(
        number=revision.number,
        at=to_ms(revision.at),
        past=past,
        place=_place(entry),
        words=_digest_words(entry),
        is_archived=entry.is_archived,
        includes=includes,
        comments=comments,
    )


def parse_token(text: str) -> PageToken | None:
    """Return the state of a page; None when it is of no form we know."""
    try:
        form, number, place, words, is_archived, includes, comments, at, past = json.loads(text)
        return PageToken(
            form=int(form),
            number=int(number),
            place=str(place),
            words=str(words),
            is_archived=bool(is_archived),
            includes=tuple(
                IncludeState(page_id=page, name=name, number=count, access=access)
                for page, name, count, access in includes
            ),
            comments=tuple((str(one), int(count)) for one, count in comments),
            at=int(at),
            past=tuple(map(int, past)),
        )
    except (ValueError, TypeError):
        return None


def to_ms(moment: datetime) -> int:
    """Return whole milliseconds since 1970."""
    return round(moment.timestamp() * 1000)


def is_same_moment(one: int, other: int) -> bool:
    """Tell whether two moments of versions are the same; not every reply has milliseconds."""
    return abs(one - other) < _NEAR_MS


def build_attachment_token(entry: AttachmentEntry, page: PageEntry | None) -> str:
    """Return the state of an attachment and of what its page lends it."""
    words = hashlib.sha256(f"{entry.file_name}\n{page.title if page else ''}".encode())
    is_archived = int(page.is_archived) if page else 0
    return f"{_FORM}/{entry.revision.number}/{is_archived}/{words.hexdigest()[:12]}"


def read_attachment_number(token: str) -> int:
    """Return the version in an attachment's state; 0 when it is of no form we know."""
    _, _, rest = token.partition("/")
    number = rest.partition("/")[0]
    return int(number) if number.isdecimal() else 0


def build_comment_states(comments: Collection[CommentEntry]) -> tuple[tuple[str, int], ...]:
    """Return what is compared of a page's comments."""
    return tuple(sorted((one.comment_id, one.revision.number) for one in comments))


def _place(entry: PageEntry) -> str:
    return entry.parent_id or (entry.ancestors[-1] if entry.ancestors else "")


def _digest_words(entry: PageEntry) -> str:
    text = "\n".join((entry.title, *sorted(entry.labels or ())))
    return hashlib.sha256(text.encode()).hexdigest()[:12]

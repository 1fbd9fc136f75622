"""What is remembered of a document between runs, and where a listing stands. Pure."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Self

Kind = Literal["page", "database"]

# Notion rounds moments of editing down to the minute, and its clock is not ours.
_ROUNDING = timedelta(minutes=1)
_SKEW = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageState:
    """A document as it was read; its token in the ledger.

    Attributes:
        edited: When Notion says it was edited last, to the minute.
        is_settled: It was read after that minute was over: a later edit has a later minute.
        ancestors: Ids from what it lies in up to the root.
        content: Hash of what was read.
        depends: State by id of other pages whose title or text it shows.
        setup: Names everything on our side that decides how it is written.
        read_on: The day it was last read whole, whatever its moment of editing said.
    """

    kind: Kind = "page"
    edited: str = ""
    is_settled: bool = False
    title: str = ""
    ancestors: tuple[str, ...] = ()
    content: str = ""
    depends: Mapping[str, str] = field(default_factory=dict)
    setup: str = ""
    read_on: str = ""

    def encode(self) -> str:
        """Return the token."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def parse_state(token: str) -> PageState | None:
    """Return the state in a token; None when it is not one of this kind."""
    try:
        values = json.loads(token)
        state = PageState(**values)
    except (TypeError, ValueError):
        return None
    return replace(state, ancestors=tuple(state.ancestors))


def parse_moment(text: str) -> datetime:
    """Return a moment of the API; the beginning of time when it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def is_settled(edited: str, read_at: datetime) -> bool:
    """Tell whether an edit after `read_at` would show another minute."""
    return parse_moment(edited) + _ROUNDING + _SKEW <= read_at


@dataclass(frozen=True, slots=True, kw_only=True)
class FullListing:
    """A full listing under way.

    Attributes:
        path: Ids from a root down to where it stands.
        faults: Reason by scope whose listing has already failed in part.
    """

    started: str
    path: tuple[str, ...] = ()
    faults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The cursor.

    Attributes:
        since: Start of the last finished listing; what was edited before it is known.
        full_at: Start of the last finished full listing.
        setup: That of the last full listing; another one now means that all must be read again.
        doubted: Scopes that so much is missing from that it is not believed.
        full: A full listing that was interrupted.
    """

    since: str = ""
    full_at: str = ""
    setup: str = ""
    doubted: tuple[str, ...] = ()
    full: FullListing | None = None

    def encode(self) -> str:
        """Return the cursor's text."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @classmethod
    def parse(cls, cursor: str) -> Self:
        """Read a cursor; one that can't be read means that nothing is known."""
        try:
            values: dict[str, Any] = json.loads(cursor) if cursor else {}
            full, doubted = values.pop("full", None), values.pop("doubted", ())
            return cls(**values, full=_parse_full(full), doubted=tuple(doubted))
        except (AttributeError, TypeError, ValueError):
            return cls()


def _parse_full(values: Mapping[str, Any] | None) -> FullListing | None:
    return FullListing(**{**values, "path": tuple(values["path"])}) if values else None

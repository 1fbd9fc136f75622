"""The search line: words and filters, such as `leave policy space:HR label:policy @handbook`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from core.clock import parse_moment
from core.errors import SettingsError
from core.settings import BaseSettings
from knowledge.access import ReadableClasses
from knowledge.documents import Status
from knowledge.stores import PassageFilter

_FILTER = re.compile(
    r"(?:^|(?<=\s))(?P<name>space|in|label|by|after|before|status):"
    r"(?:\"(?P<quoted>[^\"]*)\"|(?P<plain>\S+))"
)
_BASE = re.compile(r"(?:^|(?<=\s))@(?P<base>[\w-]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A parsed search line; empty fields restrict nothing."""

    words: str
    spaces: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    bases: tuple[str, ...] = ()
    author: str = ""
    after: datetime | None = None
    before: datetime | None = None
    as_of: datetime | None = None
    with_archived: bool = False


def parse_search(line: str, *, as_of: datetime | None = None) -> SearchQuery:
    """Split a line into words and filters.

    `space:` (or `in:`), `label:`, `by:`, `after:`, `before:` (dates), `status:archived`, `@base`;
    values with blanks in double quotes.

    Raises:
        SettingsError: A date that is none, or an unknown status.
    """
    found: dict[str, list[str]] = {}
    for match in _FILTER.finditer(line):
        value = match["quoted"] if match["quoted"] is not None else match["plain"]
        found.setdefault(match["name"], []).append(value)
    rest = _FILTER.sub(" ", line)
    bases = tuple(match["base"] for match in _BASE.finditer(rest))
    status = found.get("status", [Status.CURRENT])[-1]
    if status not in set(Status):
        raise SettingsError(f"status:{status} is unknown; use status:archived or leave it out")
    return SearchQuery(
        words=" ".join(_BASE.sub(" ", rest).split()),
        spaces=frozenset(found.get("space", []) + found.get("in", [])),
        labels=frozenset(found.get("label", [])),
        bases=bases,
        author=found.get("by", [""])[-1],
        after=_parse_date(found, "after"),
        before=_parse_date(found, "before"),
        as_of=as_of,
        with_archived=status == Status.ARCHIVED,
    )


def _parse_date(found: Mapping[str, list[str]], name: str) -> datetime | None:
    return parse_moment(found[name][-1]) if name in found else None


def narrow(query: SearchQuery, bases: tuple[str, ...]) -> SearchQuery:
    """Search the bases of the place a question is asked in, unless it names others itself."""
    return query if query.bases else replace(query, bases=bases)


def build_filter(
    query: SearchQuery, access: ReadableClasses, bases: Mapping[str, BaseSettings]
) -> PassageFilter:
    """Turn a query into the store's filter.

    A base that is not configured is taken as the name of a source.
    """
    sources: set[str] = set()
    for base in query.bases:
        sources.update(bases[base].include if base in bases else (base,))
    statuses = frozenset(Status) if query.with_archived else frozenset({Status.CURRENT})
    return PassageFilter(
        access=access,
        as_of=query.as_of,
        statuses=statuses,
        sources=frozenset(sources),
        spaces=query.spaces,
        labels=query.labels,
        author=query.author,
        updated_after=query.after,
        updated_before=query.before,
    )

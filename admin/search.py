"""Finds traces, as far as a viewer may know of them. SQL does the work, an index each way of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, RowMapping, and_, or_, select
from sqlalchemy.engine import Connection

from admin.viewers import Viewer
from bot.trace import traces
from core.database import Database

PAGE_LINES = 50
_COLUMNS = (
    traces.c.trace_id, traces.c.at, traces.c.asker, traces.c.place, traces.c.question,
    traces.c.outcome, traces.c.route, traces.c.took_ms, traces.c.tokens, traces.c.cost,
    traces.c.replay_of, traces.c.is_foreign,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFilter:
    """What is looked for; empty fields restrict nothing.

    Attributes:
        words: In the viewer's own questions: what others asked can't be tried out.
        asker: Only operators are told that others asked.
        slow_ms: Took at least so long.
        tokens: Used at least so many.
        replays: Replays, and not questions.
        before: Moment and id of the last line of the page before.
    """

    words: str = ""
    asker: str = ""
    place: str = ""
    route: str = ""
    outcome: str = ""
    since: datetime | None = None
    until: datetime | None = None
    slow_ms: float = 0.0
    tokens: int = 0
    replays: bool = False
    before: tuple[datetime, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLine:
    """One trace of the list; `question` is None where it is somebody else's."""

    trace_id: str
    at: datetime
    asker: str | None
    place: str
    question: str | None
    outcome: str
    route: str
    took_ms: float
    tokens: int
    cost: float
    replay_of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceList:
    """One page, newest first, and where the next one begins; None = there is none."""

    lines: tuple[TraceLine, ...]
    next_before: tuple[datetime, str] | None


def know_of(viewer: Viewer, now: datetime) -> ColumnElement[bool]:
    """Return the condition on traces that a viewer may know of at all."""
    is_kept = traces.c.expires_at > now
    return is_kept if viewer.is_operator else and_(is_kept, is_own(viewer))


def is_own(viewer: Viewer) -> ColumnElement[bool]:
    """Return the condition on traces of what the viewer asked."""
    return and_(traces.c.asker == viewer.asker, ~traces.c.is_foreign)


async def find_traces(
    database: Database, viewer: Viewer, wanted: TraceFilter, now: datetime
) -> TraceList:
    """Return one page of what is looked for."""
    query = (
        select(*_COLUMNS)
        .where(know_of(viewer, now), *_conditions(viewer, wanted))
        .order_by(traces.c.at.desc(), traces.c.trace_id)
        .limit(PAGE_LINES + 1)
    )

    def find(connection: Connection) -> list[TraceLine]:
        return [_build(row, viewer) for row in connection.execute(query).mappings()]

    lines = await database.read(find)
    page = lines[:PAGE_LINES]
    has_more = len(lines) > PAGE_LINES
    last = (page[-1].at, page[-1].trace_id) if has_more else None
    return TraceList(lines=tuple(page), next_before=last)


def _conditions(viewer: Viewer, wanted: TraceFilter) -> list[ColumnElement[bool]]:
    texts: Mapping[str, str] = {
        "place": wanted.place,
        "route": wanted.route,
        "outcome": wanted.outcome,
        "asker": wanted.asker if viewer.is_operator else "",
    }
    found = [traces.c[name] == text for name, text in texts.items() if text]
    found.append(traces.c.replay_of != "" if wanted.replays else traces.c.replay_of == "")
    if wanted.words:
        found.append(is_own(viewer))
        found += [
            traces.c.question.icontains(word, autoescape=True) for word in wanted.words.split()
        ]
    if wanted.since is not None:
        found.append(traces.c.at >= wanted.since)
    if wanted.until is not None:
        found.append(traces.c.at < wanted.until)
    if wanted.slow_ms:
        found.append(traces.c.took_ms >= wanted.slow_ms)
    if wanted.tokens:
        found.append(traces.c.tokens >= wanted.tokens)
    if wanted.before is not None:
        at, trace_id = wanted.before
        later = and_(traces.c.at == at, traces.c.trace_id > trace_id)
        found.append(or_(traces.c.at < at, later))
    return found


def _build(row: RowMapping, viewer: Viewer) -> TraceLine:
    is_shown = row["asker"] == viewer.asker and not row["is_foreign"]
    return TraceLine(
        trace_id=row["trace_id"],
        at=row["at"],
        asker=row["asker"],
        place=row["place"],
        question=row["question"] if is_shown else None,
        outcome=row["outcome"],
        route=row["route"],
        took_ms=row["took_ms"],
        tokens=row["tokens"],
        cost=row["cost"],
        replay_of=row["replay_of"],
    )

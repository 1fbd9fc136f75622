"""How it goes: questions a day, outcomes, time and cost a way, what people said, sources."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, select
from sqlalchemy.engine import Connection

from admin.search import know_of
from admin.viewers import Viewer
from bot.inbox.tables import chat_feedback, chat_help_requests, chat_questions
from bot.route_counts import RouteCount, count_routes
from bot.trace import traces
from core.database import Database
from knowledge.sync_status import SourceStatus, load_status


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCount:
    """Questions of one day (UTC), by outcome."""

    day: str
    total: int
    outcomes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What people said of answers; a question counts once for each kind."""

    questions: int
    solved: int
    unsolved: int
    handed_over: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All of it; `sources` is empty for those who are no operators."""

    days: tuple[DayCount, ...]
    outcomes: tuple[str, ...]
    routes: tuple[RouteCount, ...]
    feedback: Feedback
    sources: tuple[SourceStatus, ...]


async def load_overview(
    database: Database, viewer: Viewer, *, days: int, now: datetime
) -> Overview:
    """Count what the viewer may know of, over the last days."""
    since = now - timedelta(days=days)
    is_counted = and_(know_of(viewer, now), traces.c.at >= since, traces.c.replay_of == "")

    def load(connection: Connection) -> tuple[Any, ...]:
        return (
            _count_days(connection, is_counted),
            count_routes(connection, is_counted),
            _count_feedback(connection, is_counted),
        )

    found_days, routes, feedback = await database.read(load)
    outcomes = sorted({name for day in found_days for name in day.outcomes})
    return Overview(
        days=found_days,
        outcomes=tuple(outcomes),
        routes=routes,
        feedback=feedback,
        sources=tuple(await load_status(database)) if viewer.is_operator else (),
    )


def _count_days(connection: Connection, is_counted: ColumnElement[bool]) -> tuple[DayCount, ...]:
    at: ColumnElement[Any] = traces.c.at
    if connection.dialect.name == "postgresql":
        at = func.timezone("UTC", at)
    day = func.date(at).label("day")
    query = (
        select(day, traces.c.outcome, func.count())
        .where(is_counted)
        .group_by(day, traces.c.outcome)
        .order_by(day.desc())
    )
    days: dict[str, dict[str, int]] = {}
    for row in connection.execute(query):
        days.setdefault(str(row[0]), {})[row[1]] = row[2]
    return tuple(
        DayCount(day=name, total=sum(found.values()), outcomes=found)
        for name, found in days.items()
    )


def _count_feedback(connection: Connection, is_counted: ColumnElement[bool]) -> Feedback:
    asked = (
        select(chat_questions.c.question_id)
        .join(traces, traces.c.trace_id == chat_questions.c.trace_id)
        .where(is_counted)
        .subquery()
    )
    number = func.count(asked.c.question_id.distinct())
    questions = connection.scalar(select(number)) or 0
    joined = asked.join(chat_feedback, chat_feedback.c.question_id == asked.c.question_id)
    solved = case((chat_feedback.c.is_solved, asked.c.question_id)).distinct()
    unsolved = case((~chat_feedback.c.is_solved, asked.c.question_id)).distinct()
    said = connection.execute(
        select(func.count(solved), func.count(unsolved)).select_from(joined)
    ).one()
    called = asked.join(chat_help_requests, chat_help_requests.c.question_id == asked.c.question_id)
    handed_over = connection.scalar(select(number).select_from(called)) or 0
    return Feedback(questions=questions, solved=said[0], unsolved=said[1], handed_over=handed_over)

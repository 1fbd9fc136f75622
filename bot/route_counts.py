"""What questions took, by the way they went: counted by the database, over stored traces."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.engine import Connection

from bot.trace import KEPT_FOR, traces
from core.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteCount:
    """What questions of one way took; an empty `route` = they failed before one was chosen."""

    route: str
    total: int
    median_ms: float
    most_ms: float
    tokens: int
    cost: float


async def load_route_counts(database: Database, *, now: datetime) -> tuple[RouteCount, ...]:
    """Count all questions that traces are kept of, replays left out."""
    is_counted = and_(traces.c.at >= now - KEPT_FOR, traces.c.replay_of == "")
    return await database.read(lambda connection: count_routes(connection, is_counted))


def count_routes(connection: Connection, is_counted: ColumnElement[bool]) -> tuple[RouteCount, ...]:
    """Count the traces that fulfil a condition, the commonest way first."""
    numbered = (
        select(
            traces.c.route,
            traces.c.took_ms,
            func.row_number()
            .over(partition_by=traces.c.route, order_by=traces.c.took_ms)
            .label("place"),
            func.count().over(partition_by=traces.c.route).label("total"),
        )
        .where(is_counted)
        .subquery()
    )
    # The one in the middle, or the mean of both: SQLite has no median.
    middle = (
        select(numbered.c.route, func.avg(numbered.c.took_ms).label("median_ms"))
        .where(numbered.c.place * 2 >= numbered.c.total)
        .where(numbered.c.place * 2 <= numbered.c.total + 2)
        .group_by(numbered.c.route)
        .subquery()
    )
    counted = (
        select(
            traces.c.route,
            func.count().label("total"),
            func.max(traces.c.took_ms).label("most_ms"),
            func.sum(traces.c.tokens).label("tokens"),
            func.sum(traces.c.cost).label("cost"),
        )
        .where(is_counted)
        .group_by(traces.c.route)
        .subquery()
    )
    query = (
        select(counted, middle.c.median_ms)
        .join_from(counted, middle, counted.c.route == middle.c.route)
        .order_by(counted.c.total.desc(), counted.c.route)
    )
    return tuple(
        RouteCount(
            route=row.route,
            total=row.total,
            median_ms=row.median_ms,
            most_ms=row.most_ms,
            tokens=row.tokens,
            cost=row.cost,
        )
        for row in connection.execute(query)
    )


def describe_route_counts(counts: Sequence[RouteCount]) -> str:
    """Return a table for people; empty without questions."""
    if not counts:
        return ""
    heads = ("way", "questions", "median ms", "longest ms", "tokens", "cost")
    rows = [
        (
            one.route or "failed",
            f"{one.total:,}",
            f"{one.median_ms:,.0f}",
            f"{one.most_ms:,.0f}",
            f"{one.tokens:,}",
            f"{one.cost:.4f}",
        )
        for one in counts
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (heads, *rows)
    ]
    return "\n".join((f"questions of the last {KEPT_FOR.days} days:", *lines))

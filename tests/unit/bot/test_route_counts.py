"""What questions took, by their way, counted by the database."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.route_counts import describe_route_counts, load_route_counts
from bot.trace import KEPT_FOR, Trace, TraceStore
from core.database import open_database

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def _trace(
    name: str, route: str, took_ms: float, *, age_days: int = 1, replay_of: str = ""
) -> Trace:
    return Trace(
        trace_id=name,
        at=NOW - timedelta(days=age_days),
        asker=None,
        place="dm",
        question="q",
        outcome="answered",
        payload={},
        route=route,
        took_ms=took_ms,
        tokens=100,
        cost=0.25,
        replay_of=replay_of,
    )


async def test_each_way_has_its_questions_median_tokens_and_cost(tmp_path: Path) -> None:
    database = await open_database(f"sqlite:///{tmp_path / 'state.sqlite3'}")
    store = TraceStore(database)
    try:
        for place, took_ms in enumerate((10, 20, 90, 1_000)):
            await store.save(_trace(f"f{place}", "faq", took_ms))
        for place, took_ms in enumerate((5, 7, 600)):
            await store.save(_trace(f"a{place}", "action", took_ms))
        await store.save(_trace("again", "faq", 9_999, replay_of="f0"))
        await store.save(_trace("old", "faq", 9_999, age_days=KEPT_FOR.days + 1))
        counts = await load_route_counts(database, now=NOW)
    finally:
        await database.close()
    assert [(one.route, one.total, one.median_ms, one.most_ms) for one in counts] == [
        ("faq", 4, 55, 1_000),
        ("action", 3, 7, 600),
    ]
    assert [one.tokens for one in counts] == [400, 300]
    assert [one.cost for one in counts] == pytest.approx([1, 0.75])
    table = describe_route_counts(counts).splitlines()
    assert len({len(line) for line in table[1:]}) == 1
    assert table[2].split() == ["faq", "4", "55", "1,000", "400", "1.0000"]


def test_without_questions_nothing_is_told() -> None:
    assert describe_route_counts(()) == ""

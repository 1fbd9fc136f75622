"""Turns: so many within a window, the others one after the other, and very many refused."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine
from sqlalchemy.engine import Connection

from bot.inbox.pace import Limits, Pace
from core.tables import metadata

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
WINDOW = timedelta(minutes=1)


@pytest.fixture
def connection() -> Connection:
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    return engine.connect()


def take(connection: Connection, pace: Pace, account: str, channel: str, s: float = 0) -> float:
    """Return in how many seconds from the beginning it is somebody's turn; -1 = refused."""
    now = NOW + timedelta(seconds=s)
    turn = pace.take_turn(connection, account=account, channel=channel, now=now)
    return -1 if turn.is_refused else (turn.at - NOW).total_seconds()


def test_a_person_waits_for_the_window_and_others_do_not(connection: Connection) -> None:
    pace = Pace(platform="slack", limits=Limits(per_person=2, window=WINDOW))
    assert [take(connection, pace, "U1", "C1", s) for s in (0, 10, 20, 21, 22)] == [
        0, 10, 60, 70, 120,
    ]  # fmt: skip
    assert take(connection, pace, "U2", "C1", 22) == 22
    assert take(connection, pace, "U1", "C1", 300) == 300


def test_a_channel_waits_whoever_asks(connection: Connection) -> None:
    pace = Pace(platform="slack", limits=Limits(per_channel=1, window=WINDOW))
    assert [take(connection, pace, f"U{n}", "C1") for n in range(3)] == [0, 60, 120]
    assert take(connection, pace, "U9", "C2") == 0
    assert take(connection, pace, "U9", "") == 0


def test_too_many_that_wait_are_refused_and_take_no_turn(connection: Connection) -> None:
    limits = Limits(per_person=1, window=WINDOW, waiting_per_person=2)
    pace = Pace(platform="slack", limits=limits)
    assert [take(connection, pace, "U1", "C1") for _ in range(5)] == [0, 60, 120, -1, -1]
    assert take(connection, pace, "U1", "C1", 61) == 180
    other = Pace(platform="dingtalk", limits=limits)
    assert take(connection, other, "U1", "C1") == 0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 90), st.sampled_from("ab"), st.sampled_from("xy"))),
    st.integers(1, 3),
    st.integers(1, 4),
)
def test_no_window_ever_holds_more_than_so_many(
    asked: list[tuple[int, str, str]], per_person: int, per_channel: int
) -> None:
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    limits = Limits(per_person=per_person, per_channel=per_channel, window=WINDOW)
    pace = Pace(platform="slack", limits=limits)
    turns = []
    s = 0
    with engine.connect() as connection:
        for later, account, channel in asked:
            s += later
            at = take(connection, pace, account, channel, s)
            assert at >= s
            turns.append((at, account, channel))
    for key, most in ((1, per_person), (2, per_channel)):
        for name in {turn[key] for turn in turns}:
            mine = sorted(turn[0] for turn in turns if turn[key] == name)
            for first, beyond in zip(mine, mine[most:], strict=False):
                assert beyond - first >= WINDOW.total_seconds()

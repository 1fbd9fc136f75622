from datetime import UTC, datetime, timedelta, timezone

import pytest

from core.clock import FixedClock, SystemClock, parse_moment
from core.errors import SettingsError


def test_moments_come_back_in_utc() -> None:
    assert parse_moment("2026-11-30") == datetime(2026, 11, 30, tzinfo=UTC)
    assert parse_moment("2026-11-30T08:00:00+08:00") == datetime(2026, 11, 30, tzinfo=UTC)
    assert parse_moment("2026-11-30T08:00:00+08:00").tzinfo is UTC


def test_what_is_no_date_says_how_to_write_one() -> None:
    with pytest.raises(SettingsError, match="'soon'.*2026-11-30"):
        parse_moment("soon")


def test_a_fixed_clock_stands_still() -> None:
    moment = datetime(2026, 1, 1, 8, tzinfo=timezone(timedelta(hours=8)))
    clock = FixedClock(moment)
    assert clock.now() == clock.now() == moment
    assert clock.now().tzinfo is UTC


def test_the_system_clock_is_aware() -> None:
    assert SystemClock().now().tzinfo is UTC

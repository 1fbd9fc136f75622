"""Periods of time in both languages, as of a Wednesday in May."""

from datetime import date, datetime, timedelta, timezone

import pytest

from bot.agent.records.periods import find_periods

NOW = datetime(2026, 5, 20, 10, 0, tzinfo=timezone(timedelta(hours=8)))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("今年", "2026-01-01", "2027-01-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("上个月", "2026-04-01", "2026-05-01"),
        ("last month", "2026-04-01", "2026-05-01"),
        ("3 月", "2026-03-01", "2026-04-01"),
        ("九月", "2025-09-01", "2025-10-01"),
        ("十二月份", "2025-12-01", "2026-01-01"),
        ("in November", "2025-11-01", "2025-12-01"),
        ("2025 年 Q4", "2025-10-01", "2026-01-01"),
        ("第一季度", "2026-01-01", "2026-04-01"),
        ("last quarter", "2026-01-01", "2026-04-01"),
        ("上半年", "2026-01-01", "2026-07-01"),
        ("本周", "2026-05-18", "2026-05-25"),
        ("yesterday", "2026-05-19", "2026-05-20"),
        ("2026-05-01", "2026-05-01", "2026-05-02"),
        ("最近 7 天", "2026-05-13", "2026-05-21"),
        ("past 2 months", "2026-03-01", "2026-05-21"),
    ],
)
def test_a_period_is_found(text: str, start: str, end: str) -> None:
    [period] = find_periods(text, NOW)
    assert period.start.date() == date.fromisoformat(start)
    if "days" not in text and "最近" not in text and "past" not in text:
        assert period.end.date() == date.fromisoformat(end)
    assert period.end > period.start


@pytest.mark.parametrize("text", ["几个月", "三个月的合同", "how many months", "", "K8-023"])
def test_durations_and_codes_are_no_periods(text: str) -> None:
    assert find_periods(text, NOW) == []

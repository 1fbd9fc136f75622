import itertools
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rag.values import Value, ValueKind, extract_values, is_supported


def find_only(text: str) -> Value:
    values = extract_values(text)
    assert len(values) == 1, values
    return values[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3,000 元", "3000元"),
        ("三千元", "¥3,000"),
        ("CNY 3,000", "人民币3000"),
        ("$5 million", "500万美元"),
        ("1.2亿元", "120,000,000 元"),
        ("20 万元", "200,000 yuan"),
        ("50%", "百分之五十"),
        ("50 percent", "５０％"),
        ("two weeks", "14 天"),
        ("半小时", "30 minutes"),
        ("half an hour", "30分钟"),
        ("1.5 小时", "90 min"),
        ("三个工作日", "3 working days"),
        ("12 月 28 日", "Dec 28"),
        ("12-28", "28 December"),
        ("2026年12月28日", "2026-12-28"),
        ("December 28, 2026", "28 Dec 2026"),
        ("2026 年 6 月", "June 2026"),
        ("15:30", "3:30 pm"),
        ("下午3点半", "15:30"),
        ("两个人", "2 人"),
        ("1 GB", "1024 MB"),
        ("2.2 W", "2.2瓦"),
        ("一年", "12 months"),
        ("三点五小时", "3.5 hours"),
        ("二〇二六年三月一日", "2026-03-01"),
        ("两万五千元", "25,000 元"),
        ("一亿两千万元", "120 million yuan"),
        ("twenty-one days", "3 weeks"),
        ("two hundred people", "200 人"),
        ("12:30 am", "0:30"),
        ("中午 12 点", "12:00"),
    ],
)
def test_spellings_of_one_value_are_equal(one: str, other: str) -> None:
    assert find_only(one).equals(find_only(other))
    assert find_only(other).equals(find_only(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30 days", "30 hours"),
        ("3 天", "3 个工作日"),
        ("50%", "50 元"),
        ("3,000 元", "300 元"),
        ("Dec 28", "Dec 29"),
        ("2025-12-28", "2026-12-28"),
        ("15:30", "3:30"),
        ("5 km", "5 kg"),
        ("100 元", "100 美元"),
    ],
)
def test_different_values_are_not_equal(one: str, other: str) -> None:
    assert not find_only(one).equals(find_only(other))


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("年假 15 天，餐补 30 元", [ValueKind.DURATION, ValueKind.MONEY]),
        ("每月 15 日 10:00 前", [ValueKind.DATE, ValueKind.TIME]),
        ("需要 2 人评审", [ValueKind.COUNT]),
        ("peak 11W at 24 V", [ValueKind.QUANTITY, ValueKind.QUANTITY]),
        ("2,919 entries", [ValueKind.NUMBER]),
    ],
)
def test_values_carry_their_kind(text: str, kinds: list[ValueKind]) -> None:
    assert [value.kind for value in extract_values(text)] == kinds


@pytest.mark.parametrize(
    "text",
    [
        "see K8-023, IP 10.0.3.7 and v1.2.3",
        "error E4777 on QG3-B",
        "一个按钮，一些说明",
        "统一处理，万一出错",
        "no numbers here",
    ],
)
def test_codes_and_articles_are_no_values(text: str) -> None:
    assert extract_values(text) == []


def test_a_range_gives_its_unit_to_both_ends() -> None:
    first, second = extract_values("3-5 days")
    assert (first.kind, first.amount) == (ValueKind.DURATION, Decimal(3 * 86400))
    assert second.amount == Decimal(5 * 86400)
    low, high = extract_values("20–30 万元")
    assert (low.amount, high.amount) == (Decimal(200_000), Decimal(300_000))


def test_positions_point_into_the_text() -> None:
    text = "报销须在 ４５ 天内提交，上限 3,000 元。"
    for value in extract_values(text):
        assert text[value.start : value.end].strip() == value.text


def test_a_bare_number_supports_the_number_with_a_unit() -> None:
    assert is_supported(find_only("2 小时"), extract_values("RTO（小时）：2"))
    assert not is_supported(find_only("3 小时"), extract_values("RTO（小时）：2"))


def test_a_date_may_be_put_together_from_two_places() -> None:
    given_values = extract_values("2026 年度安排：12 月 28 日开始")
    assert is_supported(find_only("2026-12-28"), given_values)
    assert not is_supported(find_only("2025-12-28"), given_values)
    assert not is_supported(find_only("2026-12-29"), given_values)
    assert is_supported(find_only("2026 年"), given_values)


@given(st.integers(min_value=10, max_value=9_999_999))
def test_separators_and_width_do_not_change_a_number(number: int) -> None:
    wide = str(number).translate({ord(str(d)): chr(0xFF10 + d) for d in range(10)})
    spellings = [f"{number:,} 元", f"{number} 元", f"{wide}元", f"¥{number:,}"]
    values = [find_only(text) for text in spellings]
    assert all(value.equals(values[0]) for value in values)
    assert values[0].amount == number


@given(st.dates(min_value=date(1990, 1, 1), max_value=date(2099, 12, 31)))
def test_all_spellings_of_a_date_agree(day: date) -> None:
    spellings = [
        f"{day:%Y-%m-%d}",
        f"{day.year}/{day.month}/{day.day}",
        f"{day.year} 年 {day.month} 月 {day.day} 日",
        f"{day.day} {day:%B} {day.year}",
        f"{day:%b} {day.day}, {day.year}",
    ]
    values = [find_only(text) for text in spellings]
    assert all(value.equals(values[0]) for value in values)


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    values = extract_values(text)
    assert all(a.end <= b.start for a, b in itertools.pairwise(values))

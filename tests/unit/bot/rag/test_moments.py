from datetime import UTC, datetime

import pytest

from bot.rag.moments import find_moment
from bot.rag.question_type import HistoryKind, analyse_question, build_search_words

NOW = datetime(2026, 11, 18, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "date"),
    [
        ("As of June 2025, what was the limit?", "2025-06-30"),
        ("截至 2025 年 6 月 15 日，上限是多少？", "2025-06-15"),
        ("2024 年底上限是多少？", "2024-12-31"),
        ("Back in June, what was the limit?", "2026-06-30"),
        ("12 月的时候上限是多少？", "2025-12-31"),
        ("上个月的上限是多少？", "2026-10-31"),
        ("上季度的上限", "2026-09-30"),
        ("去年的上限是多少？", "2025-12-31"),
        ("What was the limit last year?", "2025-12-31"),
        ("What was it the year before last?", "2024-12-31"),
        ("三个月前的上限是多少？", "2026-08-18"),
        ("两年前上限是多少？", "2024-11-18"),
        ("10 天前的上限", "2026-11-08"),
        ("What was the limit three months ago?", "2026-08-18"),
        ("What was the limit 2 weeks ago?", "2026-11-04"),
        ("What was it a year ago?", "2025-11-18"),
        ("昨天的值班人是谁？", "2026-11-17"),
        ("上周的值班人是谁？", "2026-11-15"),
    ],
)
def test_a_moment_is_the_end_of_the_period_that_is_named(question: str, date: str) -> None:
    moment = find_moment(question, NOW)
    assert moment is not None
    assert f"{moment:%Y-%m-%d}" == date


@pytest.mark.parametrize(
    "question", ["上限是多少？", "How many days may I carry over?", "满一年有几天？"]
)
def test_a_question_without_a_date_names_no_moment(question: str) -> None:
    assert find_moment(question, NOW) is None


def test_without_a_clock_only_whole_dates_are_moments() -> None:
    assert find_moment("Back in June, what was the limit?") is None
    assert find_moment("去年的上限是多少？") is None
    assert find_moment("截至 2025 年 6 月") is not None


@pytest.mark.parametrize(
    "question",
    [
        "What was the hotel limit in March 2025?",
        "In March 2025, how many days were allowed?",
        "2025 年 3 月的时候住宿标准是多少？",
        "2025 年 3 月时住宿标准是多少？",
        "去年的住宿标准是多少？",
        "三个月前的住宿标准是多少？",
    ],
)
def test_a_past_tense_around_a_date_may_mean_the_state_of_then(question: str) -> None:
    analysis = analyse_question(question, now=NOW)
    assert analysis.history == (HistoryKind.AT,)
    assert analysis.as_of is not None
    assert not analysis.is_about_past
    assert build_search_words(question, analysis) == question


@pytest.mark.parametrize(
    "question",
    ["How many days are allowed in 2026?", "2026 年的住宿标准是多少？", "年假能休几天？"],
)
def test_a_date_alone_is_part_of_what_is_asked_for(question: str) -> None:
    assert analyse_question(question, now=NOW).history == ()

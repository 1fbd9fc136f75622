from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.toolbox.arithmetic import calculate, write_value
from bot.agent.toolbox.calculate import tidy_expression
from core.errors import ToolRetryError


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("0.1 + 0.2", "0.3"),
        ("10 / 4", "2.5"),
        ("1/3", "0.3333333333333333333333333333333333"),
        ("100/3", "33.333333"),
        ("12% * 4000", "480"),
        ("17 % 5", "2"),
        ("-2 ** 2", "4"),
        ("2 ** 10", "1024"),
        ("sum(1200, 350.5, 80)", "1630.5"),
        ("avg(1, 2, 6)", "3"),
        ("max(3, 9, 4) - min(3, 9, 4)", "6"),
        ("round(2.5)", "3"),
        ("round(10/3, 2)", "3.33"),
        ("abs(3 - 10)", "7"),
        ("2026-03-31 - 2026-03-01", "30"),
        ("days_between(2026-02-01, 2026-03-01)", "28"),
        ("2026-02-27 + 3", "2026-03-02"),
        ("add_months(2026-01-31, 1)", "2026-02-28"),
        ("add_months(2026-01-15, -1)", "2025-12-15"),
        ("3 万 + 2.5 万", "55000"),
        ("¥1,200 × 3", "3600"),
        ("3.2 million / 2", "1600000"),
        ("２００－５０", "150"),
        ("4^2 =", "16"),
    ],
)
def test_an_expression_is_worked_out(expression: str, result: str) -> None:
    assert write_value(calculate(tidy_expression(expression))) == result


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("", "too early"),
        ("1 +", "too early"),
        ("1 / 0", "divides by zero"),
        ("(1 + 2", "not closed"),
        ("1 2", "not expected"),
        ("__import__('os')", "is no part of"),
        ("open(1)", "no function 'open'"),
        ("2026-02-30 + 1", "no day"),
        ("2026-02-01 + 2026-02-02", "not added"),
        ("5 - 2026-02-02", "can't be subtracted"),
        ("2026-02-01 * 2", "can't be used as a number"),
        ("9 ** 9 ** 9", "not expected"),
        ("9 ** 999", "exponents"),
        ("9999-12-31 + 99999999999", "can't be worked out"),
        ("round(1, 2, 3)", "can't take 3"),
        ("round(1, 99)", "places"),
        ("add_months(1, 2)", "takes a date"),
        ("(" * 500 + "1" + ")" * 499, "deep"),
        ("1+" * 600 + "1", "longer than"),
        ("0 ** 0", "can't be worked out"),
    ],
)
def test_what_can_not_be_worked_out_is_said(expression: str, reason: str) -> None:
    with pytest.raises(ToolRetryError, match=reason):
        calculate(expression)


@given(st.text(alphabet="0123456789+-*/%().,x sumaxround年万-", max_size=60))
def test_any_text_ends_in_a_value_or_a_reason(text: str) -> None:
    try:
        value = calculate(tidy_expression(text))
    except ToolRetryError:
        return
    assert isinstance(value, Decimal | date)
    assert write_value(value)

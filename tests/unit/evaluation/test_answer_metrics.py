"""How an answer's text is compared with what is expected of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.answer_metrics import (
    fold_text,
    holds_required,
    holds_text,
    measure_point_coverage,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Ｋ８－０２３　Ｒｅａｄｙ", "k8 023 ready"),
        ("共 1,200 元（含税）", "共1200元含税"),
        ("2019 年 5 月", "2019年5月"),
        ("Up 3.5 %, then 10.0.3.7.", "up 3.5 % then 10.0.3.7"),
        ("snake_case `code`", "snake case code"),
        ("in 2019 300 people", "in 2019 300 people"),
    ],
)
def test_folding_keeps_what_matters(text: str, folded: str) -> None:
    assert fold_text(text) == folded


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("The limit is 1,500 USD.", "1500 usd"),
        ("报销上限为 ３００ 元。", "300元"),
        ("由布莱恩·辛格执导", "布莱恩·辛格"),
        ("Hank Williams Jr. sang", "Hank Williams, Jr."),
        ("支持5G网络", "5G"),
    ],
)
def test_texts_are_found_whatever_their_spelling(answer: str, wanted: str) -> None:
    assert holds_text(answer, wanted)


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("The limit is 15000", "1500"),
        ("version 2.5", "5"),
        ("version 2.5", "2"),
        ("a cartwheel", "art"),
        ("anything", ""),
    ],
)
def test_parts_of_numbers_and_words_are_not_found(answer: str, wanted: str) -> None:
    assert not holds_text(answer, wanted)


def test_required_strings_need_one_of_every_group() -> None:
    groups = [["雨燕", "雨燕卫星"], ["2009"]]
    assert holds_required("雨燕卫星于2009年探测到", groups)
    assert not holds_required("雨燕卫星于2010年探测到", groups)


def test_a_point_in_other_words_counts_when_most_words_and_all_numbers_are_there() -> None:
    point = "The company distributed 5 million dollars of dividends in January 2019"
    assert measure_point_coverage(
        "In January 2019 dividends of 5 million dollars were distributed.", [point]
    )
    assert not measure_point_coverage(
        "In January 2018 dividends of 5 million dollars were distributed by the company.", [point]
    )


def test_chinese_points_are_compared_by_pairs_of_characters() -> None:
    points = ["公司在2019年完成资产重组", "提高了运营效率"]
    assert measure_point_coverage("2019年，公司完成了资产重组。", points) == 0.5
    assert measure_point_coverage("资产重组提高了公司的运营效率", points) == 0.5
    assert measure_point_coverage("无关", points) == 0
    assert measure_point_coverage("无关", []) is None


def test_a_point_of_short_words_alone_must_be_there_literally() -> None:
    assert measure_point_coverage("Ask the CTO or CFO.", ["the CTO"]) == 1
    assert measure_point_coverage("Ask CTO and the CFO.", ["the CTO"]) == 0


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)


@given(st.text(alphabet="ab1 中文", min_size=1, max_size=8), st.text(alphabet="xyz。 ", max_size=5))
def test_a_text_is_found_between_blanks(wanted: str, other: str) -> None:
    if fold_text(wanted):
        assert holds_text(f"{other}。 {wanted} 。{other}", wanted)

"""Sentences: where they end, and what is never torn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.sentences import cut_sentences, split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("你好。再见！真的吗？是；不是", ["你好。", "再见！", "真的吗？", "是；", "不是"]),
        ("他说：“你好。”然后走了。", ["他说：“你好。”", "然后走了。"]),
        ("**注意。**后文。**重点**在此。", ["**注意。**", "后文。", "**重点**在此。"]),
        ("价格是 3.5 元. 下一句", ["价格是 3.5 元.", "下一句"]),
        ("好!再见?好", ["好!", "再见?", "好"]),
        ("Stop it. Start again! Why? Because.", ["Stop it.", "Start again!", "Why?", "Because."]),
        ('He said "Go." Then left.', ['He said "Go."', "Then left."]),
        ("At 5 p.m. The end.", ["At 5 p.m.", "The end."]),
    ],
)
def test_sentences_end_at_full_stops_of_both_languages(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@pytest.mark.parametrize(
    "text",
    [
        "Use v1.2.3 at 10.0.3.7:8080 for 0.5 s.",
        "Mr. Smith and J. Doe met, e.g. Monday.",
        "See Fig. 3, No. 5 and Sec. 2 of the plan.",
        "Run `systemctl stop app. Then wait` now.",
        "运行 `echo 好。再见` 之后再看。",
        "Read [What? Why](https://docs.example.com/a_(b).html) first.",
        "Open https://example.com/search?q=1&x=a.b to look.",
        "He asked the U.S. Government for approx. five days.",
        "It wraps\nover two lines.",
        "1. Restart the service",
    ],
)
def test_code_links_numbers_and_abbreviations_stay_whole(text: str) -> None:
    assert split_sentences(text) == [text]


def test_list_items_rows_and_blank_lines_are_borders() -> None:
    text = "Intro\n\n- one\n- two\n1. three\n2、四\n| a | 1. b |\n| c | d |\n# H"
    assert split_sentences(text) == [
        "Intro",
        "- one",
        "- two",
        "1. three",
        "2、四",
        "| a | 1. b |",
        "| c | d |",
        "# H",
    ]


def test_a_fenced_code_block_is_one_piece() -> None:
    text = "Before.\n```sh\nls. Foo\n\n# 好。bar\n```\nAfter."
    assert split_sentences(text) == ["Before.", "```sh\nls. Foo\n\n# 好。bar\n```", "After."]


@given(st.text(alphabet='ab A.。！?;；\n`*_"“”()[]>|-1、~\t ', max_size=200))
def test_cut_sentences_joined_are_the_text(text: str) -> None:
    pieces = cut_sentences(text)
    assert "".join(pieces) == text
    assert all(pieces)


@pytest.mark.parametrize(
    "text", ["`", "[", "a. ", "。**", '。"', "\n>", "[a](b", " ", "```\n", "[a](b(", "“。”", "J."]
)
def test_repeated_marks_are_read_without_going_back_and_forth(text: str) -> None:
    assert "".join(cut_sentences(text * 20_000)) == text * 20_000

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.rag.personal_data import (
    Sensitive,
    SensitiveFinder,
    is_card_number,
    is_identity_number,
)
from bot.rag.placeholders import Placeholders, StreamRestorer

NAMES = ["苏木", "Su Mu", "Maya Iyer", "陆岁"]
FINDER = SensitiveFinder(NAMES)


def build() -> Placeholders:
    return Placeholders(FINDER)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("找 苏木 审批", Sensitive.PERSON),
        ("由苏木审批", Sensitive.PERSON),
        ("ask maya iyer", Sensitive.PERSON),
        ("mail maya.iyer@corp.example", Sensitive.EMAIL),
        ("电话 13812345678", Sensitive.PHONE),
        ("电话 +86 138 1234 5678", Sensitive.PHONE),
        ("座机 021-62345678", Sensitive.PHONE),
        ("call +65 6123 4567", Sensitive.PHONE),
        ("call 415-555-0134", Sensitive.PHONE),
        ("身份证 11010519491231002X", Sensitive.IDENTITY),
        ("卡号 4111 1111 1111 1111", Sensitive.CARD),
        ("password: Tr0ub4dor&3", Sensitive.SECRET),
    ],
)
def test_sensitive_text_does_not_leave(text: str, kind: Sensitive) -> None:
    placeholders = build()
    replaced = placeholders.replace(text)
    assert f"<{kind.value}_1>" in replaced
    assert placeholders.count == 1
    assert placeholders.restore(replaced) == text


@pytest.mark.parametrize(
    "text",
    [
        "年假 15 天，上限 3,000 元",
        "版本 1.2.3，地址 10.0.3.7",
        "订单号 20261130000123456",
        "Sumurai is no name",
        "2026-11-30 15:30",
    ],
)
def test_ordinary_numbers_and_words_stay(text: str) -> None:
    assert build().replace(text) == text


def test_numbers_are_checked_by_their_check_digit() -> None:
    assert is_identity_number("11010519491231002X")
    assert not is_identity_number("110105194912310021")
    assert is_card_number("4111-1111-1111-1111")
    assert not is_card_number("4111111111111112")
    assert not is_card_number("0000000000000000")


def test_equal_text_gets_the_equal_placeholder() -> None:
    placeholders = build()
    assert placeholders.replace("苏木和陆岁") == "<PERSON_1>和<PERSON_2>"
    assert placeholders.replace("陆岁，苏木") == "<PERSON_2>，<PERSON_1>"


@pytest.mark.parametrize(
    "changed", ["<person_1>", "PERSON_1", "Person 1", "[PERSON-1]", "< PERSON_1 >", "【PERSON_1】"]
)
def test_a_placeholder_the_model_has_bent_is_understood(changed: str) -> None:
    placeholders = build()
    placeholders.replace("苏木")
    assert placeholders.restore(f"请找 {changed} 审批") == "请找 苏木 审批"


def test_an_unknown_placeholder_stays_as_it_is() -> None:
    placeholders = build()
    placeholders.replace("苏木")
    assert placeholders.restore("ask PERSON_12") == "ask PERSON_12"


def test_text_that_looks_like_a_placeholder_comes_back_as_it_was() -> None:
    placeholders = build()
    text = "写成 <PERSON_1> 的苏木"
    assert placeholders.restore(placeholders.replace(text)) == text


def test_without_a_finder_everything_stays() -> None:
    placeholders = Placeholders(None)
    assert placeholders.replace("苏木 <PERSON_1>") == "苏木 <PERSON_1>"


PIECES = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.sampled_from(
            [
                *NAMES,
                "PERSON_1",
                "<person 2>",
                "[EMAIL-3]",
                "LITERAL_1",
                "a@b.example",
                "13812345678",
                "11010519491231002X",
                "password: Tr0ub4dor&3",
                "<",
                ">",
                " ",
            ]
        ),
    ),
    max_size=8,
)


@given(PIECES)
@example(["13812345678", "LITERAL_1", "<person 2>"])
def test_restoring_undoes_replacing(pieces: list[str]) -> None:
    text = "".join(pieces)
    placeholders = build()
    assert placeholders.restore(placeholders.replace(text)) == text


@given(PIECES, st.lists(st.integers(min_value=1, max_value=7), max_size=60))
def test_a_stream_is_restored_wherever_it_is_cut(pieces: list[str], cuts: list[int]) -> None:
    placeholders = build()
    replaced = placeholders.replace("".join(pieces))
    restorer = StreamRestorer(placeholders)
    shown, at = [], 0
    for width in [*cuts, len(replaced) + 1]:
        shown.append(restorer.feed(replaced[at : at + width]))
        at += width
    shown.append(restorer.finish())
    assert "".join(shown) == placeholders.restore(replaced)


def test_a_stream_holds_back_no_more_than_it_must() -> None:
    placeholders = build()
    placeholders.replace("苏木")
    restorer = StreamRestorer(placeholders)
    assert restorer.feed("Please ask <PER") == "Please ask "
    assert restorer.feed("SON_1") == ""
    assert restorer.feed("> today.") == "苏木 today."

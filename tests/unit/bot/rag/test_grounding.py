import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rag.claims import KnownNames
from bot.rag.grounding import Grounded, GroundingGate
from tests.fakes.evidence import ANALYSER

LEAVE = (
    "Annual leave\nEmployees have 15 days of annual leave. Up to 5 days may be carried over until "
    "2027-03-31. Run `leave carry --year 2026` to book them. Maya Iyer approves exceptions. The "
    "allowance is CNY 3,000."
)
TRAVEL = (
    "差旅标准\n一线城市住宿每晚 600 元，其他城市 450 元。超标 20% 以内由苏木审批，单号 TR-07。"
    "发票须在 12 月 28 日前提交。\n\n```\nexpense submit --month 12\n```"
)
NAMES = KnownNames([("苏木", "Su Mu"), ("陆岁", "Lu Sui"), ("Maya Iyer",)])


def check(text: str, *sources: str) -> Grounded:
    return GroundingGate(sources or (LEAVE, TRAVEL), ANALYSER, NAMES).check(text)


@pytest.mark.parametrize(
    "text",
    [
        "Employees have 15 days of annual leave. [1]",
        "You may carry over 5 days until 31 March 2027. [1]",
        "The allowance is 3000 yuan. [1]",
        "Book the carried days with `leave carry --year 2026`. [1]",
        "Maya Iyer approves exceptions to annual leave. [1]",
        "其他城市住宿每晚四百五十元。 [2]",
        "超标百分之二十以内由苏木审批，单号 TR-07。 [2]",
        "发票须在 12-28 前提交。 [2]",
        "An overrun of up to 20% is approved by Su Mu. [2]",
        "提交命令：\n\n```\nexpense submit --month 12\n```\n\n[2]",
    ],
)
def test_what_the_source_holds_stays(text: str) -> None:
    grounded = check(text)
    assert grounded.removed == ()
    assert grounded.kept == 1 or grounded.text.startswith("提交命令")


@pytest.mark.parametrize(
    "text",
    [
        "Employees have 20 days of annual leave. [1]",
        "Employees have 15 hours of annual leave. [1]",
        "You may carry over 5 days until 31 March 2028. [1]",
        "The allowance is CNY 30,000. [1]",
        "Book the carried days with `leave carry --all`. [1]",
        "John Smith approves exceptions to annual leave. [1]",
        "其他城市住宿每晚 500 元。 [2]",
        "超标 30% 以内由苏木审批。 [2]",
        "超标 20% 以内由陆岁审批。 [2]",
        "超标由苏木审批，单号 TR-08。 [2]",
        "发票须在 12 月 29 日前提交。 [2]",
        "An overrun of up to 20% is approved by Lu Sui. [2]",
        "```\nexpense delete --all\n```\n\n[2]",
        "The canteen is famous for its soup. [1]",
    ],
)
def test_what_the_source_does_not_hold_is_taken_out(text: str) -> None:
    grounded = check(text)
    assert grounded.kept == 0
    assert len(grounded.removed) == 1
    assert grounded.text == ""


def test_only_the_bad_sentence_goes() -> None:
    grounded = check(
        "Employees have 15 days of annual leave. [1] They also have 30 days of sick leave. [1] "
        "The allowance is CNY 3,000. [1]"
    )
    assert grounded.text == (
        "Employees have 15 days of annual leave. [1] The allowance is CNY 3,000. [1]"
    )
    assert "30 days" in grounded.removed[0].reason


def test_citations_are_numbered_by_first_use() -> None:
    gate = GroundingGate([LEAVE, TRAVEL], ANALYSER, NAMES)
    grounded = gate.check("其他城市住宿 450 元。 [2]Employees have 15 days of annual leave. [1]")
    assert "450 元。 [1]" in grounded.text
    assert "annual leave. [2]" in grounded.text
    assert gate.cited == [1, 0]
    later = gate.check("The allowance is CNY 3,000. [1]")
    assert later.text == "The allowance is CNY 3,000. [2]"


@pytest.mark.parametrize(
    "cited",
    [
        "annual leave [1].",
        "annual leave. [1]",
        "annual leave [^1].",
        "annual leave 【1】.",
        "annual leave [source 1].",
        "annual leave [1, 2].",
    ],
)
def test_every_way_of_citing_is_understood(cited: str) -> None:
    assert "annual leave. [1]" in check(f"Employees have 15 days of {cited}").text


def test_a_citation_of_nothing_is_dropped_and_a_plain_source_attached() -> None:
    grounded = check("Employees have 15 days of annual leave. [7]")
    assert grounded.text == "Employees have 15 days of annual leave. [1]"
    assert check("Employees have 15 days of annual leave.").text.endswith("leave. [1]")


def test_a_wrong_number_of_the_right_source_is_mended() -> None:
    gate = GroundingGate([LEAVE, TRAVEL], ANALYSER, NAMES)
    assert gate.check("Employees have 15 days of annual leave. [2]").kept == 1
    assert gate.cited == [0]


def test_a_statement_that_two_sources_may_hold_is_not_attached() -> None:
    grounded = check("Employees have 15 days of annual leave.", LEAVE, LEAVE)
    assert grounded.kept == 0
    assert grounded.removed[0].reason.startswith("cites nothing")


def test_sentences_share_the_citation_at_the_end_of_their_paragraph() -> None:
    text = "Employees have 15 days of annual leave. Up to 5 days may be carried over. [1]"
    assert check(text).removed == ()
    assert check(text.replace("15", "16")).text == "Up to 5 days may be carried over. [1]"


def test_an_introduction_goes_with_the_list_it_announces() -> None:
    good = "These limits apply:\n\n- 一线城市住宿每晚 600 元 [2]\n- 其他城市 450 元 [2]"
    assert check(good).text.startswith("These limits apply:")
    bad = "These limits apply:\n\n- 一线城市住宿每晚 900 元 [2]"
    assert check(bad).text == ""


def test_numbers_of_a_list_are_no_claims() -> None:
    text = "1. Employees have 15 days of annual leave [1]\n2. The allowance is CNY 3,000 [1]"
    assert check(text).removed == ()


def test_markers_inside_code_are_code() -> None:
    source = "Read the array with `a[1]` in this order."
    grounded = check("Read the array with `a[1]` in this order. [1]", source)
    assert grounded.text == "Read the array with `a[1]` in this order. [1]"


def test_translated_names_of_things_are_not_held_against_a_statement() -> None:
    source = "压舱石每天 02:30 备份，由苏木负责。"
    assert check("Ballast is backed up daily at 02:30 by Su Mu. [1]", source).removed == ()


@given(st.text(max_size=300))
def test_any_text_can_be_checked(text: str) -> None:
    grounded = check(text)
    assert grounded.kept >= 0


STEPS = (
    "**发票须在 12 月 28 日前提交**\n\n```\nexpense submit --month 12\n```\n\n"
    "超标 20% 以内由苏木审批，单号 TR-07。"
)


def test_a_quote_of_several_paragraphs_keeps_one_marker_at_its_end() -> None:
    gate = GroundingGate((LEAVE, TRAVEL), ANALYSER, NAMES, is_quoted=True)
    grounded = gate.check(f"{STEPS} [2]")
    assert grounded.text == f"{STEPS} [1]"
    assert gate.cited == [1]


def test_a_marker_put_behind_code_leaves_its_fence_closed() -> None:
    grounded = check("```\nexpense submit --month 12\n```")
    assert grounded.text == "```\nexpense submit --month 12\n```\n\n[1]"


def test_what_shared_the_citation_of_a_removed_statement_keeps_one() -> None:
    grounded = check(
        "Employees have 15 days of annual leave. Their managers throw a splendid party. [1]"
    )
    assert grounded.text == "Employees have 15 days of annual leave. [1]"
    assert len(grounded.removed) == 1

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from knowledge.page_versions import SectionText
from knowledge.text_diff import diff_sections, diff_unified, diff_words

TEXTS = st.text(alphabet="ab 一二年假，。1.5\n[]{}+-", max_size=60)


def section(text: str, *path: str) -> SectionText:
    return SectionText(heading_path=path, text=text)


def spans(old: str, new: str) -> list[tuple[str, str]]:
    return [(one.operation, one.text) for one in diff_words(old, new)]


@given(old=TEXTS, new=TEXTS)
def test_what_stays_goes_and_comes_gives_both_texts(old: str, new: str) -> None:
    found = list(diff_words(old, new))
    assert "".join(one.text for one in found if one.operation != "added") == old
    assert "".join(one.text for one in found if one.operation != "removed") == new
    assert all(one.operation != other.operation for one, other in pairwise(found))


def test_numbers_and_words_change_whole() -> None:
    assert spans("The limit is 1,200.50 euro.", "The limit is 1,300.50 euro.") == [
        ("same", "The limit is "),
        ("removed", "1,200.50"),
        ("added", "1,300.50"),
        ("same", " euro."),
    ]


def test_chinese_changes_by_words() -> None:
    moved = spans("审批由财务负责人完成。", "审批由部门负责人完成。")
    assert ("removed", "财务") in moved
    assert ("added", "部门") in moved


def test_sections_are_compared_by_their_headings() -> None:
    old = [section("Same.", "A"), section("Old words.", "B"), section("Gone.", "C")]
    new = [section("Came.", "D"), section("Same.", "A"), section("New words.", "B")]
    found = [(one.heading_path, one.change) for one in diff_sections(old, new)]
    assert found == [(("D",), "added"), (("B",), "changed"), (("C",), "removed")]
    [_, changed, removed] = diff_sections(old, new)
    assert changed.render() == "[-Old-]{+New+} words."
    assert removed.render() == "[-Gone.-]"


def test_only_changed_lines_are_shown_and_long_ones_are_cut() -> None:
    far = "word " * 40
    old = f"First line.\n{far}five {far}\nLast line."
    [found] = diff_sections([section(old, "A")], [section(old.replace("five", "six"), "A")])
    text = found.render()
    assert "First" not in text
    assert "Last" not in text
    assert "[-five-]{+six+}" in text
    assert len(text) < 120
    assert text.startswith("…")
    assert text.endswith("…")


def test_lines_are_compared_as_diff_does() -> None:
    text = diff_unified(
        [section("one\ntwo", "A")], [section("one\nthree", "A")], old_name="v1", new_name="v2"
    )
    assert text.splitlines()[:2] == ["--- v1", "+++ v2"]
    assert "-two" in text
    assert "+three" in text
    assert diff_unified([section("x")], [section("x")], old_name="1", new_name="2") == ""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.files.frontmatter import split_front_matter
from connectors.files.markdown import convert_markdown_text, split_code


def test_title_from_front_matter_wins_and_its_heading_is_not_repeated() -> None:
    page = convert_markdown_text("---\ntitle: Disk\n---\n# Disk\n\ntext\n\n## More")
    assert page.title == "Disk"
    assert page.markdown == "text\n\n## More"


def test_first_heading_is_the_title() -> None:
    page = convert_markdown_text("# **Disk** `full` {#anchor}\n\ntext")
    assert (page.title, page.markdown) == ("Disk full", "text")


def test_heading_that_says_something_else_stays() -> None:
    page = convert_markdown_text("---\ntitle: Disk\n---\n# Part one\n\ntext")
    assert page.markdown == "# Part one\n\ntext"


def test_heading_after_text_names_the_page_and_stays() -> None:
    page = convert_markdown_text("intro\n\n# Disk\n\ntext")
    assert page.title == "Disk"
    assert page.markdown == "intro\n\n# Disk\n\ntext"


def test_underlined_headings_become_marked_ones() -> None:
    page = convert_markdown_text("Disk\n====\n\ntext\n\nSteps\n-----\n\nmore\n\n---\n\nend")
    assert page.title == "Disk"
    assert page.markdown == "text\n\n## Steps\n\nmore\n\n---\n\nend"


def test_broken_front_matter_is_kept_as_text_with_a_note() -> None:
    front, body = split_front_matter("---\ntitle: [a\n---\ntext")
    assert body.startswith("---\ntitle: [a")
    assert "not valid YAML" in front.notes[0]


def test_page_that_begins_with_a_rule_keeps_it() -> None:
    assert split_front_matter("---\njust text\n---\nmore")[1].startswith("---")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("updated: 2026-10-02", datetime(2026, 10, 2, tzinfo=UTC)),
        ("date: 2026-10-02 08:00:00+08:00", datetime(2026, 10, 2, tzinfo=UTC)),
        ("lastmod: 2026/1/2", datetime(2026, 1, 2, tzinfo=UTC)),
        ("updated: 2026年10月2日", datetime(2026, 10, 2, tzinfo=UTC)),
        ("date: 2020-01-01\nupdated: 2026-10-02", datetime(2026, 10, 2, tzinfo=UTC)),
        ("updated: soon", None),
    ],
)
def test_dates(line: str, expected: datetime | None) -> None:
    front, _ = split_front_matter(f"---\n{line}\n---\nx")
    assert front.at == expected
    assert bool(front.notes) is (expected is None)


def test_tags_come_from_front_matter_and_text_but_not_from_code_or_numbers() -> None:
    page = convert_markdown_text(
        "---\ntags: '#ops, 磁盘'\n---\n#urgent and #运维/磁盘 but not #123, #ff0000 or a#b\n\n"
        "```\n#include\n```\n`#no` [x](a.md#heading)"
    )
    assert page.labels == ("ops", "磁盘", "urgent", "运维/磁盘")


def test_wikilinks_read_as_text_and_are_links() -> None:
    page = convert_markdown_text("See [[Ops/Disk|the guide]], [[Disk#Steps]] and `[[code]]`.")
    assert page.markdown == "See the guide, Disk > Steps and `[[code]]`."
    assert [link.target for link in page.links] == ["Ops/Disk", "Disk"]


def test_hidden_comments_go_and_code_stays() -> None:
    page = convert_markdown_text("a <!-- page 7 --> b %%secret%% c\n\n```\n<!-- kept -->\n```")
    assert page.markdown == "a  b  c\n\n```\n<!-- kept -->\n```"


def test_obsidian_dialect_becomes_plain() -> None:
    page = convert_markdown_text("> [!warning] Mind the gap\n> text\n\n==marked== line ^block1")
    assert page.markdown == "> **Mind the gap**\n> text\n\nmarked line"


def test_html_tables_and_lists_in_cells_become_markdown() -> None:
    page = convert_markdown_text(
        "| os | cpu |\n| --- | --- |\n| Linux | <ul><li>x86</li><li>ARM</li></ul> |\n\n"
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    )
    assert "| Linux | x86; ARM |" in page.markdown
    assert "| a | b |\n| --- | --- |\n| 1 | 2 |" in page.markdown


def test_aliases_are_searchable_but_old_addresses_are_not() -> None:
    page = convert_markdown_text("---\naliases: [硬盘, /old/path/]\n---\ntext")
    assert page.markdown == "Aliases: 硬盘\n\ntext"


def test_unclosed_fence_holds_the_rest() -> None:
    assert list(split_code("a\n```\n# b\n[[c]]")) == [("a", False), ("```\n# b\n[[c]]", True)]


def test_longer_fence_holds_shorter_one() -> None:
    blocks = list(split_code("````\n```\nx\n```\n````\nafter"))
    assert blocks == [("````\n```\nx\n```\n````", True), ("after", False)]


@given(st.text(alphabet="#-=`~[]!|<>%^ab \n*1.:{}()", max_size=120))
def test_any_text_converts(text: str) -> None:
    convert_markdown_text(text)


@given(st.text(alphabet="ab`~ \n#", max_size=80))
def test_splitting_at_code_loses_nothing(text: str) -> None:
    assert "\n".join(block for block, _ in split_code(text)) == text

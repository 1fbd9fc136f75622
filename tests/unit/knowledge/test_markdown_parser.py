"""Blocks of Markdown: what is read as what, and what is left out."""

import pytest

from knowledge.markdown.blocks import Block
from knowledge.markdown.lines import clean_markdown
from knowledge.markdown.parser import parse_markdown


def parse(markdown: str) -> list[Block]:
    return parse_markdown(clean_markdown(markdown).text)


def kinds(markdown: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parse(markdown)]


@pytest.mark.parametrize(
    ("markdown", "text", "level"),
    [
        ("# One", "One", 1),
        ("### Three ###", "Three", 3),
        ("Title\n=====", "Title", 1),
        ("小标题\n---", "小标题", 2),
        ("##中文标题", "中文标题", 2),
        ("<h2 id='x'>From HTML</h2>", "From HTML", 2),
        ("# C#", "C#", 1),
    ],
)
def test_headings_of_every_form_are_read(markdown: str, text: str, level: int) -> None:
    (block,) = parse(markdown)
    assert (block.kind.value, block.text, block.level) == ("heading", text, level)


@pytest.mark.parametrize(
    "markdown",
    [
        "#tag",
        "```\n# comment\n```",
        "- item\n  # inside an item",
        "1. step\n\n   # inside a step",
        "> # quoted",
        "| # | b |\n|---|---|\n| # 1 | 2 |",
        "    # indented code",
        "# " + "long " * 100,
        "A long paragraph. " * 20 + "\n---",
    ],
)
def test_what_only_looks_like_a_heading_is_none(markdown: str) -> None:
    assert "heading" not in [kind for kind, _ in kinds(markdown)]


def test_steps_hold_their_code_remarks_and_nested_lists() -> None:
    markdown = (
        "1. Stop\n\n   ```sh\n   stop app\n   ```\n\n   Wait.\n2. Start\n   - fast\n   - slow"
    )
    assert kinds(markdown) == [("steps", markdown)]


def test_steps_broken_by_code_without_indent_come_back_whole() -> None:
    markdown = "1. Stop\n\n```sh\nstop app\n```\n\n2. Wait\n\nA remark.\n\n3. Start"
    assert kinds(markdown) == [("steps", markdown)]


def test_a_new_count_or_heading_begins_new_steps() -> None:
    assert [kind for kind, _ in kinds("1. a\n2. b\n\ntext\n\n1. c\n2. d")] == [
        "steps",
        "paragraph",
        "steps",
    ]
    assert [kind for kind, _ in kinds("1. a\n\n## h\n\n2. b")] == ["steps", "heading", "steps"]


@pytest.mark.parametrize(
    "markdown",
    [
        "1、打开设置\n2、点击保存",
        "（1）申请\n\n（2）审批\n（3）归档",
        "第一步：停机\n第二步：备份\n第三步，重启",
        "步骤 1：停机\n步骤 2：备份",
        "①停机\n②备份",
        "Step 1: stop\n\nStep 2: start",
        "第九步：a\n第十步：b\n第十一步：c",
        "- （1）申请\n- （2）审批\n   - ① 部门\n   - ② 财务",
    ],
)
def test_steps_numbered_without_markdown_are_steps(markdown: str) -> None:
    assert kinds(markdown) == [("steps", markdown)]


def test_a_single_numbered_line_is_prose() -> None:
    assert kinds("3、只有一条") == [("paragraph", "3、只有一条")]


@pytest.mark.parametrize(
    "markdown",
    [
        "| a | b |\n| --- | --- |\n| 1 | 2 |",
        "a | b\n--- | ---\n1 | 2 | 3",
        "| a \\| b | c |\n| :-: | --- |\n| 1 |",
        "| lost | header |\n| of | it |",
    ],
)
def test_tables_need_no_outer_pipes_no_even_rows_and_no_header(markdown: str) -> None:
    assert kinds(markdown) == [("table", markdown)]


def test_padding_of_cells_is_taken_out() -> None:
    wide = "| name      | port   |\n|-----------|--------|\n| app   x   | 80     |"
    assert kinds(wide) == [("table", "| name | port |\n|---|---|\n| app   x | 80 |")]


def test_paragraph_above_a_table_stays_a_paragraph() -> None:
    assert [kind for kind, _ in kinds("Ports:\na | b\n---|---\n1 | 2\n\nafter")] == [
        "paragraph",
        "table",
        "paragraph",
    ]


def test_unclosed_fence_is_code_to_the_end_and_closed_in_its_text() -> None:
    assert kinds("~~~sh\nls\n\n# x") == [("code", "~~~sh\nls\n\n# x\n~~~")]


def test_indented_code_is_fenced_and_indented_prose_is_prose() -> None:
    assert kinds("    a = 1\n\n    b = 2") == [("code", "```\na = 1\n\nb = 2\n```")]
    assert kinds("    首行缩进的正文，不是代码。") == [("paragraph", "首行缩进的正文，不是代码。")]


def test_task_lists_and_callouts_keep_their_marks() -> None:
    assert kinds("- [ ] open\n- [x] done") == [("list", "- [ ] open\n- [x] done")]
    assert kinds("> [!NOTE]\n> Mind this.") == [("quote", "> [!NOTE]\n> Mind this.")]


def test_footnote_follows_the_block_that_refers_to_it() -> None:
    blocks = kinds("First[^1].\n\nSecond.\n\n[^1]: The note,\n    in two lines.")
    assert [text for _, text in blocks] == [
        "First[^1].",
        "[^1]: The note,\n    in two lines.",
        "Second.",
    ]


def test_references_become_links_outside_code() -> None:
    markdown = "See [the guide][g] or [g].\n\n```\na[g]\n```\n\n[g]: https://example.com 'T'"
    assert [text for _, text in kinds(markdown)] == [
        "See [the guide](https://example.com) or [g](https://example.com).",
        "```\na[g]\n```",
    ]


def test_html_leaves_its_words() -> None:
    markdown = (
        "<details>\n<summary>More</summary>\n\nHidden *text*.\n\n</details>\n<!-- note\n\nto self "
        "-->after\n<ul><li>one</li><li>two</li></ul>\n<style>p { color: red }</style>\n"
        "<pre>\ncode  here\n</pre>\n<p>A <b>bold</b> word</p>"
    )
    assert kinds(markdown) == [
        ("paragraph", "More"),
        ("paragraph", "Hidden *text*."),
        ("paragraph", "after"),
        ("list", "- one\n- two"),
        ("code", "```\ncode  here\n```"),
        ("paragraph", "A <b>bold</b> word"),
    ]


def test_comments_go_but_code_that_shows_one_stays() -> None:
    assert kinds("a <!-- b --> c `<!-- d -->` <!-- e") == [
        ("paragraph", "a  c `<!-- d -->` <!-- e"),
    ]


def test_front_matter_goes_but_a_rule_at_the_top_is_no_front_matter() -> None:
    assert kinds("---\ntitle: x\ntags:\n  - a\n---\nBody") == [("paragraph", "Body")]
    assert kinds("---\nJust a paragraph between rules\n\n---\nBody") == [
        ("paragraph", "Just a paragraph between rules"),
        ("paragraph", "Body"),
    ]


def test_line_ends_and_invisible_characters_are_put_in_order() -> None:
    clean = clean_markdown("\ufeffa\u200bb\r\nc\rd\u2028e\x00")
    assert clean.text == "ab\nc\nd\ne"


def test_page_marks_go_and_say_where_pages_begin() -> None:
    clean = clean_markdown("<!-- page 1 -->\nfirst\n<!-- page 2 -->\nsecond\n\n<!-- page 3 -->\n")
    assert clean.text == "first\nsecond\n\n"
    assert clean.pages == ((0, 1), (1, 2), (3, 3))


def test_pictures_within_the_text_lose_their_bytes() -> None:
    assert kinds("![plan](data:image/png;base64,AAAA+/==)") == [("paragraph", "![plan]()")]

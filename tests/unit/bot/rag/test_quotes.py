from bot.rag.quote_rendering import (
    clean_quote,
    render_block,
    render_label,
    render_prose,
    render_rows,
)
from bot.rag.quotes import QuoteKind, parse_section, split_row

SECTION = """
### 标准

住宿按城市分级。超标须说明原因。

| 城市 | 标准 | 备注 |
|---|---|---|
| 一线 | 600 元 | 含税 |
| 其他 | 400 元 | - |

申请步骤如下：

1. 打开系统。
2. 填写单据：

   ```
   expense new
   ```

3. 提交。

- 发票须为电子票
- 逾期不补
"""


def test_a_section_is_cut_into_sentences_rows_items_and_code() -> None:
    section = parse_section(SECTION)
    kinds = [quote.kind for quote in section.quotes]
    assert kinds[:5] == [
        QuoteKind.SENTENCE,
        QuoteKind.SENTENCE,
        QuoteKind.ROW,
        QuoteKind.ROW,
        QuoteKind.SENTENCE,
    ]
    assert [quote.position for quote in section.quotes] == list(range(len(kinds)))
    row = section.quotes[2]
    assert row.header == ("城市", "标准", "备注")
    assert row.cells == ("一线", "600 元", "含税")
    assert row.subheading == "标准"


def test_steps_stay_one_block_with_what_is_inside_them() -> None:
    section = parse_section(SECTION)
    introduction = next(quote for quote in section.quotes if quote.is_introduction)
    steps = section.blocks[introduction.block + 1]
    assert "expense new" in steps.text
    assert "3. 提交。" in steps.text


def test_a_list_knows_its_introduction() -> None:
    section = parse_section("Bring the following:\n\n- a passport\n- two photos\n")
    assert [quote.lead for quote in section.quotes[1:]] == ["Bring the following:"] * 2


def test_comments_pictures_and_headings_are_not_quoted() -> None:
    text = "# Title\n\n<!-- page 2 -->\n\n![plan](plan.png)\n\nThe plan holds."
    assert [quote.text for quote in parse_section(text).quotes] == ["The plan holds."]


def test_a_quoted_paragraph_is_quoted_without_its_marks() -> None:
    assert [q.text for q in parse_section("> Keep the key.\n> Always.").quotes] == [
        "Keep the key.",
        "Always.",
    ]


def test_a_long_item_is_cut_into_its_parts() -> None:
    item = "- Outage\n" + "\n".join(f"  - step {n} " + "x" * 60 for n in range(8))
    quotes = parse_section(item).quotes
    assert quotes[0].text == "- Outage"
    assert quotes[1].lead == "- Outage"
    assert len(quotes) == 9


def test_escaped_bars_stay_inside_their_cell() -> None:
    assert split_row(r"| a \| b | c |") == (r"a \| b", "c")


def test_links_to_other_files_become_their_text() -> None:
    text = "See [the form](../forms/a.md) and [mail](https://x.example/a). ![pic](b.png)"
    assert clean_quote(text) == "See the form and [mail](https://x.example/a). "


def test_what_looks_like_a_marker_is_escaped_but_code_is_not() -> None:
    assert clean_quote("As shown [12], use `a[1]`.") == r"As shown \[12\], use `a[1]`."


def test_sentences_are_joined_as_their_script_wants() -> None:
    assert render_prose(["先申请。", "再提交。"], "[1]") == "先申请。再提交。 [1]"
    assert render_prose(["Apply\nfirst.", "Submit."], "[2]") == "Apply first. Submit. [2]"


def test_one_row_is_rendered_as_pairs_and_several_as_a_table() -> None:
    rows = [quote for quote in parse_section(SECTION).quotes if quote.kind is QuoteKind.ROW]
    assert render_rows(rows[:1], "[1]") == "**城市**：一线；**标准**：600 元；**备注**：含税 [1]"
    table = render_rows(rows, "[1]")
    assert table.startswith("| 城市 | 标准 | 备注 |\n| --- | --- | --- |\n| 一线 | 600 元 | 含税 |")
    assert table.endswith("\n\n[1]")


def test_an_empty_cell_is_left_out_of_pairs() -> None:
    rows = [quote for quote in parse_section(SECTION).quotes if quote.kind is QuoteKind.ROW]
    assert "备注" not in render_rows(rows[1:2], "[1]")


def test_the_marker_of_code_stands_below_it() -> None:
    assert render_block("```\nls\n```", "[1]") == "```\nls\n```\n\n[1]"
    assert render_block("- a\n- b", "[1]") == "- a\n- b [1]"


def test_a_label_stands_before_prose_and_above_lists() -> None:
    assert render_label("Leave", "15 days [1]") == "**Leave**: 15 days [1]"
    assert render_label("休假", "- 15 天 [1]") == "**休假**：\n\n- 15 天 [1]"
    assert render_label("", "text") == "text"

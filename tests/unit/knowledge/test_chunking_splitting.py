"""What is never cut, and how what is too long is split."""

import pytest

from knowledge.documents import BodyPart, DocumentId, PassageKind
from tests.unit.knowledge.chunk_samples import count_tokens, cut, prose, texts


def step(number: int, words: int = 20) -> str:
    return f"{number}. Step{number} {prose(words, start=100 * number)}"


def test_a_procedure_beyond_the_target_stays_whole_with_its_code_and_lead_in() -> None:
    steps = "\n\n".join(
        f"{number}. Do {prose(8, start=10 * number)}\n\n    ```sh\n    run --part {number}\n    ```"
        for number in range(1, 8)
    )
    markdown = f"{prose(100, start=500)}\n\nTo restore the service:\n\n{steps}\n\n{prose(100)}"
    chunks = cut(markdown, passage_tokens=120)
    whole = [passage for passage in chunks.passages if passage.kind is PassageKind.STEPS]
    assert [passage.text for passage in whole] == [f"To restore the service:\n\n{steps}"]
    assert count_tokens(whole[0].indexed_text) > 120


@pytest.mark.parametrize(
    "steps",
    [
        "\n".join(f"{number}、{'停机并检查' * 8}。" for number in range(1, 7)),
        "\n\n".join(f"第{han}步：{'备份数据库' * 8}。" for han in "一二三四五六"),
        "\n\n".join(
            f"{number}. 执行{'检查脚本' * 8}\n\n```sh\ncheck {number}\n```"
            for number in range(1, 7)
        ),
    ],
)
def test_chinese_procedures_stay_whole_however_they_are_numbered(steps: str) -> None:
    chunks = cut(f"操作如下：\n\n{steps}", passage_tokens=150)
    assert texts(chunks) == [f"操作如下：\n\n{steps}"]
    assert chunks.passages[0].kind is PassageKind.STEPS


def test_headings_that_are_steps_form_one_procedure() -> None:
    steps = "\n\n".join(f"## 第 {n} 步：动作{n}\n\n{'执行操作并确认' * 10}。" for n in range(1, 5))
    chunks = cut(f"# 部署\n\n按顺序做：\n\n{steps}", passage_tokens=150)
    (passage,) = chunks.passages
    assert passage.heading_path == ("部署",)
    assert passage.kind is PassageKind.STEPS
    assert passage.text == f"按顺序做：\n\n{steps}"


def test_an_overlong_procedure_is_split_between_steps_and_repeats_its_title() -> None:
    steps = [step(number) for number in range(1, 31)]
    markdown = "## Restore\n\nFollow these steps:\n\n" + "\n".join(steps)
    chunks = cut(markdown, title="Runbook", max_tokens=300)
    assert len(chunks.passages) > 2
    assert all(text.startswith("Follow these steps:\n\n") for text in texts(chunks))
    found = [line for text in texts(chunks) for line in text.split("\n")[2:]]
    assert found == steps
    assert all(each.indexed_text.startswith("Runbook > Restore") for each in chunks.passages)
    assert chunks.sections[0].text == "Follow these steps:\n\n" + "\n".join(steps)


def test_a_giant_step_is_split_between_its_blocks_and_keeps_its_number() -> None:
    code = "\n".join(f"    call --number {number}" for number in range(40))
    inner = "\n\n".join(f"    {prose(40, start=40 * number)}" for number in range(8))
    markdown = f"1. Prepare.\n2. Run this.\n\n    ```sh\n{code}\n    ```\n\n{inner}\n3. Finish."
    chunks = cut(markdown, max_tokens=250)
    assert texts(chunks)[0].startswith("1. Prepare.")
    assert texts(chunks)[-1].endswith("3. Finish.")
    middle = [text for text in texts(chunks) if "word" in text]
    assert len(middle) > 1
    assert all(text.startswith("2. Run this.\n\n   ") for text in middle[1:])


def test_every_passage_of_a_table_has_the_header_and_whole_rows() -> None:
    rows = [f"| host{n} | 10.0.0.{n} | {prose(6, start=10 * n)} |" for n in range(60)]
    table = "\n".join(["| name | address | note |", "| --- | --- | --- |", *rows])
    chunks = cut(f"## Hosts\n\n表 1：主机清单\n\n{table}")
    opening = "表 1：主机清单\n\n| name | address | note |\n| --- | --- | --- |\n"
    assert len(chunks.passages) > 5
    assert all(text.startswith(opening) for text in texts(chunks))
    assert [row for text in texts(chunks) for row in text.removeprefix(opening).split("\n")] == rows
    assert {each.kind for each in chunks.passages} == {PassageKind.TABLE}


def test_under_a_wide_header_rows_weigh_as_much_as_it() -> None:
    header = " | ".join(prose(7, start=10 * n) for n in range(12))
    rows = "\n".join("| " + " | ".join(f"v{n}" for _ in range(12)) + " |" for n in range(20))
    chunks = cut(f"| {header} |\n|{'---|' * 12}\n{rows}")
    assert all(text.count("\n") > 4 for text in texts(chunks))
    assert all(count_tokens(passage.indexed_text) <= 500 for passage in chunks.passages)


def test_a_giant_row_becomes_header_and_value_between_its_cells() -> None:
    table = (
        "| 组件 | 说明 | 限制 |\n|---|---|---|\n"
        f"| 网关 | {prose(150)} | {prose(150, start=200)} |\n| 存储 | 短 | 无 |"
    )
    chunks = cut(table, max_tokens=200)
    cut_row = [text for text in texts(chunks) if "ord" in text]
    assert len(cut_row) > 2
    assert all(text.startswith("- 组件: 网关\n") for text in cut_row)
    assert all("- 说明: " in text or "- 限制: " in text for text in cut_row)
    assert texts(chunks)[-1] == "| 组件 | 说明 | 限制 |\n|---|---|---|\n| 存储 | 短 | 无 |"


def test_a_list_keeps_its_lead_in_in_every_passage() -> None:
    items = [f"- port {n}: {prose(12, start=20 * n)}" for n in range(40)]
    markdown = f"{prose(40, start=2000)} The following ports are needed:\n\n" + "\n".join(items)
    chunks = cut(markdown)
    lists = [text for text in texts(chunks) if "- port" in text]
    assert len(lists) > 2
    assert all("The following ports are needed:\n\n- port" in text for text in lists)
    assert [line for text in lists for line in text.split("\n") if line.startswith("- ")] == items


def test_a_short_list_is_one_passage_with_the_paragraph_that_leads_into_it() -> None:
    markdown = "We need ports. 需要开放以下端口：\n\n- 80\n- 443"
    assert texts(cut(markdown)) == [markdown]


def test_code_beyond_the_target_stays_whole() -> None:
    code = "```python\n" + "\n".join(f"value_{n} = {n}" for n in range(40)) + "\n```"
    chunks = cut(f"{prose(150)}\n\n{code}\n\n{prose(150, start=300)}", passage_tokens=150)
    assert code in texts(chunks)


def test_overlong_code_is_split_between_definitions_and_fenced_again() -> None:
    functions = [
        "\n".join([f"def function_{n}(value):", *(f"    value += {n}" for _ in range(12)), ""])
        for n in range(30)
    ]
    code = "\n\n".join(functions).rstrip()
    chunks = cut(f"```python\n{code}\n```")
    assert len(chunks.passages) > 3
    for text in texts(chunks):
        assert text.startswith("```python\ndef function_")
        assert text.endswith("\n```")
    bodies = [text.removeprefix("```python\n").removesuffix("\n```") for text in texts(chunks)]
    assert "\n\n\n".join(bodies) == code


def test_a_giant_function_is_split_between_lines() -> None:
    lines = [f"    total_{n} = compute(total_{n})" for n in range(200)]
    chunks = cut("```\ndef giant():\n" + "\n".join(lines) + "\n```")
    found = [line for text in texts(chunks) for line in text.split("\n")[1:-1]]
    assert found == ["def giant():", *lines]


def test_long_quotations_stay_quotations() -> None:
    quote = "\n>\n".join(f"> {prose(60, start=60 * n)}" for n in range(8))
    chunks = cut(quote)
    assert len(chunks.passages) > 2
    assert all(line.startswith(">") for text in texts(chunks) for line in text.split("\n"))


def test_prose_overlaps_by_whole_sentences_and_lists_do_not() -> None:
    chunks = cut(prose(600), overlap_share=0.2)
    for before, after in zip(texts(chunks), texts(chunks)[1:], strict=False):
        repeated = before[before.index(after[:8]) :]
        assert after.startswith(repeated)
        assert repeated.startswith("Word")
        assert 0.1 <= count_tokens(repeated) / 220 <= 0.3
    items = "\n".join(f"- item {n} {prose(10, start=10 * n)}" for n in range(60))
    listed = " ".join(texts(cut(items, overlap_share=0.2)))
    assert all(listed.count(f"- item {n} ") == 1 for n in range(60))


def test_chinese_prose_is_cut_between_sentences() -> None:
    sentences = [f"第{n}条规定适用于全体员工，自发布之日起执行。" for n in range(80)]
    chunks = cut("".join(sentences), overlap_share=0)
    assert len(chunks.passages) > 5
    assert all(text.endswith("。") for text in texts(chunks))
    assert "".join(texts(chunks)) == "".join(sentences)


def test_a_sentence_beyond_all_limits_is_cut_between_words() -> None:
    words = [f"w{n}" for n in range(2000)]
    chunks = cut(" ".join(words), overlap_share=0)
    assert " ".join(texts(chunks)).split() == words


def test_a_remark_below_a_split_table_joins_its_last_passage() -> None:
    rows = "\n".join(f"| r{n} | {prose(10, start=10 * n)} |" for n in range(40))
    chunks = cut(f"| a | b |\n|---|---|\n{rows}\n\nValid until 2027.")
    assert texts(chunks)[-1].endswith("|\n\nValid until 2027.")


def test_titles_without_heading_marks_stay_with_their_text() -> None:
    blocks = "\n\n".join(f"**Part {n}**\n\n{prose(70, start=100 * n)}" for n in range(6))
    for text in texts(cut(blocks, overlap_share=0)):
        assert text.startswith("**Part ")


def test_steps_as_headings_that_are_too_long_together_keep_their_own_sections() -> None:
    steps = "\n\n".join(f"## Step {n}: act\n\n{prose(150, start=200 * n)}" for n in range(1, 5))
    chunks = cut(f"# Deploy\n\n{steps}", passage_tokens=150, section_tokens=150)
    assert {each.heading_path for each in chunks.passages} == {
        ("Deploy", f"Step {n}: act") for n in range(1, 5)
    }


def test_a_lead_in_too_long_to_be_repeated_is_said_once() -> None:
    lead = " ".join(f"word{n}" for n in range(40)) + " as follows:"
    items = "\n".join(f"- item {n} {prose(10, start=100 + 10 * n)}" for n in range(40))
    found = texts(cut(f"{lead}\n\n{items}", passage_tokens=150))
    assert len(found) > 3
    assert sum("as follows:" in text for text in found) == 1


def test_a_step_whose_first_sentence_is_long_is_split_without_repeating_it() -> None:
    inner = "\n\n".join(f"    {prose(60, start=60 * n)}" for n in range(6))
    sentence = " ".join(f"word{n}" for n in range(1000, 1060))
    found = texts(cut(f"1. {sentence}\n\n{inner}", max_tokens=250))
    assert found[0].startswith("1. ")
    assert sum("word1005" in text for text in found) == 1


def test_a_fence_left_open_in_an_item_ends_with_the_item() -> None:
    chunks = cut(f"- one\n  ```sh\n  ls\n- two\n\n## Next\n\n{prose(80)}")
    assert [each.heading_path for each in chunks.passages] == [(), ("Next",)]
    assert chunks.passages[0].text == "- one\n  ```sh\n  ls\n- two"


def test_a_title_line_and_a_lead_in_go_with_their_list() -> None:
    items = "\n".join(f"- item {n} {prose(10, start=10 * n)}" for n in range(30))
    found = texts(cut(f"**Ports**\n\nOpen these:\n\n{items}"))
    assert all(text.startswith("**Ports**\n\nOpen these:\n\n- item") for text in found)


def test_a_heading_over_nothing_but_an_include_is_no_passage() -> None:
    included = BodyPart(markdown="Use 8080.", included_from=DocumentId("notes:other"))
    chunks = cut("# Setup\n\n## Ports", included, "")
    assert [(each.text, each.heading_path) for each in chunks.passages] == [
        ("Use 8080.", ("Setup", "Ports"))
    ]

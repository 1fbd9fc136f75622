"""Sections and passages along the headings: paths, keys, pages, included text."""

from knowledge.access import ALL_MEMBERS
from knowledge.documents import BodyPart, DocumentId, page_mark
from tests.unit.knowledge.chunk_samples import count_tokens, cut, prose, texts

HANDBOOK = """
Welcome to the team, this page tells you how things work around here.

# Leave

## Annual leave

Everybody has twenty days, and five more after three years in the company. Ask your manager two
weeks ahead and enter the days in the calendar, so that the team can plan. Days that are left in
December can be carried over until the end of March, later they are lost without compensation.

## 病假

请假当天上午十点前告知直属上级，返岗后三个工作日内补交诊断证明，逾期按事假处理。每年前五天病假按全额发放工资，超出部分按当地最低标准执行。连续病假超过十五天的，返岗前需要提供复工证明，人力资源部会安排一次沟通。
"""


def test_sections_follow_headings_and_the_title_is_no_part_of_the_path() -> None:
    chunks = cut(f"# Handbook\n{HANDBOOK}", title="Handbook")
    assert [passage.heading_path for passage in chunks.passages] == [
        (),
        ("Leave", "Annual leave"),
        ("Leave", "病假"),
    ]
    assert [passage.position for passage in chunks.passages] == [0, 1, 2]
    assert len({passage.section_id for passage in chunks.passages}) == 3
    assert chunks.sections == ()


def test_indexed_text_names_title_and_headings_once() -> None:
    chunks = cut(HANDBOOK, title="Handbook")
    passage = chunks.passages[1]
    assert passage.indexed_text == f"Handbook > Leave > Annual leave\n\n{passage.text}"
    assert passage.text.startswith("Everybody has twenty days")


def test_nearest_breadcrumbs_are_indexed_but_change_no_key_and_no_border() -> None:
    text = prose(900)
    plain = cut(text, title="Page")
    moved = cut(text, title="Page", breadcrumbs=("Wiki", "Company", "People"))
    assert moved.passages[0].indexed_text.startswith("Company > People > Page\n\n")
    assert [each.key for each in moved.passages] == [each.key for each in plain.passages]
    assert texts(moved) == texts(plain)


def test_a_long_chain_of_headings_takes_a_third_of_the_passage_at_most() -> None:
    heading = " ".join(f"heading{number}" for number in range(30))
    markdown = "\n".join(f"{'#' * level} {heading} {level}" for level in range(1, 6))
    (passage,) = cut(f"{markdown}\n\nShort text.", title="A title").passages
    chain = passage.indexed_text.removesuffix("\n\nShort text.")
    assert count_tokens(chain) <= 220 / 3 + 1
    assert chain.startswith("A title > heading0")
    assert len(passage.heading_path) == 5


def test_headings_are_plain_words_in_paths() -> None:
    markdown = "## **Use** [`app`](x.md) &amp; *more* {#use}\n\nText."
    assert cut(markdown).passages[0].heading_path == ("Use app & more",)


def test_short_neighbours_are_read_together_under_the_heading_above() -> None:
    chunks = cut("# Offices\n\n## Berlin\n\nOpen at 8.\n\n## 上海\n\n九点开门。\n\n## Rome\n\nAsk.")
    (passage,) = chunks.passages
    assert passage.heading_path == ("Offices",)
    assert passage.text == "## Berlin\n\nOpen at 8.\n\n## 上海\n\n九点开门。\n\n## Rome\n\nAsk."


def test_questions_as_headings_stay_apart() -> None:
    chunks = cut(
        "# FAQ\n\n## How do I log in?\n\nWith your card.\n\n## 忘记密码怎么办？\n\n找 IT。"
    )
    assert [passage.heading_path[-1] for passage in chunks.passages] == [
        "How do I log in?",
        "忘记密码怎么办？",
    ]


def test_a_heading_with_nothing_below_it_is_not_lost() -> None:
    chunks = cut(f"# Plan\n\n{prose(100)}\n\n# To be written")
    assert chunks.passages[-1].text == "To be written"


def test_a_document_without_text_is_its_title_or_nothing() -> None:
    (passage,) = cut("", title="Empty page").passages
    assert (passage.text, passage.indexed_text) == ("Empty page", "Empty page")
    assert cut("# Empty page\n", title="Empty page").passages[0].text == "Empty page"
    assert cut("\n<!-- nothing -->\n---\n").passages == ()
    assert cut().passages == ()


def test_a_long_section_is_kept_whole_beside_its_passages() -> None:
    text = f"{prose(300)}\n\n{prose(300, start=300)}"
    chunks = cut(f"# Topic\n\n{text}", section_tokens=4000)
    (section,) = chunks.sections
    assert section.text == text
    assert {passage.section_id for passage in chunks.passages} == {section.section_id}
    assert len(chunks.passages) > 2


def test_an_overlong_section_is_divided_at_paragraphs() -> None:
    paragraphs = [prose(60, start=60 * number) for number in range(20)]
    chunks = cut("\n\n".join(paragraphs), section_tokens=600)
    assert len(chunks.sections) > 1
    divided = [paragraph for section in chunks.sections for paragraph in section.text.split("\n\n")]
    assert divided == paragraphs
    assert len({section.section_id for section in chunks.sections}) == len(chunks.sections)


def test_an_edit_in_one_section_leaves_the_keys_of_others() -> None:
    sections = [f"## Part {number}\n\n{prose(150, start=150 * number)}" for number in range(5)]
    before = cut("\n\n".join(sections), title="T")
    sections[2] += "\n\nA new paragraph that was not there before."
    after = cut("\n\n".join(sections), title="T")
    path = ("Part 2",)
    assert [each.key for each in before.passages if each.heading_path != path] == [
        each.key for each in after.passages if each.heading_path != path
    ]
    assert [each.section_id for each in before.passages if each.heading_path != path] == [
        each.section_id for each in after.passages if each.heading_path != path
    ]


def test_an_edit_at_the_top_of_a_long_page_leaves_most_keys() -> None:
    paragraphs = [prose(40, start=40 * number) for number in range(150)]
    before = {each.key for each in cut("\n\n".join(paragraphs)).passages}
    after = {each.key for each in cut("\n\n".join(["New text.", *paragraphs])).passages}
    assert len(before - after) < len(before) / 3


def test_equal_texts_have_keys_of_their_own() -> None:
    repeated = f"## Same\n\n{prose(60)}\n\n"
    chunks = cut(repeated * 3)
    assert len({passage.key for passage in chunks.passages}) == 3
    assert len({passage.section_id for passage in chunks.passages}) == 3
    assert cut(repeated).passages[0].key == chunks.passages[0].key


def test_pages_are_those_on_which_text_begins() -> None:
    pages = [f"{page_mark(number)}\n{prose(120, start=120 * number)}" for number in (1, 2, 3)]
    chunks = cut("\n\n".join(pages))
    assert [passage.page for passage in chunks.passages] == sorted(
        passage.page or 0 for passage in chunks.passages
    )
    assert {passage.page for passage in chunks.passages} == {1, 2, 3}
    assert chunks.sections[0].page == 1
    assert "page" not in "".join(texts(chunks))
    for passage in chunks.passages:
        first = int(passage.text.split(".")[0].split("ord")[1].split()[0])
        assert passage.page == first // 120


def test_a_page_mark_inside_a_table_gives_its_rows_their_page() -> None:
    rows = [f"| row{number} | {prose(10, start=10 * number)} |" for number in range(30)]
    table = "\n".join(["| a | b |", "|---|---|", *rows[:15], page_mark(2), *rows[15:]])
    chunks = cut(f"{page_mark(1)}\n{table}")
    assert [p.page for p in chunks.passages if "row0 " in p.text] == [1]
    assert [p.page for p in chunks.passages if "row29 " in p.text] == [2]


def test_included_text_forms_passages_of_its_own_under_its_rule() -> None:
    other = DocumentId("notes:other")
    chunks = cut(
        "# Setup\n\nOur own words.",
        BodyPart(markdown="# Ports\n\nUse 8080.", included_from=other, included_rule=ALL_MEMBERS),
        "After the include.\n\n## Details\n\nMore.",
        title="Guide",
    )
    assert [(p.text, p.heading_path, p.included_from, p.rule) for p in chunks.passages] == [
        ("Our own words.", ("Setup",), None, None),
        ("Use 8080.", ("Setup", "Ports"), other, ALL_MEMBERS),
        ("After the include.", ("Setup",), None, None),
        ("More.", ("Setup", "Details"), None, None),
    ]
    assert len({passage.section_id for passage in chunks.passages}) == 4


def test_equal_content_gives_equal_chunks() -> None:
    assert cut(HANDBOOK, title="Handbook") == cut(HANDBOOK, title="Handbook")


def test_line_ends_make_no_difference() -> None:
    assert texts(cut(HANDBOOK.replace("\n", "\r\n"))) == texts(cut(HANDBOOK))

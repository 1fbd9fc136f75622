from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.files.pdf_furniture import drop_furniture
from connectors.files.pdf_layout import Block, build_blocks, order_blocks
from connectors.files.pdf_pages import PageText, write_pages
from connectors.files.pdf_paragraphs import join_texts
from connectors.files.pdf_text import Line, build_lines


def spell(
    text: str, x: float, top: float, *, size: float = 10, font: str = "Times"
) -> list[dict[str, Any]]:
    """Return the characters of a text, each half as wide as it is high (Chinese: as wide)."""
    chars = []
    for char in text:
        width = size if char > "\u2e80" else size / 2
        chars.append(
            {
                "text": char, "x0": x, "x1": x + width, "top": top, "bottom": top + size,
                "size": size, "fontname": font, "upright": True,
            }
        )  # fmt: skip
        x += width
    return chars


def line(text: str, x0: float, x1: float, top: float, **more: Any) -> Line:
    values: dict[str, Any] = {"size": 10.0, **more}
    return Line(x0, x1, top, top + values["size"], text=text, **values)


def test_letters_printed_twice_are_one_bold_letter() -> None:
    (found,) = build_lines([*spell("标题", 50, 50), *spell("标题", 50.4, 50)])
    assert (found.text, found.weight) == ("标题", 4)


def test_raised_figures_are_references_or_powers() -> None:
    chars = [
        *spell("drug", 50, 50), *spell("12", 70, 48, size=6), *spell("and 10", 90, 50),
        *spell("3", 120, 48, size=6), *spell("H", 140, 50), *spell("2", 145, 56, size=6),
        *spell("O", 148, 50),
    ]  # fmt: skip
    (found,) = build_lines(chars)
    assert found.text == "drug[12] and 10^3 H2O"


def test_turned_letters_and_unmapped_marks() -> None:
    turned = [{**char, "upright": False} for char in spell("margin", 10, 10)]
    mark = [{**spell("x", 50, 50)[0], "text": "(cid:127)"}]
    (found,) = build_lines([*turned, *mark, *spell(" item", 60, 50)])
    assert found.text == "\x7f item"


def test_drop_cap_belongs_to_its_first_line() -> None:
    lines = [
        line("T", 50, 70, 100, size=26.0),
        line("he body responds to drugs and", 72, 200, 101),
        line("other things that it meets.", 72, 190, 113),
    ]
    (block,) = [one for one in build_blocks(lines) if len(one.lines) > 1]
    assert block.lines[0].text == "The body responds to drugs and"


def test_title_over_two_columns_is_read_first_and_footer_last() -> None:
    blocks = [
        Block(300, 500, 100, 400), Block(50, 250, 100, 400), Block(50, 500, 50, 90),
        Block(50, 500, 410, 420),
    ]  # fmt: skip
    assert [(one.x0, one.top) for one in order_blocks(blocks)] == [
        (50, 50), (50, 100), (300, 100), (50, 410),
    ]  # fmt: skip


@given(
    st.lists(
        st.tuples(st.floats(0, 500), st.floats(1, 300), st.floats(0, 700), st.floats(1, 200)),
        max_size=12,
    )
)
def test_ordering_keeps_every_block(boxes: list[tuple[float, float, float, float]]) -> None:
    blocks = [Block(x, x + width, y, y + height) for x, width, y, height in boxes]
    assert sorted(map(id, order_blocks(blocks))) == sorted(map(id, blocks))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("the temper-", "ature is", "the temperature is"),
        ("the P-", "glycoprotein", "the P-glycoprotein"),
        ("in 2019-", "2020", "in 2019-2020"),
        ("清理日志", "文件", "清理日志文件"),
        ("清理", "disk", "清理disk"),
        ("a word", "another", "a word another"),
        ("감염", "증", "감염증"),
        ("", "x", "x"),
    ],
)
def test_wrapped_words_and_sentences_are_joined(before: str, after: str, expected: str) -> None:
    assert join_texts(before, after) == expected


def test_korean_keeps_the_blank_it_had() -> None:
    assert join_texts("국내", "확진자", had_space=True) == "국내 확진자"


def test_running_lines_and_page_numbers_go_even_when_they_alternate() -> None:
    pages = []
    for number in range(1, 7):
        head = "第一篇 商品" if number % 2 else "Chapter one"
        pages.append(
            [
                line(f"{head} {number}", 50, 200, 20),
                line("text", 50, 200, 300),
                line(str(number), 50, 60, 780),
            ]
        )
    kept = drop_furniture(pages, [800.0] * 6)
    assert [[one.text for one in page] for page in kept] == [["text"]] * 6


def test_line_in_the_middle_of_pages_stays_though_it_comes_back() -> None:
    pages = [[line("Note", 50, 100, 400)] for _ in range(4)]
    assert drop_furniture(pages, [800.0] * 4) == pages


def write(lines: list[Line]) -> list[str]:
    page = PageText(number=1, width=600, height=800, lines=lines)
    return write_pages([page], marks_pages=False).split("\n\n")


def test_heading_of_two_lines_is_one_and_larger_type_is_a_higher_level() -> None:
    blocks = write(
        [
            line("A very long heading that", 50, 300, 100, size=16.0),
            line("needs two lines", 50, 200, 118, size=16.0),
            line("Steps", 50, 90, 160, size=12.0),
            line("Some text in the usual type of the page that is long enough", 50, 350, 180),
            line("and goes on here.", 50, 200, 192),
        ]
    )
    assert blocks == [
        "# A very long heading that needs two lines",
        "## Steps",
        "Some text in the usual type of the page that is long enough and goes on here.",
    ]


def test_indented_lines_begin_paragraphs() -> None:
    rows = [
        "　第一段的第一行文字很长很长，",
        "接着是第二行。",
        "第二段只有一行。",
        "第三段也是一行。",
    ]
    xs = [(70, 300), (50, 120), (70, 150), (70, 150)]
    lines = [
        line(text.strip("　"), x0, x1, 100 + 12 * number)
        for number, (text, (x0, x1)) in enumerate(zip(rows, xs, strict=True))
    ]
    assert write(lines) == [
        "第一段的第一行文字很长很长，接着是第二行。", "第二段只有一行。", "第三段也是一行。",
    ]  # fmt: skip


def test_columns_of_characters_part_where_white_runs_down() -> None:
    chars: list[dict[str, Any]] = []
    for row in range(6):
        chars += spell(f"left words of row {row} here", 50, 100 + 14 * row)
        chars += spell(f"right words of row {row} too", 210, 100 + 14 * row)
    texts = [one.text for one in build_lines(chars)]
    assert all(("left" in text) != ("right" in text) for text in texts)
    assert len(list(pairwise(texts))) == 11


def test_blanks_between_words_do_not_part_a_line() -> None:
    chars = [
        char
        for row in range(6)
        for char in spell(f"{'ab' * row}  word  and more", 50, 100 + 14 * row)
    ]
    assert len(build_lines(chars)) == 6

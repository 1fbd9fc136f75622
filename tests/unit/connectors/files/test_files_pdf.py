import re

import pytest
from reportlab.pdfgen.canvas import Canvas

from connectors.files.pdf import measure_garbling
from core.errors import UnsupportedContentError
from tests.fakes.file_builders import (
    CHINESE_FONT,
    build_pdf,
    draw_lines,
    draw_table,
)
from tests.unit.connectors.files.conftest import Convert

BODY = [
    "The clean-up guide tells how to free the disk. It is kept by the opera-",
    "tions team and is read before anything is deleted from a server, in or-",
    "der that no file is lost by accident.",
]


def draw_page(canvas: Canvas, heading: str, number: int) -> None:
    draw_lines(canvas, ["Qingyu handbook"], y=810, size=9)
    draw_lines(canvas, [heading], y=740, size=16, font="Helvetica-Bold")
    draw_lines(canvas, BODY, y=700)
    draw_lines(canvas, [f"Page {number} of 3"], y=30, size=9)


def test_pages_headings_and_joined_lines(convert: Convert) -> None:
    pdf = build_pdf(
        lambda c: draw_page(c, "Disk", 1),
        lambda c: draw_page(c, "Logs", 2),
        lambda c: draw_page(c, "Backups", 3),
        title="Microsoft Word - handbook.docx",
    )
    page = convert("handbook.pdf", pdf)
    text = (
        "The clean-up guide tells how to free the disk. It is kept by the operations team and is "
        "read before anything is deleted from a server, in order that no file is lost by accident."
    )
    assert page.title == "Disk"
    assert page.markdown == (
        f"<!-- page 1 -->\n\n{text}\n\n<!-- page 2 -->\n\n# Logs\n\n{text}"
        f"\n\n<!-- page 3 -->\n\n# Backups\n\n{text}"
    )


def test_two_columns_are_read_one_after_the_other(convert: Convert) -> None:
    left = [f"left line {n} with quite some words in it" for n in range(8)]
    right = [f"right line {n} with quite some words in it" for n in range(8)]

    def draw(canvas: Canvas) -> None:
        draw_lines(canvas, ["A heading over both of the columns"], y=780, size=18)
        draw_lines(canvas, left, x=60, y=740)
        draw_lines(canvas, right, x=310, y=743)

    markdown = convert("a.pdf", build_pdf(draw)).markdown
    order = [
        int(n) + (100 if side == "right" else 0)
        for side, n in re.findall(r"(left|right) line (\d)", markdown)
    ]
    assert order == sorted(order)
    assert len(order) == 16


def test_chinese_lines_join_without_blanks(convert: Convert) -> None:
    def draw(canvas: Canvas) -> None:
        draw_lines(canvas, ["磁盘清理指南"], y=760, size=18, font=CHINESE_FONT)
        draw_lines(
            canvas,
            [
                "　　磁盘空间不足时，请先清理日志文件，再检查数据",
                "库的备份策略，最后通知运维部。",
                "　　第二段在这里。",
            ],
            y=720,
            font=CHINESE_FONT,
        )

    page = convert("a.pdf", build_pdf(draw))
    assert page.title == "磁盘清理指南"
    assert (
        "磁盘空间不足时，请先清理日志文件，再检查数据库的备份策略，最后通知运维部。\n\n第二段在这里。"
        in page.markdown
    )


def test_ruled_table_becomes_a_table_in_its_place(convert: Convert) -> None:
    rows = [["Disk", "Size", "Owner"], ["sda", "100", "Li"], ["sdb", "200", "Wang"]]

    def draw(canvas: Canvas) -> None:
        draw_lines(canvas, ["Text that stands above the table."], y=650)
        draw_table(canvas, rows)
        draw_lines(canvas, ["Text that stands below the table."], y=500)

    markdown = convert("a.pdf", build_pdf(draw)).markdown
    assert markdown.split("\n\n")[1:] == [
        "Text that stands above the table.",
        "| Disk | Size | Owner |\n| --- | --- | --- |\n| sda | 100 | Li |\n| sdb | 200 | Wang |",
        "Text that stands below the table.",
    ]


def test_table_over_two_pages_is_one_with_one_header(convert: Convert) -> None:
    header = ["Disk", "Size"]

    def draw_first(canvas: Canvas) -> None:
        draw_table(canvas, [header, ["sda", "1"], ["sdb", "2"]], y=200)

    def draw_second(canvas: Canvas) -> None:
        draw_table(canvas, [header, ["sdc", "3"], ["sdd", "4"]], y=700)

    markdown = convert("a.pdf", build_pdf(draw_first, draw_second)).markdown
    assert markdown.count("| Disk | Size |") == 1
    assert markdown.endswith("| sdb | 2 |\n| sdc | 3 |\n| sdd | 4 |")


def test_rows_without_lines_are_a_table_when_they_stand_under_one_another(convert: Convert) -> None:
    def draw(canvas: Canvas) -> None:
        for x, cells in (
            (72, ["Disk", "sda", "sdb", "sdc"]),
            (200, ["Size", "100", "200", "300"]),
            (300, ["Owner", "Li", "Wang", "Zhao"]),
        ):
            draw_lines(canvas, cells, x=x)

    markdown = convert("a.pdf", build_pdf(draw)).markdown
    assert "| Disk | Size | Owner |\n| --- | --- | --- |\n| sda | 100 | Li |" in markdown


def test_lists_stay_lists(convert: Convert) -> None:
    lines = ["Do this first:", "• stop the service", "• clean the log", "1. start again", "2. look"]
    markdown = convert("a.pdf", build_pdf(lambda c: draw_lines(c, lines))).markdown
    assert markdown.endswith("- stop the service\n- clean the log\n\n1. start again\n2. look")


def test_paragraph_over_two_pages_is_whole(convert: Convert) -> None:
    last = "This sentence is long and goes over to the next page where it has to"
    pdf = build_pdf(
        lambda c: draw_lines(c, [*BODY, last]),
        lambda c: draw_lines(c, ["come to its end."]),
    )
    assert "where it has to come to its end." in convert("a.pdf", pdf).markdown


def test_encrypted_file_says_so(convert: Convert) -> None:
    pdf = build_pdf(lambda c: draw_lines(c, BODY), password="secret")
    with pytest.raises(UnsupportedContentError, match="encrypted with a password"):
        convert("a.pdf", pdf)


@pytest.mark.parametrize("keep", [0.3, 0.6])
def test_truncated_file_fails_clearly(convert: Convert, keep: float) -> None:
    pdf = build_pdf(lambda c: draw_lines(c, BODY))
    with pytest.raises(UnsupportedContentError, match=r"'a\.pdf'"):
        convert("a.pdf", pdf[: int(len(pdf) * keep)])


def test_pages_beyond_the_limit_are_noted(convert: Convert) -> None:
    pdf = build_pdf(*[lambda c: draw_lines(c, BODY)] * 3)
    page = convert("a.pdf", pdf, max_pages=2)
    assert page.notes == ("only the first 2 of 3 pages were read (max_pages)",)
    assert "page 3" not in page.markdown


def test_empty_pages_hold_no_text(convert: Convert) -> None:
    with pytest.raises(UnsupportedContentError, match="no page holds any text"):
        convert("a.pdf", build_pdf(lambda _: None))


@pytest.mark.parametrize(
    ("text", "is_garbled"),
    [
        ("A plain English sentence about disks.", False),
        ("磁盘空间不足时，请先清理日志文件，再检查数据库。", False),
        ("Die Prüfung der Geräte für Öl dauert meist länger.", False),
        ("L'été dernier, la façade était très abîmée à côté.", False),
        ("ÍÆ#ØKÃ±°òK¥¸EÍyöÄ ˛ ¶Ð þ¼½ ÞðØ", True),
        ("(cid:12)(cid:7)(cid:99)(cid:3) and (cid:45)(cid:8)" * 3, True),
        (
            "\ue001\ue002\ue003 \ue004\ue005 text \ue006\ue007\ue008 \ue010\ue011 and more of it",
            True,
        ),
        ("\x01\x02\x03\x04 abc \x05\x06\x07\x08 def \x0e\x0f ghijkl", True),
    ],
)
def test_garbled_text_is_told_from_foreign_languages(text: str, *, is_garbled: bool) -> None:
    assert (measure_garbling(text) > 0.1) is is_garbled

from datetime import date, datetime, time
from typing import Any

import pytest
from openpyxl import Workbook

from connectors.files.number_format import format_value
from core.errors import UnsupportedContentError
from tests.fakes.file_builders import build_xlsx, replace_member
from tests.unit.connectors.files.conftest import Convert


def sheet(rows: list[list[Any]], *merged: str, title: str = "Data") -> bytes:
    def fill(book: Workbook) -> None:
        page = book.active
        assert page is not None
        page.title = title
        for row in rows:
            page.append(row)
        for area in merged:
            page.merge_cells(area)

    return build_xlsx(fill)


def test_row_is_a_fact_with_its_header(convert: Convert) -> None:
    rows: list[list[Any]] = [
        ["Name", "Date", "Share"],
        ["磁盘 | sda", date(2026, 11, 30), 0.5],
        ["sdb", None, 1],
    ]
    assert convert("a.xlsx", sheet(rows, title="库存")).markdown == (
        "## 库存\n\n| Name | Date | Share |\n| --- | --- | --- |\n"
        "| 磁盘 \\| sda | 2026-11-30 | 0.5 |\n| sdb |  | 1 |"
    )


@pytest.mark.parametrize(
    ("value", "number_format", "expected"),
    [
        (1234.5, "#,##0.00", "1,234.50"),
        (0.256, "0.0%", "25.6%"),
        (-5, "#,##0;(#,##0)", "-5"),
        (1200, '"¥"#,##0', "¥1,200"),
        (7, '0" 台"', "7 台"),
        (12, "[$€-407] #,##0.00", "€12.00"),
        (0.1 + 0.2, "General", "0.3"),
        (5, "000", "005"),
        (1.5, "0.##", "1.5"),
        (2.0, "0.##", "2"),
        (True, "General", "TRUE"),
        (datetime.fromisoformat("2026-11-30T09:05"), "yyyy-mm-dd hh:mm", "2026-11-30 09:05"),
        (datetime.fromisoformat("2026-11-30"), "yyyy/m/d", "2026-11-30"),
        (datetime.fromisoformat("2026-11-01"), 'yyyy"年"m"月"', "2026-11"),
        (time(9, 30), "h:mm", "09:30"),
        (1e-12, "General", "1e-12"),
        (float("nan"), "General", "nan"),
        ("text", "@", "text"),
        (None, "General", ""),
    ],
)  # fmt: skip
def test_values_are_written_as_shown(value: object, number_format: str, expected: str) -> None:
    assert format_value(value, number_format) == expected


def test_tables_are_found_side_by_side_and_one_below_the_other(convert: Convert) -> None:
    rows: list[list[Any]] = [
        ["Disk", "Size", None, "Team", "Lead"],
        ["sda", 1, None, "Ops", "Li"],
        ["sdb", 2, None, "HR", "Wang"],
        [],
        ["Server", "Cores"],
        ["s1", 8],
    ]
    markdown = convert("a.xlsx", sheet(rows)).markdown
    assert markdown.split("\n\n")[1:] == [
        "| Disk | Size |\n| --- | --- |\n| sda | 1 |\n| sdb | 2 |",
        "| Team | Lead |\n| --- | --- |\n| Ops | Li |\n| HR | Wang |",
        "| Server | Cores |\n| --- | --- |\n| s1 | 8 |",
    ]


def test_merged_headers_of_two_rows_name_each_column(convert: Convert) -> None:
    rows: list[list[Any]] = [
        ["Region", "2025", None, "2026", None],
        [None, "Plan", "Actual", "Plan", "Actual"],
        ["North", 1, 2, 3, 4],
        ["South", 5, 6, 7, 8],
    ]
    data = sheet(rows, "A1:A2", "B1:C1", "D1:E1")
    markdown = convert("a.xlsx", data).markdown
    assert "| Region | 2025 / Plan | 2025 / Actual | 2026 / Plan | 2026 / Actual |" in markdown
    assert "| North | 1 | 2 | 3 | 4 |" in markdown


def test_title_above_a_table_and_remarks_below_it_are_text(convert: Convert) -> None:
    rows: list[list[Any]] = [
        ["Sizes of disks", None], ["Disk", "Size"], ["sda", 1], ["sdb", 2], [], ["(a) estimated"],
    ]  # fmt: skip
    blocks = convert("a.xlsx", sheet(rows)).markdown.split("\n\n")
    assert blocks[1] == "Sizes of disks"
    assert blocks[2].startswith("| Disk | Size |")
    assert blocks[3] == "(a) estimated"


def test_empty_column_within_a_table_does_not_part_names_from_values(convert: Convert) -> None:
    rows: list[list[Any]] = [
        ["Zone", "Sales", None, "Profit"],
        [],
        ["North", 10, None, 1],
        ["South", 20, None, 2],
        ["Total", 30, None, 3],
    ]
    markdown = convert("a.xlsx", sheet(rows)).markdown
    assert "| Zone | Sales | Profit |\n| --- | --- | --- |\n| North | 10 | 1 |" in markdown


def test_empty_row_within_a_table_does_not_lose_the_header(convert: Convert) -> None:
    rows: list[list[Any]] = [["Disk", "Size"], ["sda", 1], ["sdb", 2], [], ["sdc", 3], ["sdd", 4]]
    markdown = convert("a.xlsx", sheet(rows)).markdown
    assert markdown.endswith("| sdb | 2 |\n| sdc | 3 |\n| sdd | 4 |")


def test_used_range_far_larger_than_the_data_costs_nothing(convert: Convert) -> None:
    def fill(book: Workbook) -> None:
        page = book.active
        assert page is not None
        page.append(["Disk", "Size"])
        page.append(["sda", 1])
        page.cell(400_000, 1).number_format = "0.00"

    assert convert("a.xlsx", build_xlsx(fill)).markdown.endswith("| sda | 1 |")


def test_rows_beyond_the_limit_are_noted(convert: Convert) -> None:
    rows: list[list[Any]] = [["Disk", "Size"], *[[f"d{n}", n] for n in range(100)]]
    page = convert("a.xlsx", sheet(rows), max_table_rows=11)
    assert page.markdown.endswith("| d9 | 9 |")
    assert "only the first 11 rows" in page.notes[0]


def test_hidden_sheet_is_left_out_and_said(convert: Convert) -> None:
    def fill(book: Workbook) -> None:
        page = book.active
        assert page is not None
        page.append(["visible"])
        hidden = book.create_sheet("secret")
        hidden.append(["hidden"])
        hidden.sheet_state = "hidden"

    page = convert("a.xlsx", build_xlsx(fill))
    assert "secret" in page.notes[0]
    assert "hidden" not in page.markdown


def test_formula_without_a_stored_result_is_said(convert: Convert) -> None:
    page = convert("a.xlsx", sheet([["Disk", "Size"], ["sda", "=1+1"]]))
    assert "1 formulas have no stored result" in page.notes[0]


def test_entities_in_a_sheet_are_refused(convert: Convert) -> None:
    attack = replace_member(
        sheet([["a"]]),
        "xl/worksheets/sheet1.xml",
        lambda xml: b'<!DOCTYPE x [<!ENTITY a "b">]>' + xml,
    )
    with pytest.raises(UnsupportedContentError, match="document type declaration"):
        convert("a.xlsx", attack)


def test_damaged_workbook_is_refused(convert: Convert) -> None:
    broken = replace_member(sheet([["a"]]), "xl/workbook.xml", lambda _: b"<workbook/>")
    with pytest.raises(UnsupportedContentError):
        convert("a.xlsx", broken)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("名称;数量\n磁盘;2\n", "| 名称 | 数量 |\n| --- | --- |\n| 磁盘 | 2 |"),
        ("a\tb\n1\t2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ('a,b\n"x, y",2\n', "| a | b |\n| --- | --- |\n| x, y | 2 |"),
        ("sep=;\na;b\n1;2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("1,2\n3,4\n", "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"),
    ],
)
def test_separated_values(convert: Convert, text: str, expected: str) -> None:
    assert convert("a.csv", text).markdown == expected
    assert convert("a.csv", text.encode("gb18030")).markdown == expected


def test_long_csv_is_limited_with_a_note(convert: Convert) -> None:
    text = "a,b\n" + "\n".join(f"{n},{n}" for n in range(50))
    page = convert("a.csv", text, max_table_rows=10)
    assert page.markdown.count("\n") == 10
    assert "only the first 10 rows" in page.notes[0]

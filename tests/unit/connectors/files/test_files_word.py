import re
import zipfile
from io import BytesIO
from typing import Any

import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from connectors.files.word_numbering import format_number
from core.errors import UnsupportedContentError
from tests.fakes.file_builders import build_docx, replace_member
from tests.unit.connectors.files.conftest import Convert

DECLARATIONS = nsdecls("w", "r")
NUMBERING = """
<w:abstractNum {n} w:abstractNumId="90"><w:lvl w:ilvl="0"><w:start w:val="1"/>
<w:numFmt w:val="chineseCounting"/><w:lvlText w:val="第%1条"/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%2."/></w:lvl>
<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%3)"/>
</w:lvl></w:abstractNum>"""


def add_numbering(document: Any) -> None:
    numbering = document.part.numbering_part.element
    numbering.insert(0, parse_xml(NUMBERING.format(n=nsdecls("w"))))
    number = f'<w:num {nsdecls("w")} w:numId="90"><w:abstractNumId w:val="90"/></w:num>'
    numbering.append(parse_xml(number))


def add_item(document: Any, text: str, level: int) -> None:
    paragraph = document.add_paragraph(text)
    xml = f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/><w:numId w:val="90"/></w:numPr>'
    paragraph._p.get_or_add_pPr().append(parse_xml(xml))


def add_xml(document: Any, xml: str) -> None:
    body = document.element.body
    body.insert(len(body) - 1, parse_xml(xml))


def test_headings_lists_and_properties(convert: Convert) -> None:
    def fill(document: Any) -> None:
        document.core_properties.author = "Li Wei"
        document.core_properties.keywords = "ops; disk"
        document.add_heading("Disk guide", 0)
        document.add_heading("Steps", 1)
        document.add_paragraph("Read this.")
        document.add_paragraph("one", style="List Number")
        document.add_paragraph("two", style="List Number")
        document.add_paragraph("dot", style="List Bullet")

    page = convert("a.docx", build_docx(fill))
    assert (page.title, page.author, page.labels) == ("Disk guide", "Li Wei", ("ops", "disk"))
    assert page.markdown == "# Steps\n\nRead this.\n\n1. one\n2. two\n- dot"


def test_numbers_that_only_word_knows_are_written(convert: Convert) -> None:
    def fill(document: Any) -> None:
        add_numbering(document)
        for text, level in (
            ("总则", 0), ("甲方", 1), ("乙方", 1), ("细节", 2), ("付款", 0), ("期限", 1),
        ):  # fmt: skip
            add_item(document, text, level)

    assert convert("a.docx", build_docx(fill)).markdown == (
        "第一条 总则\n\n1. 甲方\n2. 乙方\n   - (a) 细节\n\n第二条 付款\n\n1. 期限"
    )


@pytest.mark.parametrize(
    ("number", "name", "expected"),
    [
        (3, "lowerLetter", "c"),
        (28, "upperLetter", "BB"),
        (14, "lowerRoman", "xiv"),
        (10, "chineseCounting", "十"),
        (11, "chineseCounting", "十一"),
        (105, "chineseCountingThousand", "一百零五"),
        (20, "japaneseCounting", "二十"),
        (3, "decimalEnclosedCircle", "③"),
        (2, "ideographTraditional", "乙"),
        (7, "somethingNew", "7"),
    ],
)
def test_number_formats(number: int, name: str, expected: str) -> None:
    assert format_number(number, name) == expected


def test_merged_cells_are_said_in_every_row(convert: Convert) -> None:
    def fill(document: Any) -> None:
        table = document.add_table(4, 3)
        cells = [
            ["Team", "Contact", ""],
            ["Ops", "Li", "1|2"],
            ["", "Wang", "3"],
            ["Total", "", ""],
        ]
        for row, texts in zip(table.rows, cells, strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text
        table.cell(0, 1).merge(table.cell(0, 2))
        table.cell(1, 0).merge(table.cell(2, 0))
        table.cell(3, 0).merge(table.cell(3, 2))

    markdown = convert("a.docx", build_docx(fill)).markdown
    assert markdown == (
        "| Team | Contact | Contact |\n| --- | --- | --- |\n"
        "| Ops | Li | 1\\|2 |\n| Ops | Wang | 3 |\n| Total |  |  |"
    )


def test_headers_footers_deleted_and_hidden_text_stay_out(convert: Convert) -> None:
    def fill(document: Any) -> None:
        document.sections[0].header.paragraphs[0].text = "Running header"
        document.sections[0].footer.paragraphs[0].text = "Running footer"
        document.add_paragraph("kept").add_run(" hidden").font.hidden = True
        add_xml(
            document,
            f'<w:p {DECLARATIONS}><w:del w:id="1" w:author="x"><w:r><w:delText>gone</w:delText>'
            '</w:r></w:del><w:ins w:id="2" w:author="x"><w:r><w:t>new</w:t></w:r></w:ins></w:p>',
        )

    assert convert("a.docx", build_docx(fill)).markdown == "kept\n\nnew"


BOX = """<w:p {n} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"
 xmlns:v="urn:schemas-microsoft-com:vml"><w:r><w:t>outside</w:t></w:r><w:r><mc:AlternateContent>
<mc:Choice Requires="wps"><w:drawing><w:txbxContent><w:p><w:r><w:t>in the box</w:t></w:r></w:p>
</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent><w:p><w:r>
<w:t>in the box</w:t></w:r></w:p></w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent>
</w:r></w:p>"""
CHECK = """<w:p {n} xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w:sdt><w:sdtPr>
<w14:checkbox><w14:checked w14:val="{v}"/></w14:checkbox></w:sdtPr><w:sdtContent><w:r><w:t>☒</w:t>
</w:r></w:sdtContent></w:sdt><w:r><w:t>{t}</w:t></w:r></w:p>"""
FORMULA = """<w:p {n} xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:oMath>
<m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f><m:sSup>
<m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></w:p>"""


def test_text_boxes_check_boxes_and_formulas_are_read_once(convert: Convert) -> None:
    def fill(document: Any) -> None:
        for xml in (
            BOX.format(n=DECLARATIONS),
            CHECK.format(n=DECLARATIONS, v=1, t="done"),
            CHECK.format(n=DECLARATIONS, v=0, t="open"),
            FORMULA.format(n=DECLARATIONS),
        ):
            add_xml(document, xml)

    assert convert("a.docx", build_docx(fill)).markdown == (
        "outside\n\nin the box\n\n- [x] done\n- [ ] open\n\n(a)/(b)x^2"
    )


def test_bold_lines_are_headings_where_there_are_no_others(convert: Convert) -> None:
    def fill(document: Any) -> None:
        document.add_paragraph("").add_run("一、适用范围").bold = True
        document.add_paragraph("本规定适用于全体员工。")

    assert (
        convert("a.docx", build_docx(fill)).markdown == "## 一、适用范围\n\n本规定适用于全体员工。"
    )


def test_truncated_file_is_refused(convert: Convert) -> None:
    data = build_docx(lambda document: document.add_paragraph("x"))
    with pytest.raises(UnsupportedContentError, match="damaged or cut short"):
        convert("a.docx", data[: len(data) // 2])


def test_damaged_xml_is_refused(convert: Convert) -> None:
    data = build_docx(lambda document: document.add_paragraph("x"))
    broken = replace_member(data, "word/document.xml", lambda xml: xml[: len(xml) // 2])
    with pytest.raises(UnsupportedContentError, match="not valid XML"):
        convert("a.docx", broken)


def test_entities_are_refused(convert: Convert) -> None:
    data = build_docx(lambda document: document.add_paragraph("x"))
    attack = replace_member(
        data,
        "word/document.xml",
        lambda xml: re.sub(
            rb"\?>", b'?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>', xml, count=1
        ),
    )
    with pytest.raises(UnsupportedContentError, match="document type declaration"):
        convert("a.docx", attack)


def test_zip_bomb_is_refused_before_it_is_unpacked(convert: Convert) -> None:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * 60_000_000)
    with pytest.raises(UnsupportedContentError, match="refused as unsafe"):
        convert("a.docx", buffer.getvalue())

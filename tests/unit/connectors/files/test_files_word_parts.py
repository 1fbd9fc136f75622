import zipfile
from io import BytesIO
from typing import Any

import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from lxml import etree

from connectors.files.word_charts import read_chart
from connectors.files.word_numbering import parse_numbering
from core.errors import UnsupportedContentError
from tests.fakes.file_builders import build_docx
from tests.unit.connectors.files.conftest import Convert

W = nsdecls("w")
FOOTNOTES = f"""<w:footnotes {W}><w:footnote w:id="2"><w:p><w:r><w:t>See the contract.</w:t></w:r>
</w:p></w:footnote></w:footnotes>"""
CHART = """<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart><c:title><c:tx><c:rich>
<a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser>
<c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>2025</c:v></c:pt></c:strCache></c:strRef></c:tx>
<c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>North</c:v></c:pt><c:pt idx="1"><c:v>South</c:v>
</c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:pt idx="0">
<c:v>4.4000000000000004</c:v></c:pt><c:pt idx="1"><c:v>2</c:v></c:pt></c:numCache></c:numRef>
</c:val></c:ser></c:barChart>
</c:plotArea></c:chart></c:chartSpace>"""


def add_member(archive: bytes, name: str, content: str) -> bytes:
    buffer = BytesIO(archive)
    with zipfile.ZipFile(buffer, "a") as opened:
        opened.writestr(name, content)
    return buffer.getvalue()


def add_xml(document: Any, xml: str) -> None:
    body = document.element.body
    body.insert(len(body) - 1, parse_xml(xml))


def test_chart_is_a_table_of_its_figures() -> None:
    expected = "Sales\n\n|  | 2025 |\n| --- | --- |\n| North | 4.4 |\n| South | 2 |"
    assert read_chart(etree.fromstring(CHART)) == expected
    empty = '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"/>'
    assert read_chart(etree.fromstring(empty)) == ""
    assert read_chart(None) == ""


def test_chart_stands_where_it_is_shown(convert: Convert) -> None:
    def fill(document: Any) -> None:
        document.part.rels.get_or_add_ext_rel("x", "y")
        document.add_paragraph("before")
        add_xml(
            document,
            f'<w:p {nsdecls("w", "r")}><w:r><w:drawing><c:chart r:id="rId90" '
            'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"/></w:drawing></w:r>'
            "</w:p>",
        )

    data = build_docx(fill)
    relation = '<Relationship Id="rId90" Type="chart" Target="charts/chart1.xml"/></Relationships>'
    rebuilt = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(rebuilt, "w") as new:
        for name in old.namelist():
            content = old.read(name).decode("latin-1")
            if name == "word/_rels/document.xml.rels":
                content = content.replace("</Relationships>", relation)
            new.writestr(name, content.encode("latin-1"))
        new.writestr("word/charts/chart1.xml", CHART)
    assert "before\n\nSales\n\n|  | 2025 |" in convert("a.docx", rebuilt.getvalue()).markdown


def test_notes_links_and_form_fields(convert: Convert) -> None:
    def fill(document: Any) -> None:
        link = document.part.relate_to("https://example.com/a", "hyperlink", is_external=True)
        for xml in (
            '<w:r><w:t>Price</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>',
            f'<w:hyperlink r:id="{link}"><w:r><w:t>the page</w:t></w:r></w:hyperlink>',
            '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="0"/>'
            "<w:checked/></w:checkBox></w:ffData></w:fldChar></w:r><w:r><w:instrText>FORMCHECKBOX"
            "</w:instrText></w:r><w:r><w:t>agreed</w:t></w:r>",
            '<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>'
            '<w:r><w:t xml:space="preserve"> yes</w:t></w:r>',
            "<w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:tab/><w:t>c</w:t><w:noBreakHyphen/>"
            '<w:t>d</w:t><w:br w:type="page"/></w:r>',
        ):
            add_xml(document, f"<w:p {nsdecls('w', 'r')}>{xml}</w:p>")

    data = add_member(build_docx(fill), "word/footnotes.xml", FOOTNOTES)
    assert convert("a.docx", data).markdown == (
        "Price[1]\n\n[the page](https://example.com/a)\n\n- [x] agreed\n- [x] yes\n\n"
        "a\nb c-d\n\n[1] See the contract."
    )


def test_table_of_contents_is_left_out(convert: Convert) -> None:
    def fill(document: Any) -> None:
        add_xml(
            document,
            f"<w:sdt {W}><w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/>"
            "</w:docPartObj></w:sdtPr><w:sdtContent><w:p><w:r><w:t>Intro 1</w:t></w:r></w:p>"
            "</w:sdtContent></w:sdt>",
        )
        add_xml(
            document,
            f"<w:sdt {W}><w:sdtContent><w:p><w:r><w:t>kept</w:t></w:r></w:p></w:sdtContent>"
            "</w:sdt>",
        )

    assert convert("a.docx", build_docx(fill)).markdown == "kept"


def test_frame_of_one_cell_is_no_table(convert: Convert) -> None:
    def fill(document: Any) -> None:
        document.add_table(1, 1).cell(0, 0).text = "Take care."

    assert convert("a.docx", build_docx(fill)).markdown == "Take care."


def test_cells_of_several_paragraphs_stay_on_one_line(convert: Convert) -> None:
    def fill(document: Any) -> None:
        table = document.add_table(2, 2)
        table.cell(0, 0).text = "Name"
        table.cell(0, 1).text = "Duty"
        table.cell(1, 0).text = "Li"
        table.cell(1, 1).text = "first\nsecond"
        table.cell(1, 1).add_paragraph("第三。")
        table.cell(1, 1).add_paragraph("fourth")

    assert convert("a.docx", build_docx(fill)).markdown.endswith(
        "| Li | first second; 第三。 fourth |"
    )


NUMBERING = f"""<w:numbering {W}>
<w:abstractNum w:abstractNumId="1"><w:styleLink w:val="Own"/><w:lvl w:ilvl="0">
<w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1"/></w:lvl><w:lvl w:ilvl="1"><w:isLgl/>
<w:numFmt w:val="decimal"/>
<w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="2"><w:numStyleLink w:val="Own"/></w:abstractNum>
<w:abstractNum w:abstractNumId="3"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/>
<w:lvlText w:val="o"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="3"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0">
<w:startOverride w:val="7"/></w:lvlOverride></w:num></w:numbering>"""


def test_list_definitions_by_style_override_and_law() -> None:
    numbering = parse_numbering(etree.fromstring(NUMBERING))
    assert numbering.get_label("2", 0) == "I"
    assert numbering.get_label("2", 1) == "1.1"
    assert numbering.get_label("3", 0) == "•"
    assert numbering.get_label("4", 0) == "VII"
    assert numbering.get_label("9", 0) is None
    assert numbering.get_label("1", 5) is None


def test_encrypted_member_is_refused(convert: Convert) -> None:
    data = bytearray(build_docx(lambda document: document.add_paragraph("x")))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        position = data.find(signature)
        while position >= 0:
            data[position + offset] |= 1
            position = data.find(signature, position + 1)
    with pytest.raises(UnsupportedContentError, match=r"encrypted|unpacked"):
        convert("a.docx", bytes(data))

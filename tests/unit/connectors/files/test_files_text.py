import zipfile
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.files.converted import FileKind
from connectors.files.sniff import get_kind
from connectors.files.text import decode_text
from core.errors import UnsupportedContentError
from tests.fakes.file_builders import build_docx, build_pdf, build_picture, build_xlsx, draw_lines
from tests.unit.connectors.files.conftest import Convert

CHINESE = "磁盘空间不足时，请先清理日志文件，再检查数据库的备份策略。\n联系人：张三（运维部）\n" * 3
TRADITIONAL = "當磁碟空間不足時，請先清理記錄檔，再檢查資料庫的備份策略。\n" * 3
WESTERN = "Die Prüfung der Geräte dauert über drei Wochen. Façade, déjà vu, naïve.\n" * 3


@pytest.mark.parametrize(
    ("text", "encoding", "bom"),
    [
        (CHINESE, "utf-8", b""),
        (CHINESE, "utf-8", b"\xef\xbb\xbf"),
        (CHINESE, "gb18030", b""),
        (CHINESE, "gbk", b""),
        (CHINESE, "utf-16-le", b"\xff\xfe"),
        (CHINESE, "utf-16-be", b"\xfe\xff"),
        ("Plain English text.\n", "utf-16-le", b""),
        ("Plain English text.\n", "utf-16-be", b""),
        ("Plain English text.\n", "utf-32-le", b"\xff\xfe\x00\x00"),
        (TRADITIONAL, "big5", b""),
        (WESTERN, "cp1252", b""),
        ("plain ASCII", "ascii", b""),
    ],
)
def test_encodings_are_told_apart(text: str, encoding: str, bom: bytes) -> None:
    assert decode_text(bom + text.encode(encoding), "a.txt").text == text


def test_few_damaged_bytes_are_noted() -> None:
    data = CHINESE.encode() * 5
    decoded = decode_text(data + b"\xff" + data, "a.txt")
    assert decoded.encoding == "utf-8"
    assert "1 places" in decoded.note


def test_text_in_no_known_encoding_is_refused_with_a_remedy() -> None:
    with pytest.raises(UnsupportedContentError, match="save it as UTF-8"):
        decode_text("Привет, как дела? Проверка текста.".encode("koi8-r") * 5, "a.txt")


def test_binary_data_is_no_text() -> None:
    with pytest.raises(UnsupportedContentError, match="binary"):
        decode_text(bytes(range(256)) * 20, "a.txt")


@given(st.binary(max_size=300))
def test_any_bytes_are_text_or_refused(data: bytes) -> None:
    try:
        decoded = decode_text(data, "a.txt")
    except UnsupportedContentError:
        return
    assert isinstance(decoded.text, str)


@given(st.text(min_size=1, max_size=200))
def test_utf8_is_never_taken_for_anything_else(text: str) -> None:
    if "\x00" not in text and not text.startswith("\ufeff"):
        assert decode_text(text.encode(), "a.txt").text == text


def build_zip(*names: str) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return buffer.getvalue()


PDF = build_pdf(lambda canvas: draw_lines(canvas, ["text"]))


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.docx", PDF, FileKind.PDF),
        ("a.pdf", build_docx(lambda one: one.add_paragraph("x")), FileKind.WORD),
        ("a.docx", build_xlsx(lambda _: None), FileKind.EXCEL),
        ("a.xls", b"<html><body><table><tr><td>1</td></tr></table></body></html>", FileKind.HTML),
        ("a.txt", b"<!DOCTYPE html><html></html>", FileKind.HTML),
        ("a.pdf", b"just text", FileKind.TEXT),
        ("a.xlsx", b"a,b\n1,2\n", FileKind.DELIMITED),
        ("a.dat", build_picture(["x"]), FileKind.IMAGE),
    ],
)
def test_mislabelled_files_are_known_by_their_bytes(name: str, data: bytes, kind: FileKind) -> None:
    found, _ = get_kind(name, data)
    assert found is kind


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n ", "empty"),
        (build_zip("a.txt"), "zip archive"),
        (build_zip("ppt/presentation.xml"), "PowerPoint"),
        (build_zip("mimetype", "content.xml"), "OpenDocument"),
        (b"PK\x03\x04 cut", "damaged or cut short"),
        (b"\x1f\x8b\x08\x00rest", "gzip"),
        (b"\x7fELF\x02\x01\x01\x00", "program"),
        (b"\x00\x00\x00\x18ftypmp42\x00", "film"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le"), "old Word"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "encrypted",
        ),
    ],
)
def test_what_is_not_read_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(UnsupportedContentError, match=reason):
        get_kind("a.bin", data)


def test_mislabelled_file_is_read_with_a_note(convert: Convert) -> None:
    converted = convert("report.docx", "<html><body><p>Hello</p></body></html>")
    assert converted.markdown == "Hello"
    assert converted.notes == ("named .docx but is HTML; read as such",)


def test_words_that_look_like_a_file_signature_are_text(convert: Convert) -> None:
    assert convert("a.txt", "MZ is short for Mark").markdown == "MZ is short for Mark"
    assert convert("b.txt", "BMW and BM25").markdown == "BMW and BM25"


def test_code_is_fenced_whole(convert: Convert) -> None:
    converted = convert("tool.py", 'def f():\n    """```"""\n    return 1\n')
    assert converted.title == "tool.py"
    assert converted.markdown.startswith("````python\n")
    assert converted.markdown.endswith("\n````")


def test_plain_text_makes_no_headings_by_accident(convert: Convert) -> None:
    markdown = convert("a.txt", "# comment\n\n        indented\n- item").markdown
    assert markdown == "\\# comment\n\nindented\n- item"

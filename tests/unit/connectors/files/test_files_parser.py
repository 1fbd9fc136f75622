from io import BytesIO

import pytest

from connectors.files.converted import Job, clean_author, clean_title
from connectors.files.ocr import is_ocr_installed
from connectors.files.parser_process import _answer, _read_job, build_request
from core.errors import UnsupportedContentError
from tests.fakes.file_builders import build_picture
from tests.unit.connectors.files.conftest import Convert

needs_ocr = pytest.mark.skipif(not is_ocr_installed(), reason="the extra `ocr` is not installed")


def test_request_is_read_as_it_was_written() -> None:
    job = Job(name="表.csv", data=b"a,b\n1,2\n")
    replies = BytesIO()
    read = _read_job(BytesIO(build_request(job)), replies)
    assert read is not None
    assert (read.name, read.data, read.limits) == (job.name, job.data, job.limits)
    read.report()
    assert b"alive" in replies.getvalue()
    assert _read_job(BytesIO(b"\x00\x00"), replies) is None


def test_answer_is_a_text_or_a_reason() -> None:
    assert "| 1 | 2 |" in _answer(Job(name="a.csv", data=b"a,b\n1,2\n"))["converted"]["markdown"]
    assert "empty" in _answer(Job(name="a.md", data=b""))["reason"]
    assert "damaged" in _answer(Job(name="a.pdf", data=b"%PDF-1.4 nothing"))["reason"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Li Wei", "Li Wei"), ("python-docx", ""), ("Administrator", ""), (None, ""), ("  ", "")],
)
def test_authors(name: str | None, expected: str) -> None:
    assert clean_author(name) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Disk guide", "Disk guide"),
        ("Microsoft Word - x.doc", ""),
        ("report.docx", ""),
        ("untitled", ""),
        ("a", ""),
        ("\ufffd\ufffdx", ""),
    ],
)
def test_titles(title: str, expected: str) -> None:
    assert clean_title(title, "a.docx") == expected


def test_damaged_picture_is_refused(convert: Convert) -> None:
    with pytest.raises(UnsupportedContentError, match="picture"):
        convert("a.png", build_picture(["x"])[:60])


@needs_ocr
@pytest.mark.ocr
def test_picture_is_read_in_lines(convert: Convert) -> None:
    picture = build_picture(["Clean the disk on Friday and then"])
    assert convert("a.png", picture).markdown == "Clean the disk on Friday and then"


@needs_ocr
@pytest.mark.ocr
def test_picture_without_text_says_so(convert: Convert) -> None:
    with pytest.raises(UnsupportedContentError, match="without text"):
        convert("a.png", build_picture([""]))

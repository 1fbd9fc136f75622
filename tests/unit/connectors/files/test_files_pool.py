import asyncio
from pathlib import Path

import pytest

from connectors.files.convert import convert_file
from connectors.files.converted import Job
from connectors.files.frames import converted_from_json, converted_to_json
from connectors.files.ocr import is_ocr_installed
from connectors.files.parser_pool import ParserPool
from core.errors import UnsupportedContentError
from knowledge.documents import DocumentId
from knowledge.source import Upserted
from tests.fakes.file_builders import (
    build_docx,
    build_pdf,
    build_picture,
    build_scan,
    draw_lines,
    write,
)
from tests.fakes.files_ledger import FilesLedger
from tests.unit.connectors.files.conftest import Convert, SourceMaker

PDF = build_pdf(lambda canvas: draw_lines(canvas, ["Some text on a page of its own."]))
needs_ocr = pytest.mark.skipif(not is_ocr_installed(), reason="the extra `ocr` is not installed")


async def test_process_answers_as_this_one_would() -> None:
    pool = ParserPool(size=1, timeout_s=60)
    job = Job(name="a.pdf", data=PDF)
    converted = await pool.convert(job)
    await pool.close()
    assert converted == convert_file(job)
    assert converted_from_json(converted_to_json(converted)) == converted


async def test_parser_that_gets_nowhere_is_stopped_and_the_next_file_is_read() -> None:
    pool = ParserPool(size=1, timeout_s=0.001)
    with pytest.raises(UnsupportedContentError, match="got nowhere for 0.001 s"):
        await pool.convert(Job(name="a.pdf", data=PDF))
    assert pool._idle == []
    pool._timeout_s = 60
    assert (await pool.convert(Job(name="a.pdf", data=PDF))).markdown
    await pool.close()
    await pool.close()


async def test_process_killed_while_it_waited_costs_nothing() -> None:
    pool = ParserPool(size=1, timeout_s=60)
    await pool.convert(Job(name="a.pdf", data=PDF))
    pool._idle[0].kill()
    assert (await pool.convert(Job(name="a.pdf", data=PDF))).markdown
    await pool.close()


async def test_cancelled_run_leaves_no_process() -> None:
    pool = ParserPool(size=1, timeout_s=60)
    task = asyncio.create_task(pool.convert(Job(name="a.pdf", data=PDF)))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert pool._idle == []


async def test_bad_file_does_not_stop_the_good_ones(root: Path, open_source: SourceMaker) -> None:
    good = build_docx(lambda document: document.add_paragraph("good"))
    write(root, {"a.pdf": PDF[:500], "b.docx": good, "c.pdf": PDF, "d.md": "text"})
    run = await FilesLedger().sync(open_source())
    assert sorted(run.documents) == ["notes:b.docx", "notes:c.pdf", "notes:d.md"]
    assert "damaged" in run.failures[DocumentId("notes:a.pdf")]


async def test_scan_without_ocr_says_how_to_have_it_read(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"scan.pdf": build_scan(["Hello"]), "photo.png": build_picture(["Hello"])})
    run = await FilesLedger().sync(open_source(ocr=False))
    assert not run.documents
    assert "scanned, no text in it" in run.failures[DocumentId("notes:scan.pdf")]
    assert "ocr = false" in run.failures[DocumentId("notes:photo.png")]


def test_page_without_text_among_others_is_noted(convert: Convert) -> None:
    from PIL import Image  # noqa: PLC0415

    picture = Image.new("RGB", (200, 200), "grey")
    pdf = build_pdf(
        lambda canvas: draw_lines(canvas, ["Some text on a page of its own."]),
        lambda canvas: canvas.drawInlineImage(picture, 0, 0, 595, 842),
    )
    page = convert("a.pdf", pdf, ocr=False)
    assert "Some text" in page.markdown
    assert page.notes == ("page 2: scanned, no text in it; its source has `ocr = false`",)


@needs_ocr
@pytest.mark.ocr
async def test_scans_and_pictures_are_found_by_their_words(
    root: Path, open_source: SourceMaker
) -> None:
    lines = ["Clean the disk on Friday", "Ask Li Wei for the key"]
    write(root, {"scan.pdf": build_scan(lines), "photo.jpg": build_picture(lines, "JPEG")})
    ledger = FilesLedger()
    run = await ledger.sync(open_source())
    scan = run.documents[DocumentId("notes:scan.pdf")].content.parts[0].markdown
    photo = run.documents[DocumentId("notes:photo.jpg")].content.parts[0].markdown
    assert scan.startswith("<!-- page 1 -->")
    for text in (scan, photo):
        assert "Clean the disk on Friday" in text
        assert "Li Wei" in text
    assert (await ledger.sync(open_source())).ids(Upserted) == []


@needs_ocr
@pytest.mark.ocr
def test_scanned_pages_beyond_the_limit_are_noted(convert: Convert) -> None:
    with pytest.raises(UnsupportedContentError, match="max_ocr_pages"):
        convert("scan.pdf", build_scan(["Hello there"]), max_ocr_pages=0)

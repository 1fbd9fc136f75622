"""PDF to Markdown, page by page; pages without usable text are read by OCR."""

import io
import logging
import re
from collections.abc import Sequence
from typing import Any

import pdfplumber
import pypdfium2
from pdfminer.pdfdocument import PDFPasswordIncorrect
from pdfminer.pdfexceptions import PDFException
from pdfplumber.utils.exceptions import PdfminerException

from connectors.files.converted import Converted, Job, clean_author, clean_title
from connectors.files.markdown import take_title
from connectors.files.ocr import MISSING, TARGET_PIXELS, is_ocr_installed, read_picture
from connectors.files.pdf_pages import PageText, write_pages
from connectors.files.pdf_tables import drop_chars, find_tables
from connectors.files.pdf_text import build_lines
from core.errors import UnsupportedContentError

_MIN_CHARS = 20
_MIN_PICTURE_SHARE = 0.4
_MAX_CHARS = 60_000
_MAX_GARBLED = 0.1
_MAX_ODD = 0.4
_CLAUSE = re.compile(r"\d+(?:\.\d+)+\s")
_CID = re.compile(r"\(cid:\d+\)")
_PARSER_ERRORS = (
    PDFException, PdfminerException, ValueError, KeyError, TypeError, IndexError, AttributeError,
    AssertionError, OSError, ZeroDivisionError,
)  # fmt: skip
logging.getLogger("pdfminer").setLevel(logging.CRITICAL)


def convert_pdf(job: Job) -> Converted:
    """Convert a PDF."""
    rendered = _open(job)
    try:
        return _convert(job, rendered)
    finally:
        rendered.close()


def _open(job: Job) -> pypdfium2.PdfDocument:
    try:
        document = pypdfium2.PdfDocument(job.data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise UnsupportedContentError(
                f"{job.name!r} is encrypted with a password; save it without one"
            ) from error
        raise UnsupportedContentError(
            f"{job.name!r} is damaged or cut short ({error}); save it again"
        ) from error
    if len(document) == 0:
        raise UnsupportedContentError(f"{job.name!r} has no pages")
    return document


def _convert(job: Job, rendered: pypdfium2.PdfDocument) -> Converted:
    count = len(rendered)
    pages: list[PageText] = []
    notes = _Notes(job)
    try:
        with pdfplumber.open(io.BytesIO(job.data)) as document:
            metadata = dict(document.metadata or {})
            total = min(len(document.pages), job.limits.max_pages)
            for number in range(1, total + 1):
                page = document.pages[number - 1]
                pages.append(_read_page(page, number, rendered, notes))
                page.close()
                job.report()
    except PDFPasswordIncorrect as error:
        raise UnsupportedContentError(
            f"{job.name!r} is encrypted with a password; save it without one"
        ) from error
    except _PARSER_ERRORS as error:
        raise UnsupportedContentError(
            f"{job.name!r} is damaged ({type(error).__name__}: {error}); save it again"
        ) from error
    markdown = write_pages(pages)
    if not any(page.lines or page.tables for page in pages):
        raise UnsupportedContentError(notes.describe_failure())
    if count > len(pages):
        notes.others.append(f"only the first {len(pages)} of {count} pages were read (max_pages)")
    title, markdown = _take_title(markdown)
    return Converted(
        markdown=markdown,
        title=title or clean_title(_decode(metadata.get("Title")), job.name),
        author=clean_author(_decode(metadata.get("Author"))),
        needs_ocr=notes.lacks_ocr,
        notes=notes.write(),
    )


def _take_title(markdown: str) -> tuple[str, str]:
    """Take the title out from behind the first page's mark, which stays."""
    mark, _, rest = markdown.partition("\n\n")
    title, body = take_title("", rest)
    # A clause's number says that the beginning, with the title, is not in this file.
    if _CLAUSE.match(title):
        return "", markdown
    return title, f"{mark}\n\n{body.strip()}"


class _Notes:
    """Collects pages that could not be read, and why."""

    def __init__(self, job: Job) -> None:
        self._name = job.name
        self._wants_ocr = job.limits.ocr
        self._left = job.limits.max_ocr_pages
        self._reasons: dict[str, list[int]] = {}
        self.others: list[str] = []
        self.lacks_ocr = False

    def may_read(self, page: int, what: str) -> bool:
        """Tell whether a page may be read by OCR; else note why it is left out."""
        if not self._wants_ocr:
            self._add(f"{what}; its source has `ocr = false`", page)
        elif not is_ocr_installed():
            self.lacks_ocr = True
            self._add(f"{what}; {MISSING}", page)
        elif self._left <= 0:
            self._add(f"{what}; more than max_ocr_pages", page)
        else:
            self._left -= 1
            return True
        return False

    def _add(self, reason: str, page: int) -> None:
        self._reasons.setdefault(reason, []).append(page)

    def add_empty(self, page: int) -> None:
        """Note a picture in which no text was found."""
        self._add("a picture without text", page)

    def write(self) -> tuple[str, ...]:
        """Return all notes, pages of one reason together."""
        return (
            *(f"{_write_range(pages)}: {reason}" for reason, pages in self._reasons.items()),
            *self.others,
        )

    def describe_failure(self) -> str:
        """Say why nothing at all was read."""
        return f"{self._name!r}: {'; '.join(self.write()) or 'no page holds any text'}"


def _write_range(pages: Sequence[int]) -> str:
    if len(pages) == 1:
        return f"page {pages[0]}"
    is_run = pages[-1] - pages[0] == len(pages) - 1
    return f"pages {pages[0]}-{pages[-1]}" if is_run else f"pages {', '.join(map(str, pages))}"


def _read_page(
    page: Any,  # noqa: ANN401 - pdfplumber has no types
    number: int,
    rendered: pypdfium2.PdfDocument,
    notes: _Notes,
) -> PageText:
    chars = [char for char in page.chars[:_MAX_CHARS] if _is_on_page(char, page)]
    text = "".join(char["text"] for char in chars)
    result = PageText(number=number, width=float(page.width), height=float(page.height))
    what = _find_fault(page, text)
    if what:
        if notes.may_read(number, what):
            result.lines, result.is_ocr = _recognise(rendered, number, page), True
            if not result.lines:
                notes.add_empty(number)
        return result
    result.tables = find_tables(page, chars)
    result.lines = build_lines(drop_chars(chars, result.tables))
    return result


def _is_on_page(char: dict[str, Any], page: Any) -> bool:  # noqa: ANN401
    return bool(
        char["x1"] > 0
        and char["x0"] < page.width
        and char["bottom"] > 0
        and char["top"] < page.height
    )


def _find_fault(page: Any, text: str) -> str:  # noqa: ANN401
    """Say what is wrong with a page's text; empty when it can be used."""
    if measure_garbling(text) > _MAX_GARBLED:
        return "its text is unreadable (fonts without a usable map of characters)"
    if sum(not char.isspace() for char in text) >= _MIN_CHARS:
        return ""
    area = float(page.width * page.height) or 1.0
    pictures = sum(
        max(0.0, min(one["x1"], page.width) - max(one["x0"], 0))
        * max(0.0, min(one["bottom"], page.height) - max(one["top"], 0))
        for one in page.images
    )
    return "scanned, no text in it" if pictures > _MIN_PICTURE_SHARE * area else ""


def measure_garbling(text: str) -> float:
    """Return the share of characters that no writer would use.

    Control and private characters, unmapped glyphs, and letters of Western Europe or loose accents
    where they stand among few plain ones: a font's own numbering read as if it were Latin-1.
    """
    unmapped = len(_CID.findall(text))
    plain = [char for char in _CID.sub("", text) if not char.isspace()]
    total = len(plain) + unmapped
    if total < _MIN_CHARS:
        return 0.0
    impossible = unmapped + sum(
        1
        for char in plain
        if char < " "
        or "\x7f" <= char <= "\x9f"
        or "\ue000" <= char <= "\uf8ff"
        or char == "\ufffd"
    )
    odd = sum(1 for char in plain if "\xa0" <= char <= "\xff" or "\u02b0" <= char <= "\u02ff")
    letters = sum(1 for char in plain if char.isascii() and char.isalpha())
    # In German or French at most every third letter is one of them.
    is_odd = odd > _MAX_ODD * (odd + letters)
    return (impossible + (odd if is_odd else 0)) / total


def _recognise(rendered: pypdfium2.PdfDocument, number: int, page: Any) -> list[Any]:  # noqa: ANN401
    scale = min(4.0, TARGET_PIXELS / max(float(page.width), float(page.height), 1.0))
    sheet = rendered[number - 1]
    try:
        bitmap = sheet.render(scale=scale, rev_byteorder=True)
        return read_picture(bitmap.to_numpy()[:, :, :3], scale)
    finally:
        sheet.close()


def _decode(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="ignore")
    return value if isinstance(value, str) else ""

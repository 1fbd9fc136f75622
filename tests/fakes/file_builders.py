"""Real files for the tests of the files source, built on the spot."""

import io
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import docx
import openpyxl
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

CHINESE_FONT = "STSong-Light"
WIDTH, HEIGHT = A4


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files below a folder, which is made."""
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)


def move(old: Path, new: Path) -> None:
    """Rename a file or folder; the new one's folder is made."""
    new.parent.mkdir(parents=True, exist_ok=True)
    old.rename(new)


def touch(file: Path, seconds: int) -> None:
    """Move a file's time on."""
    moment = file.stat().st_mtime_ns + seconds * 1_000_000_000
    os.utime(file, ns=(moment, moment))


def build_pdf(
    *pages: Callable[[Canvas], object],
    password: str = "",
    title: str = "",
    size: tuple[float, float] = A4,
) -> bytes:
    """Draw a PDF, one function a page; the origin is the lower left corner."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=size, encrypt=password or None)
    pdfmetrics.registerFont(UnicodeCIDFont(CHINESE_FONT))
    if title:
        canvas.setTitle(title)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def draw_lines(
    canvas: Canvas,
    lines: Sequence[str],
    *,
    x: float = 72,
    y: float = 720,
    size: float = 11,
    font: str = "Helvetica",
    leading: float = 1.3,
) -> float:
    """Draw lines of text downwards and return the height below them."""
    for line in lines:
        canvas.setFont(font, size)
        canvas.drawString(x, y, line)
        y -= size * leading
    return y


def draw_table(canvas: Canvas, rows: Sequence[Sequence[str]], *, y: float = 600) -> None:
    """Draw a ruled table of cells 120 points wide and 20 high."""
    xs = [72 + 120 * number for number in range(len(rows[0]) + 1)]
    ys = [y - 20 * number for number in range(len(rows) + 1)]
    canvas.grid(xs, ys)
    canvas.setFont("Helvetica", 10)
    for row, top in zip(rows, ys, strict=False):
        for text, left in zip(row, xs, strict=False):
            canvas.drawString(left + 4, top - 14, text)


def build_picture(lines: Sequence[str], kind: str = "PNG") -> bytes:
    """Draw black lines of text on white."""
    image = Image.new("RGB", (900, 80 + 70 * len(lines)), "white")
    pen = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        pen.text((40, 30 + 70 * number), line, fill="black", font=ImageFont.load_default(44))
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def build_scan(lines: Sequence[str]) -> bytes:
    """Build a PDF of one page that is nothing but a picture."""
    picture = Image.open(io.BytesIO(build_picture(lines)))

    def draw(canvas: Canvas) -> None:
        canvas.drawInlineImage(picture, 0, 0, WIDTH, WIDTH * picture.height / picture.width)

    return build_pdf(draw, size=(WIDTH, WIDTH * picture.height / picture.width))


def build_docx(fill: Callable[["docx.document.Document"], object]) -> bytes:
    """Build a Word file."""
    document = docx.Document()
    fill(document)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def build_xlsx(fill: Callable[[openpyxl.Workbook], object]) -> bytes:
    """Build an Excel file."""
    book = openpyxl.Workbook()
    fill(book)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def replace_member(archive: bytes, member: str, change: Callable[[bytes], bytes]) -> bytes:
    """Return a zip archive with one member changed."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, change(data) if name == member else data)
    return buffer.getvalue()

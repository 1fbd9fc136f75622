"""What a converter makes of a file's bytes, and within which limits. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.settings import FilesSettings


class FileKind(StrEnum):
    """What a file really is, whatever it is called."""

    MARKDOWN = "markdown"
    HTML = "HTML"
    PDF = "PDF"
    WORD = "Word"
    EXCEL = "Excel"
    DELIMITED = "CSV"
    TEXT = "text"
    CODE = "code"
    IMAGE = "image"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a file is read; see `FilesSettings`."""

    max_pages: int = 2000
    max_ocr_pages: int = 200
    max_table_rows: int = 5000
    max_unpacked_bytes: int = 500_000_000
    ocr: bool = True

    @classmethod
    def from_settings(cls, settings: FilesSettings) -> "Limits":
        """Take over what the operator has set."""
        return cls(
            max_pages=settings.max_pages,
            max_ocr_pages=settings.max_ocr_pages,
            max_table_rows=settings.max_table_rows,
            max_unpacked_bytes=int(settings.max_file_mb * 10_000_000),
            ocr=settings.ocr,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLink:
    """A link as the author wrote it; `target` is a path or a page's name, without anchor."""

    target: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """The text of a file as Markdown, with what the file says about itself.

    Attributes:
        title: The file's own title; empty when it has none worth showing.
        at: When the author says this state came into force; None = not said.
        version: The author's own count, when it is a whole number; 0 = not said.
        needs_ocr: Part of the text could not be read for want of OCR.
        notes: What could not be read though the rest could.
    """

    markdown: str
    title: str = ""
    author: str = ""
    labels: tuple[str, ...] = ()
    at: datetime | None = None
    version: int = 0
    version_label: str = ""
    is_archived: bool = False
    links: tuple[PageLink, ...] = ()
    needs_ocr: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One file to convert.

    Attributes:
        name: The file's name, for messages and for the kind of code it holds.
        report: Called after every page or sheet; a parser that does not call it for too long is
            taken to hang.
    """

    name: str
    data: bytes
    limits: Limits = field(default_factory=Limits)
    report: Callable[[], None] = lambda: None


Converter = Callable[[Job], Converted]

# What programs put where a person's name or a title belongs.
_NO_AUTHORS = frozenset(
    {
        "", "admin", "administrator", "author", "microsoft office user", "openpyxl",
        "python-docx", "root", "unknown", "user", "windows user", "un-named", "微软用户",
        "用户", "管理员",
    }
)  # fmt: skip
_NO_TITLES = frozenset({"", "untitled", "document", "title", "word document", "无标题", "未命名"})


def clean_author(name: str | None) -> str:
    """Return a person's name from a file's properties; empty when a program filled it in."""
    author = " ".join((name or "").split())
    return "" if author.casefold() in _NO_AUTHORS else author


def clean_title(title: str | None, file_name: str) -> str:
    """Return a title from a file's properties when a person may have written it, else empty."""
    text = " ".join((title or "").replace("\x00", "").split())
    folded = text.casefold()
    if folded in _NO_TITLES or folded.startswith(("microsoft word - ", "microsoft excel - ")):
        return ""
    is_file_name = folded.endswith((".doc", ".docx", ".pdf", ".indd", ".tex", ".dvi", ".xls"))
    stem = file_name.rpartition(".")[0].casefold()
    is_readable = len(text) > 1 and text.isprintable() and "\ufffd" not in text
    return "" if is_file_name or folded == stem or not is_readable else text

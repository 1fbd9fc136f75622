"""Tells what a file really is: by its first bytes, then by its extension."""

import io
import zipfile
from pathlib import PurePosixPath

from connectors.files.converted import FileKind
from connectors.files.text import decode_text
from core.errors import UnsupportedContentError

_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PICTURES = (
    b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\x00", b"MM\x00*",
)  # fmt: skip
# First bytes of what is never read, so that the reason can name it.
_NOT_READ = (
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"ID3", "a sound file"),
    (b"OggS", "a sound file"),
    (b"SQLite format 3", "a database"),
    (b"\x00\x00\x01\x00", "an icon"),
    (b"{\\rtf", "a rich text file; save it as .docx"),
)

_BY_EXTENSION = {
    ".md": FileKind.MARKDOWN, ".markdown": FileKind.MARKDOWN, ".mdx": FileKind.MARKDOWN,
    ".html": FileKind.HTML, ".htm": FileKind.HTML, ".xhtml": FileKind.HTML,
    ".csv": FileKind.DELIMITED, ".tsv": FileKind.DELIMITED,
    ".txt": FileKind.TEXT, ".text": FileKind.TEXT, ".log": FileKind.TEXT, ".rst": FileKind.TEXT,
    ".pdf": FileKind.PDF, ".docx": FileKind.WORD, ".xlsx": FileKind.EXCEL, ".xlsm": FileKind.EXCEL,
    ".png": FileKind.IMAGE, ".jpg": FileKind.IMAGE, ".jpeg": FileKind.IMAGE,
    ".bmp": FileKind.IMAGE, ".gif": FileKind.IMAGE, ".tif": FileKind.IMAGE,
    ".tiff": FileKind.IMAGE, ".webp": FileKind.IMAGE,
}  # fmt: skip
CODE_LANGUAGES = {
    ".bash": "bash", ".bat": "bat", ".c": "c", ".cc": "cpp", ".cfg": "ini", ".conf": "ini",
    ".cpp": "cpp", ".cs": "csharp", ".css": "css", ".go": "go", ".gradle": "groovy", ".h": "c",
    ".hpp": "cpp", ".ini": "ini", ".java": "java", ".js": "javascript", ".json": "json",
    ".jsonl": "json", ".jsx": "jsx", ".kt": "kotlin", ".lua": "lua", ".php": "php", ".pl": "perl",
    ".properties": "properties", ".proto": "protobuf", ".ps1": "powershell", ".py": "python",
    ".r": "r", ".rb": "ruby", ".rs": "rust", ".scala": "scala", ".sh": "bash", ".sql": "sql",
    ".swift": "swift", ".tf": "hcl", ".toml": "toml", ".ts": "typescript", ".tsx": "tsx",
    ".vue": "vue", ".xml": "xml", ".yaml": "yaml", ".yml": "yaml", ".zsh": "bash",
}  # fmt: skip
_BINARY_KINDS = frozenset({FileKind.PDF, FileKind.WORD, FileKind.EXCEL, FileKind.IMAGE})


def find_kind_by_name(name: str) -> FileKind:
    """Return the kind the file's name promises; text when it promises nothing."""
    extension = PurePosixPath(name).suffix.lower()
    if extension in CODE_LANGUAGES or name in {"Dockerfile", "Makefile", "Jenkinsfile"}:
        return FileKind.CODE
    return _BY_EXTENSION.get(extension, FileKind.TEXT)


def get_kind(name: str, data: bytes) -> tuple[FileKind, str]:
    """Return the kind of a file, and a note when its name promises another one.

    Raises:
        UnsupportedContentError: Empty, or of a kind that is not read.
    """
    if not data.strip():
        raise UnsupportedContentError(f"{name!r} is empty")
    promised = find_kind_by_name(name)
    found = _sniff_binary(name, data) or _sniff_text(data, promised, name)
    if found is promised or {found, promised} <= {FileKind.IMAGE, FileKind.TEXT}:
        return found, ""
    has_said = PurePosixPath(name).suffix.lower()
    return found, f"named {has_said or 'without extension'} but is {found.value}; read as such"


def _sniff_binary(name: str, data: bytes) -> FileKind | None:
    if b"%PDF-" in data[:1024]:
        return FileKind.PDF
    if data.startswith(_ZIP):
        return _sniff_zip(name, data)
    if data.startswith(_OLE):
        raise UnsupportedContentError(_describe_ole(name, data))
    is_webp = data.startswith(b"RIFF") and data[8:12] == b"WEBP"
    is_picture = data.startswith(_PICTURES) and (not data[:2].isalnum() or b"\x00" in data[:64])
    if is_webp or is_picture:
        return FileKind.IMAGE
    for start, what in _NOT_READ:
        if data.startswith(start) and (b"\x00" in data[:4096] or not start.isalnum()):
            raise UnsupportedContentError(f"{name!r} is {what}, which is not read")
    if data[4:8] == b"ftyp":
        raise UnsupportedContentError(f"{name!r} is a film or sound file, which is not read")
    return None


def _sniff_zip(name: str, data: bytes) -> FileKind:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise UnsupportedContentError(
            f"{name!r} is damaged or cut short ({error}); save it again"
        ) from error
    if "word/document.xml" in members:
        return FileKind.WORD
    if "xl/workbook.xml" in members:
        return FileKind.EXCEL
    if any(member.startswith("word/") for member in members):
        return FileKind.WORD
    if "ppt/presentation.xml" in members:
        raise UnsupportedContentError(f"{name!r} is a PowerPoint file; export it as PDF")
    if "xl/workbook.bin" in members:
        raise UnsupportedContentError(f"{name!r} is a binary Excel file; save it as .xlsx")
    if "mimetype" in members and "content.xml" in members:
        raise UnsupportedContentError(
            f"{name!r} is an OpenDocument file; save it as .docx or .xlsx"
        )
    raise UnsupportedContentError(f"{name!r} is a zip archive, which is not read; unpack it")


def _describe_ole(name: str, data: bytes) -> str:
    if "EncryptedPackage".encode("utf-16-le") in data:
        return f"{name!r} is encrypted with a password; save it without one"
    for stream, what in (
        ("WordDocument", "an old Word file; save it as .docx"),
        ("Workbook", "an old Excel file; save it as .xlsx"),
        ("PowerPoint Document", "an old PowerPoint file; export it as PDF"),
    ):
        if stream.encode("utf-16-le") in data:
            return f"{name!r} is {what}"
    return f"{name!r} is an old Office or message file, which is not read; save it anew"


def _sniff_text(data: bytes, promised: FileKind, name: str) -> FileKind:
    """Only called when the bytes are of no binary kind known here."""
    if promised in _BINARY_KINDS:
        decode_text(data, name)
    head = data[:2048].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    is_page = head.startswith((b"<!doctype html", b"<html"))
    if is_page and promised is not FileKind.MARKDOWN:
        return FileKind.HTML
    if promised not in _BINARY_KINDS:
        return promised
    if b"<html" in head or b"<table" in head:
        return FileKind.HTML
    if promised is FileKind.EXCEL and (b"\t" in head or b"," in head):
        return FileKind.DELIMITED
    return FileKind.TEXT

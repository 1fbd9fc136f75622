"""The converter of each kind of file, and which of them need a process that can be killed."""

from collections.abc import Mapping
from dataclasses import replace

from connectors.files.converted import Converted, Converter, FileKind, Job
from connectors.files.delimited import convert_delimited
from connectors.files.markdown import convert_markdown
from connectors.files.plain import convert_code, convert_text
from connectors.files.sniff import get_kind
from connectors.files.web_page import convert_html
from core.errors import UnsupportedContentError

# Text in lines is parsed where it is read; everything else, and anything large, in a process of
# its own: a parser may hang or run out of memory on a damaged file.
_LIGHT: Mapping[FileKind, Converter] = {
    FileKind.MARKDOWN: convert_markdown,
    FileKind.TEXT: convert_text,
    FileKind.CODE: convert_code,
    FileKind.DELIMITED: convert_delimited,
}
_MAX_LIGHT_BYTES = 2_000_000


def is_light(kind: FileKind, size: int) -> bool:
    """Tell whether a file may be converted in a thread of this process."""
    return kind in _LIGHT and size <= _MAX_LIGHT_BYTES


def convert_file(job: Job) -> Converted:
    """Convert a file by what it really is.

    Raises:
        UnsupportedContentError: It can't be read; the message says why and what to do.
    """
    kind, note = get_kind(job.name, job.data)
    try:
        converted = _get_converter(kind)(job)
    except RecursionError as error:
        raise UnsupportedContentError(
            f"{job.name!r} is nested too deeply to be read; simplify it"
        ) from error
    except MemoryError as error:
        raise UnsupportedContentError(
            f"{job.name!r} needs more memory than a parser may use; split it"
        ) from error
    if not converted.markdown.strip():
        raise UnsupportedContentError(f"{job.name!r} holds no text")
    return replace(converted, notes=(note, *converted.notes)) if note else converted


def _get_converter(kind: FileKind) -> Converter:
    """Import the heavy parsers only in the process that uses them."""
    if kind in _LIGHT:
        return _LIGHT[kind]
    match kind:
        case FileKind.HTML:
            return convert_html
        case FileKind.PDF:
            from connectors.files.pdf import convert_pdf  # noqa: PLC0415

            return convert_pdf
        case FileKind.WORD:
            from connectors.files.word import convert_word  # noqa: PLC0415

            return convert_word
        case FileKind.EXCEL:
            from connectors.files.spreadsheet import convert_spreadsheet  # noqa: PLC0415

            return convert_spreadsheet
        case _:
            from connectors.files.picture import convert_picture  # noqa: PLC0415

            return convert_picture

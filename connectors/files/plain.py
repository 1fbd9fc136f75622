"""Plain text and source code. Pure."""

import re
from pathlib import PurePosixPath

from connectors.files.converted import Converted, Job
from connectors.files.sniff import CODE_LANGUAGES
from connectors.files.text import DecodedText, decode_text

_CODE_INDENT = 4


def convert_text(job: Job) -> Converted:
    """Take plain text as paragraphs; what would be read as Markdown by accident is escaped."""
    decoded = decode_text(job.data, job.name)
    lines = _normalise(decoded.text).split("\n")
    return Converted(
        markdown="\n".join(_escape(line) for line in lines).strip("\n"), notes=_notes(decoded)
    )


def convert_code(job: Job) -> Converted:
    """Fence source code whole, under its language."""
    decoded = decode_text(job.data, job.name)
    path = PurePosixPath(job.name)
    language = CODE_LANGUAGES.get(path.suffix.lower(), path.name.lower())
    text = _normalise(decoded.text).strip("\n")
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * max(3, longest + 1)
    return Converted(
        markdown=f"{fence}{language}\n{text}\n{fence}", title=path.name, notes=_notes(decoded)
    )


def _normalise(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\x00", "")


def _escape(line: str) -> str:
    """Keep a comment sign or an indented line from turning into a heading or a code block."""
    text = line.rstrip()
    stripped = text.lstrip()
    if re.match(r"#{1,6}\s", stripped):
        return f"\\{stripped}"
    return (
        stripped if len(text) - len(stripped) >= _CODE_INDENT and not _is_item(stripped) else text
    )


def _is_item(text: str) -> bool:
    return re.match(r"([-*+]|\d+[.)])\s", text) is not None


def _notes(decoded: DecodedText) -> tuple[str, ...]:
    return (decoded.note,) if decoded.note else ()

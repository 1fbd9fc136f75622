"""CSV and TSV files as one Markdown table. Pure."""

import csv
import io
import re
from collections import Counter
from pathlib import PurePosixPath

from connectors.files.converted import Converted, Job
from connectors.files.tables import is_number, write_table
from connectors.files.text import decode_text
from core.errors import UnsupportedContentError

_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE_LINES = 50
csv.field_size_limit(10_000_000)


def convert_delimited(job: Job) -> Converted:
    """Convert a file of separated values; its first row is the header unless it holds numbers."""
    decoded = decode_text(job.data, job.name)
    text = decoded.text.replace("\x00", "")
    notes = [decoded.note] if decoded.note else []
    separator, text = _find_separator(text)
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) > job.limits.max_table_rows:
                rows.pop()
                notes.append(f"only the first {len(rows)} rows were read (max_table_rows)")
                break
    except csv.Error as error:
        raise UnsupportedContentError(
            f"{job.name!r} line {reader.line_num}: {error}; save it as plain CSV"
        ) from error
    has_header = bool(rows) and not any(is_number(cell) for cell in rows[0])
    return Converted(
        markdown=write_table(rows, 1 if has_header else 0),
        title=PurePosixPath(job.name).stem,
        notes=tuple(notes),
    )


def _find_separator(text: str) -> tuple[str, str]:
    """Return the separator that cuts most lines into the same number of fields, at least two."""
    first, _, rest = text.partition("\n")
    declared = re.fullmatch(r"sep=(.)\s*", first, re.IGNORECASE)
    if declared:
        return declared[1], rest
    sample = "\n".join(text.split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES])
    best, most = ",", 0
    for separator in _SEPARATORS:
        try:
            rows = list(csv.reader(io.StringIO(sample, newline=""), delimiter=separator))
        except csv.Error:
            continue
        widths = Counter(len(row) for row in rows if row)
        width, count = max(widths.items(), key=lambda item: item[1], default=(0, 0))
        if width > 1 and count * width > most:
            best, most = separator, count * width
    return best, text

"""The company's own words: synonyms, a dictionary and weights, from files its people keep."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from core.errors import SettingsError
from core.settings import AnalysisSettings
from knowledge.analysis import Analyser

_COMMENT = "#"


def load_analyser(settings: AnalysisSettings, *, folder: Path) -> Analyser:
    """Build the analyser with the files that the settings name, relative to the folder.

    Synonyms: one group of equal terms a line, separated by commas. Dictionary: one word a line.
    Weights: a term, a blank and a number a line. Empty lines and lines that start with # are
    skipped; a byte order mark is too.

    Raises:
        SettingsError: A file is missing or a line cannot be read.
    """
    return Analyser(
        synonyms=[
            _parse_group(line)
            for path in settings.synonyms
            for _, line in _read_lines(folder, path, "synonyms")
        ],
        dictionary=[
            line
            for path in settings.dictionary
            for _, line in _read_lines(folder, path, "dictionary")
        ],
        weights=dict(_read_weights(folder, settings.weights)),
    )


def _parse_group(line: str) -> list[str]:
    """Split at commas of either width; a line of one term is a group of one."""
    return [term.strip() for term in line.replace("，", ",").split(",") if term.strip()]


def _read_weights(folder: Path, paths: Sequence[str]) -> Iterator[tuple[str, float]]:
    for path in paths:
        for number, line in _read_lines(folder, path, "weights"):
            term, _, weight = line.rpartition(" ")
            try:
                value = float(weight)
            except ValueError:
                value = -1.0
            if not term.strip() or value < 0:
                raise SettingsError(
                    f"analysis.weights: line {number} of {path!r} is {line!r}; write a term, "
                    "a blank and a number from 0 up"
                )
            yield term.strip(), value


def _read_lines(folder: Path, path: str, setting: str) -> Iterator[tuple[int, str]]:
    file = folder / path
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"analysis.{setting}: {str(file)!r} cannot be read ({error}); give a UTF-8 text file"
        ) from error
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith(_COMMENT):
            yield number, stripped

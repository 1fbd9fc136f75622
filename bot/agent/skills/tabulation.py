"""Rows of data in words, as Markdown."""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

_LONGEST_CELL = 300


def tabulate(rows: Sequence[Mapping[str, JsonValue]]) -> str:
    """Write one row as a list of what it holds, several as a table; at least one row."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if len(rows) == 1:
        return "\n".join(f"- {name}: {_say(rows[0].get(name))}" for name in columns)
    lines = [_join(map(_escape, columns)), _join("---" for _ in columns)]
    lines += [_join(_say(row.get(name)) for name in columns) for row in rows]
    return "\n".join(lines)


def _join(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _say(value: JsonValue) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return "✓" if value else "✗"
        case float():
            text = f"{value:.4f}".rstrip("0").rstrip(".")
        case _:
            text = str(value)
    shown = text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"
    return _escape(shown)


def _escape(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

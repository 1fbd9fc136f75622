"""The YAML block at the head of a Markdown page. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

import yaml

_BLOCK = re.compile(
    r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UPDATED = ("updated", "last_updated", "lastmod", "last_modified", "modified", "date")
_ARCHIVED = frozenset({"archived", "archive", "deprecated", "obsolete", "已归档", "归档", "已废弃"})
_MAX_LABELS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What a page says about itself; empty fields when it says nothing."""

    title: str = ""
    author: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    at: datetime | None = None
    version: str = ""
    is_archived: bool = False
    notes: tuple[str, ...] = field(default=())


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Return a page's front matter and the text after it.

    A block that is no YAML mapping stays in the text, with a note.
    """
    if not text.startswith("---"):
        return FrontMatter(), text
    match = _BLOCK.match(text)
    if match is None:
        return FrontMatter(), text
    try:
        values = yaml.load(match[1], Loader=_Loader)  # noqa: S506 - a safe loader either way
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = " ".join(str(error).split())[:120]
        return FrontMatter(
            notes=(f"front matter is not valid YAML and was kept as text: {line}",)
        ), text
    if values is None:
        return FrontMatter(), text[match.end() :]
    if not isinstance(values, dict):
        # A page may well begin with a rule and have another one further down.
        return FrontMatter(), text
    keys = {str(key).strip().lower(): value for key, value in values.items()}
    return _read(keys), text[match.end() :]


def _read(keys: Mapping[str, object]) -> FrontMatter:
    at, note = _read_moment(keys)
    return FrontMatter(
        title=_read_line(keys.get("title")),
        author=", ".join(_read_list(keys.get("author") or keys.get("authors"))),
        tags=_read_list(keys.get("tags") or keys.get("tag") or keys.get("labels"))[:_MAX_LABELS],
        aliases=_read_list(keys.get("aliases") or keys.get("alias"))[:_MAX_LABELS],
        at=at,
        version=_read_line(keys.get("version")),
        is_archived=_read_line(keys.get("status")).lower() in _ARCHIVED,
        notes=(note,) if note else (),
    )


def _read_line(value: object) -> str:
    if value is None or isinstance(value, (dict, list)):
        return ""
    return " ".join(str(value).split())


def _read_list(value: object) -> tuple[str, ...]:
    """Read `[a, b]`, `a, b` or `a`; tags are often written with their `#`."""
    items = value if isinstance(value, list) else re.split(r"[,，;；]", _read_line(value))
    names = (_read_line(item.get("name") if isinstance(item, dict) else item) for item in items)
    return tuple(dict.fromkeys(name.removeprefix("#") for name in names if name.strip("#")))


def _read_moment(keys: Mapping[str, object]) -> tuple[datetime | None, str]:
    for key in _UPDATED:
        value = keys.get(key)
        if value is None or value == "":
            continue
        moment = _parse_moment(value)
        return moment, "" if moment else f"front matter {key}: {str(value)!r} is not a date"
    return None, ""


def _parse_moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, date):
        moment = datetime(value.year, value.month, value.day, tzinfo=UTC)
    else:
        text = re.sub(r"[/.年月]", "-", str(value).strip()).removesuffix("日")
        text = re.sub(r"(?<=-)(\d)(?=-|$|\s)", r"0\1", text)
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return None

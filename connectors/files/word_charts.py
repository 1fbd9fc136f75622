"""A chart's figures as a table: Word keeps what it drew beside the picture."""

from lxml import etree

from connectors.files.number_format import format_float
from connectors.files.office_xml import C
from connectors.files.tables import write_table


def read_chart(root: etree._Element | None) -> str:
    """Return a chart's title and its series as a Markdown table; empty when it has no figures."""
    if root is None:
        return ""
    names: list[str] = []
    columns: list[dict[int, str]] = []
    categories: dict[int, str] = {}
    for series in root.iter(f"{C}ser"):
        names.append(" ".join(_read_points(series.find(f"{C}tx")).values()))
        x_values = series.find(f"{C}cat")
        categories |= _read_points(x_values if x_values is not None else series.find(f"{C}xVal"))
        y_values = series.find(f"{C}val")
        columns.append(_read_points(y_values if y_values is not None else series.find(f"{C}yVal")))
    indexes = sorted({index for column in columns for index in column})
    if not indexes:
        return ""
    rows = [["", *names]]
    rows += [
        [categories.get(index, str(index + 1)), *(column.get(index, "") for column in columns)]
        for index in indexes
    ]
    title = "".join(part.text or "" for part in _find_title(root))
    return f"{title}\n\n{write_table(rows)}" if title else write_table(rows)


def _find_title(root: etree._Element) -> list[etree._Element]:
    title = root.find(f"{C}chart/{C}title")
    if title is None:
        return []
    return [one for one in title.iter() if isinstance(one.tag, str) and one.tag.endswith("}t")]


def _read_points(parent: etree._Element | None) -> dict[int, str]:
    if parent is None:
        return {}
    points: dict[int, str] = {}
    for point in parent.iter(f"{C}pt"):
        index = str(point.get("idx") or "0")
        points[int(index) if index.isdecimal() else len(points)] = _tidy(
            point.findtext(f"{C}v") or ""
        )
    return points


def _tidy(text: str) -> str:
    try:
        return format_float(float(text))
    except ValueError:
        return " ".join(text.split())

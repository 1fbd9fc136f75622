"""Records in words: figures, short tables, and how the question was understood. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from bot.agent.records.catalogue import Catalogue, Column, ColumnKind, Table
from bot.agent.records.query import Filter, Measure, Operation, Query
from bot.rag.language import Language

SHOWN_ROWS = 20
_MOST_COLUMNS = 9

Labels = Mapping[str, Mapping[object, str]]
"""What people call the values of a table's column that refers elsewhere: by column, by value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTexts:
    """The wording of one language."""

    counted: str
    figure: Mapping[Operation, str]
    minutes: str
    nothing: str
    partial: str
    source: str
    is_: str
    between: str
    more: str
    separator: str
    all_rows: str


_TEXTS: Mapping[Language, RecordTexts] = {
    "en": RecordTexts(
        counted="**{n}** {table}",
        figure={
            Operation.COUNT: "**{value}**",
            Operation.SUM: "total {column}: **{value}**",
            Operation.AVERAGE: "average {column}: **{value}**",
            Operation.LEAST: "lowest {column}: **{value}**",
            Operation.MOST: "highest {column}: **{value}**",
        },
        minutes="{value} minutes",
        nothing="No {table} that you may see fit this.",
        partial="Only rows that you may see are counted: your own"
        " and those of the people who report to you.",
        source="From the records `{table}` ({how}), as they are now.",
        is_=" = ",
        between="{column} from {start} to {end}",
        more="… and more; only the first {n} are shown.",
        separator=", ",
        all_rows="all rows",
    ),
    "zh": RecordTexts(
        counted="共 **{n}** 条 {table}",
        figure={
            Operation.COUNT: "**{value}**",
            Operation.SUM: "{column} 合计：**{value}**",
            Operation.AVERAGE: "{column} 平均：**{value}**",
            Operation.LEAST: "{column} 最低：**{value}**",
            Operation.MOST: "{column} 最高：**{value}**",
        },
        minutes="{value} 分钟",
        nothing="在您可以查看的 {table} 记录里没有符合条件的。",
        partial="只统计了您可以查看的记录：您本人的，以及直接下属的。",
        source="来自业务记录 `{table}`（{how}），为当前数据。",
        is_=" = ",
        between="{column} 从 {start} 到 {end}",
        more="……还有更多，只列出前 {n} 条。",
        separator="，",
        all_rows="全部记录",
    ),
}


def get_record_texts(language: Language) -> RecordTexts:
    """Return the wording of a language."""
    return _TEXTS[language]


def tell_figures(
    query: Query, rows: Sequence[Sequence[Any]], table: Table, labels: Labels, language: Language
) -> str:
    """Say figures: one line, or a line a group."""
    texts = _TEXTS[language]
    if not query.group:
        return texts.separator.join(
            _tell_measure(measure, value, table, texts)
            for measure, value in zip(query.measures, rows[0], strict=True)
        )
    lines = []
    for group, *values in rows:
        name = _name_value(query.group, group, labels)
        told = texts.separator.join(
            _tell_measure(measure, value, table, texts)
            for measure, value in zip(query.measures, values, strict=True)
        )
        lines.append(f"- {name}: {told}" if language == "en" else f"- {name}：{told}")
    return "\n".join(lines)


def _tell_measure(measure: Measure, value: Any, table: Table, texts: RecordTexts) -> str:  # noqa: ANN401 - whatever a database returns
    if measure.operation is Operation.COUNT:
        return texts.counted.format(n=write_value(value), table=table.name)
    column = table.columns[measure.column]
    is_average = measure.operation is Operation.AVERAGE
    written = write_value(value, places=1 if is_average else 2)
    if measure.until:
        name = f"{measure.column} → {measure.until}"
        return texts.figure[measure.operation].format(
            column=name, value=texts.minutes.format(value=written)
        )
    unit = f" {column.unit}" if column.unit and value is not None else ""
    return texts.figure[measure.operation].format(column=column.name, value=f"{written}{unit}")


def tell_rows(
    rows: Sequence[Mapping[str, Any]],
    table: Table,
    labels: Labels,
    language: Language,
    *,
    first: Sequence[str] = (),
) -> str:
    """Write rows: one as a list of its fields, several as a table of the most telling columns."""
    texts = _TEXTS[language]
    if not rows:
        return ""
    if len(rows) == 1:
        fields = [
            f"- {column.name}: {_write_field(column, rows[0][column.name], labels)}"
            for column in table.columns.values()
            if rows[0][column.name] not in {None, ""}
        ]
        return "\n".join(fields)
    columns = _choose_columns(table, first)
    head = " | ".join(column.name for column in columns)
    lines = [f"| {head} |", f"|{' --- |' * len(columns)}"]
    for row in rows[:SHOWN_ROWS]:
        cells = (_write_field(column, row[column.name], labels) for column in columns)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    table_text = "\n".join(lines)
    if len(rows) > SHOWN_ROWS:
        return f"{table_text}\n\n{texts.more.format(n=SHOWN_ROWS)}"
    return table_text


def _choose_columns(table: Table, first: Sequence[str]) -> list[Column]:
    names = [table.key.name, *(one.name for one in table.labels), *first, *table.columns]
    return [table.columns[name] for name in dict.fromkeys(names)][:_MOST_COLUMNS]


def _write_field(column: Column, value: object, labels: Labels) -> str:
    if column.kind is ColumnKind.YEAR or column.is_key:
        # Numbers by which something is known are not amounts.
        value = None if value is None else str(value)
    told = _name_value(column.name, value, labels)
    return f"{told} {column.unit}" if column.unit and value is not None else told


def _name_value(column: str, value: object, labels: Labels) -> str:
    name = labels.get(column, {}).get(value)
    written = write_value(value)
    return f"{name} ({written})" if name and name != written else written


def write_value(value: object, *, places: int = 2) -> str:  # noqa: PLR0911 - a case each
    """Write a stored value as people do: 3225000 as 3,225,000, 7.3333 as 7.33."""
    match value:
        case None:
            return "-"
        case bool():
            return str(value)
        case int():
            return f"{value:,}"
        case float() | Decimal():
            rounded = round(float(value), places)
            return f"{rounded:,.0f}" if rounded.is_integer() else f"{rounded:,}"
        case datetime():
            return f"{value:%Y-%m-%d %H:%M}"
        case date():
            return value.isoformat()
        case _:
            return " ".join(str(value).split())


def tell_source(query: Query, catalogue: Catalogue, language: Language) -> str:
    """Say what was looked up and by which conditions, so that a person can tell a mistake."""
    texts = _TEXTS[language]
    table = catalogue[query.table]
    how = texts.separator.join(_tell_filter(one, table, catalogue, texts) for one in query.filters)
    return texts.source.format(table=table.name, how=how or texts.all_rows)


def _tell_filter(one: Filter, table: Table, catalogue: Catalogue, texts: RecordTexts) -> str:
    if one.through:
        reference = table.columns[one.column].reference
        name = one.source[0] if one.source else reference.table if reference else one.column
        inner = texts.separator.join(
            _tell_filter(other, catalogue[name], catalogue, texts) for other in one.through
        )
        return f"{name}: {inner}"
    if one.values is not None:
        values = " / ".join(str(value) for value in one.values)
        return f"{one.column}{texts.is_}{values}"
    start, end = one.start, one.end
    last = None if end is None else date.fromordinal(end.toordinal() - 1)
    return texts.between.format(
        column=one.column, start=f"{start:%Y-%m-%d}" if start else "…", end=last or "…"
    )

"""A question to one table, as data; and the statements that answer it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, extract, func, select
from sqlalchemy import types as sql_types

from bot.agent.caller import Caller
from bot.agent.records.catalogue import Catalogue, Table
from bot.agent.records.policy import Policies, limit_rows

MOST_ROWS = 50


class Operation(StrEnum):
    """What is worked out over rows."""

    COUNT = "count"
    SUM = "sum"
    AVERAGE = "average"
    LEAST = "least"
    MOST = "most"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A condition on a column, or on the row of another table that the column leads to.

    Attributes:
        column: Of the table it stands for; with `through`, the one that leads on.
        values: One of these; None = no condition on values.
        start, end: The period, end excluded.
        through: Conditions on the table the column leads to, all of which must hold.
        source: With `through`: the table these are conditions on, and its column with the values
            of ours, where that is not the table's own reference.
    """

    column: str
    values: tuple[object, ...] | None = None
    start: datetime | None = None
    end: datetime | None = None
    through: tuple["Filter", ...] = ()
    source: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A figure over rows.

    Attributes:
        column: What is summed up; empty = the rows themselves are counted.
        until: Of a duration in minutes: where it ends, `column` being where it begins.
    """

    operation: Operation
    column: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked of one table.

    Attributes:
        measures: Empty = the rows are wanted.
        group: The column by whose values the measures are split; empty = one figure.
        order_by: The measure, or for rows the column, that puts the largest first.
        ascending: The smallest first instead.
        limit: Of groups or rows; 0 = as many as are shown.
    """

    table: str
    filters: tuple[Filter, ...] = ()
    measures: tuple[Measure, ...] = ()
    group: str = ""
    order_by: str = ""
    ascending: bool = False
    limit: int = 0

    @property
    def tables(self) -> frozenset[str]:
        """Every table it reads."""
        return frozenset({self.table}).union(*(_tables_of(one) for one in self.filters))


def _tables_of(one: Filter) -> frozenset[str]:
    inner = frozenset[str]().union(*(_tables_of(other) for other in one.through))
    return inner | ({one.source[0]} if one.source else set())


class StatementBuilder:
    """Builds the statements of queries with the rights of one caller in them."""

    def __init__(
        self, catalogue: Catalogue, policies: Policies, caller: Caller, *, dialect: str
    ) -> None:
        self._catalogue = catalogue
        self._policies = policies
        self._caller = caller
        self._dialect = dialect

    def build_figures(self, query: Query) -> "Select[Any]":
        """Return one row a group: its value, then the measures in order."""
        table = self._catalogue[query.table]
        figures = [
            self._build_measure(table, measure).label(f"figure_{index}")
            for index, measure in enumerate(query.measures)
        ]
        groups = [table.sql.c[query.group]] if query.group else []
        statement = select(*groups, *figures).where(*self._conditions(table, query.filters))
        if groups:
            order = figures[0].asc() if query.ascending else figures[0].desc()
            statement = statement.group_by(*groups).order_by(order, groups[0])
            statement = statement.limit(query.limit or MOST_ROWS)
        return statement

    def build_rows(self, query: Query) -> "Select[Any]":
        """Return the rows themselves, one more than are shown, so that it can be told."""
        table = self._catalogue[query.table]
        statement = select(*table.sql.c).where(*self._conditions(table, query.filters))
        key = table.sql.c[table.key.name]
        if query.order_by:
            column = table.sql.c[query.order_by]
            order = column.asc() if query.ascending else column.desc()
            statement = statement.order_by(order.nulls_last(), key)
        else:
            statement = statement.order_by(key)
        return statement.limit(query.limit or MOST_ROWS + 1)

    def build_labels(self, table: Table, keys: Sequence[object], by: str) -> "Select[Any]":
        """Return what people call some rows: the key, then the labels."""
        labels = [table.sql.c[column.name] for column in table.labels]
        column = table.sql.c[by]
        return select(column, *labels).where(column.in_(keys), *self._rights(table))

    def _rights(self, table: Table) -> list[ColumnElement[bool]]:
        return limit_rows(table, self._policies, self._catalogue, self._caller)

    def _conditions(self, table: Table, filters: Sequence[Filter]) -> list[ColumnElement[bool]]:
        return [*(self._build_filter(table, one) for one in filters), *self._rights(table)]

    def _build_filter(self, table: Table, one: Filter) -> ColumnElement[bool]:
        column = table.sql.c[one.column]
        if one.through:
            other, by = self._follow(table, one)
            found = select(other.sql.c[by]).where(*self._conditions(other, one.through))
            return column.in_(found)
        if one.values is not None:
            return column.in_(one.values)
        parts = []
        if one.start is not None:
            parts.append(column >= _write_moment(column, one.start))
        if one.end is not None:
            parts.append(column < _write_moment(column, one.end))
        return parts[0] if len(parts) == 1 else parts[0] & parts[1]

    def _follow(self, table: Table, one: Filter) -> tuple[Table, str]:
        if one.source is not None:
            return self._catalogue[one.source[0]], one.source[1]
        reference = table.columns[one.column].reference
        if reference is None:
            raise ValueError(f"{table.name}.{one.column} leads to no table")
        return self._catalogue[reference.table], reference.column

    def _build_measure(self, table: Table, measure: Measure) -> ColumnElement[Any]:
        if measure.operation is Operation.COUNT:
            return func.count()
        column: ColumnElement[Any] = table.sql.c[measure.column]
        if measure.until:
            column = self._minutes(column, table.sql.c[measure.until])
        match measure.operation:
            case Operation.SUM:
                return func.sum(column)
            case Operation.AVERAGE:
                return func.avg(column)
            case Operation.LEAST:
                return func.min(column)
            case Operation.MOST:
                return func.max(column)

    def _minutes(self, start: ColumnElement[Any], end: ColumnElement[Any]) -> ColumnElement[Any]:
        if self._dialect == "sqlite":
            return (func.julianday(end) - func.julianday(start)) * (24 * 60)
        return extract("epoch", end - start) / 60


def _write_moment(column: ColumnElement[Any], moment: datetime) -> object:
    if isinstance(column.type, sql_types.DateTime):
        return moment if getattr(column.type, "timezone", False) else moment.replace(tzinfo=None)
    if isinstance(column.type, sql_types.Date):
        return date(moment.year, moment.month, moment.day)
    # Texts in ISO form stand in the order of time, days and minutes alike.
    return f"{moment:%Y-%m-%d}"

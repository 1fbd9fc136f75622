"""What a database holds: tables, columns, what they refer to, and the values they take."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Column as SqlColumn
from sqlalchemy import Connection, MetaData, func, select
from sqlalchemy import Table as SqlTable
from sqlalchemy import types as sql_types

from bot.agent.records.vocabulary import Concepts, Vocabulary

MOST_VALUES = 300
"""A column with more distinct values is not a category, and questions are not read by them."""
_MOST_CATEGORIES = 40
_SAMPLE = 50
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2}.*)?")
_CURRENCY = re.compile(r"_(cny|rmb|usd|eur|gbp|jpy|hkd|sgd)$", re.IGNORECASE)
_YEARS = range(1900, 2200)


class ColumnKind(StrEnum):
    """What a column's values are."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    YEAR = "year"
    DATE = "date"
    MOMENT = "moment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The column another table's rows are found by."""

    table: str
    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column.

    Attributes:
        concepts: What its name says.
        values: Those it takes, when they are few enough to be categories or labels.
        is_category: Few values, each in many rows.
        unit: A currency its name ends in, such as `CNY`.
        is_people: Its values are ids of people of the directory.
    """

    name: str
    kind: ColumnKind
    concepts: Concepts
    is_key: bool = False
    reference: Reference | None = None
    values: Mapping[str, Concepts]
    is_category: bool = False
    unit: str = ""
    is_people: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table, its columns in the order in which they were declared."""

    name: str
    concepts: Concepts
    columns: Mapping[str, Column]
    sql: SqlTable

    @property
    def key(self) -> Column:
        """What its rows are known by; the first column where no single one is declared."""
        keys = [column for column in self.columns.values() if column.is_key]
        return keys[0] if len(keys) == 1 else next(iter(self.columns.values()))

    @property
    def labels(self) -> list[Column]:
        """The columns that name its rows for people."""
        return [
            column
            for column in self.columns.values()
            if column.kind is ColumnKind.TEXT
            and column.reference is None
            and "name" in column.name.lower().split("_")
        ]

    @property
    def references(self) -> list[Column]:
        """The columns that lead to other tables."""
        return [column for column in self.columns.values() if column.reference is not None]


Catalogue = Mapping[str, Table]


def read_catalogue(
    connection: Connection,
    names: Collection[str],
    vocabulary: Vocabulary,
    *,
    people: Collection[str] = (),
    labels: Mapping[str, Mapping[str, Collection[str]]] | None = None,
) -> Catalogue:
    """Look at the tables that may be asked about.

    Args:
        connection: To the database; it is only read.
        names: Of the tables.
        vocabulary: What names are read with.
        people: Ids of everybody in the directory.
        labels: More words for tables (under the name "") and columns, by table.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: The database can't be read, or a table is not there.
    """
    metadata = MetaData()
    metadata.reflect(connection, only=list(names), views=True, resolve_fks=False)
    ids = frozenset(people)
    catalogue: dict[str, Table] = {}
    for name in names:
        table = metadata.tables[name]
        words = (labels or {}).get(name, {})
        columns = {
            column.name: _read_column(
                connection, table, column, vocabulary, ids, words.get(column.name, ())
            )
            for column in table.columns
        }
        catalogue[name] = Table(
            name=name,
            concepts=_read_words(name, words.get("", ()), vocabulary),
            columns=columns,
            sql=table,
        )
    return catalogue


def _read_words(name: str, labels: Collection[str], vocabulary: Vocabulary) -> Concepts:
    return vocabulary.read_name(name).union(*(vocabulary.read_phrase(one) for one in labels))


def _read_column(
    connection: Connection,
    table: SqlTable,
    column: "SqlColumn[object]",
    vocabulary: Vocabulary,
    people: frozenset[str],
    labels: Collection[str],
) -> Column:
    found = _list_values(connection, column)
    kind = _tell_kind(column, found)
    rows = connection.scalar(select(func.count()).select_from(table)) or 0
    is_few = found is not None and len(found) <= MOST_VALUES
    texts = [value for value in found or () if isinstance(value, str) and value]
    currency = _CURRENCY.search(column.name)
    reference = next(iter(column.foreign_keys), None)
    is_category = is_few and kind is ColumnKind.TEXT and len(texts) <= min(
        _MOST_CATEGORIES, max(2, rows // 2)
    )  # fmt: skip
    return Column(
        name=column.name,
        kind=kind,
        concepts=_read_words(column.name, labels, vocabulary),
        is_key=column.primary_key,
        reference=None if reference is None else _read_reference(reference.target_fullname),
        values={text: vocabulary.read_name(text) for text in texts}
        if is_few and kind is ColumnKind.TEXT
        else {},
        is_category=is_category,
        unit=currency.group(1).upper() if currency else "",
        is_people=bool(texts) and bool(people) and set(texts) <= people,
    )


def _read_reference(target: str) -> Reference:
    table, _, column = target.rpartition(".")
    return Reference(table=table, column=column)


def _list_values(connection: Connection, column: "SqlColumn[object]") -> list[object] | None:
    """Return the distinct values; None when there are too many to list."""
    statement = (
        select(column).where(column.is_not(None)).distinct().order_by(column).limit(MOST_VALUES + 1)
    )
    return list(connection.scalars(statement))


def _tell_kind(column: "SqlColumn[object]", values: list[object] | None) -> ColumnKind:
    declared = {
        sql_types.Boolean: ColumnKind.FLAG,
        sql_types.DateTime: ColumnKind.MOMENT,
        sql_types.Date: ColumnKind.DATE,
    }
    for kind_of_type, kind in declared.items():
        if isinstance(column.type, kind_of_type):
            return kind
    sample = (values or [])[:_SAMPLE]
    if isinstance(column.type, sql_types.Numeric | sql_types.Float | sql_types.Integer):
        return _tell_number(column.name, sample)
    texts = [str(value) for value in sample if str(value).strip()]
    if texts and all(_DATE.fullmatch(text) for text in texts):
        return ColumnKind.DATE
    if texts and all(_DATE_TIME.fullmatch(text) for text in texts):
        return ColumnKind.MOMENT
    return ColumnKind.TEXT


def _tell_number(name: str, sample: list[object]) -> ColumnKind:
    if "year" in name.lower() and all(isinstance(v, int) and v in _YEARS for v in sample):
        return ColumnKind.YEAR
    is_flag = name.lower().startswith(("is_", "has_")) or (
        bool(sample) and set(sample) <= {0, 1} and len(set(sample)) > 1
    )
    return ColumnKind.FLAG if is_flag else ColumnKind.NUMBER

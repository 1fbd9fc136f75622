"""What LanceDB evaluates before it ranks: a PassageFilter as a predicate over indexed columns.

Clauses are typed expressions, so that no value is ever quoted into SQL and a long list of access
classes needs no parsing (4 ms a search for 2,900 of them). Only membership in a list column has
no typed form; its values are quoted by doubling the quote, SQL's one special character.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import and_
from typing import TypeVar

from lancedb.expr import Expr, col, lit
from lancedb.query import AsyncStandardQuery

from knowledge.access import ReadableClasses
from knowledge.stores import PassageFilter
from knowledge.stores.lancedb_rows import OPEN_END_US, to_microseconds

_Query = TypeVar("_Query", bound=AsyncStandardQuery)


@dataclass(frozen=True, slots=True)
class Predicate:
    """Conditions that must all hold; no condition at all admits every row."""

    typed: tuple[Expr, ...] = ()
    sql: tuple[str, ...] = ()

    def __and__(self, other: "Predicate") -> "Predicate":
        """Both predicates must hold."""
        return Predicate((*self.typed, *other.typed), (*self.sql, *other.sql))

    def apply(self, query: _Query) -> _Query:
        """Add the conditions to a query; LanceDB joins them with AND, before ranking."""
        if self.typed:
            query = query.where(reduce(and_, self.typed))
        for condition in self.sql:
            query = query.where(condition)
        return query

    def to_sql(self) -> str:
        """Return the conditions as one SQL expression."""
        conditions = [*(expression.to_sql() for expression in self.typed), *self.sql]
        return " AND ".join(f"({condition})" for condition in conditions) or "true"


def one_of(column: str, values: Iterable[str]) -> Predicate:
    """Admit rows whose column equals one of the values."""
    return Predicate(typed=(_is_in(column, sorted(values)),))


def has_any(column: str, values: Iterable[str]) -> Predicate:
    """Admit rows whose list column holds one of the values."""
    quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in sorted(values))
    return Predicate(sql=(f"array_has_any({column}, [{quoted}])",))


def is_open() -> Predicate:
    """Admit rows in force."""
    return Predicate(typed=(col("valid_to_us") == lit(OPEN_END_US),))


def build_predicate(where: PassageFilter, *, with_level: bool = True) -> Predicate | None:
    """Return the filter's predicate; None when nothing can pass it.

    Args:
        where: The filter.
        with_level: Whether the filter's level counts.
    """
    access = _build_access(where.access)
    if access is None or not where.statuses:
        return None
    clauses = Predicate(typed=(*access, _is_in("status", sorted(where.statuses))))
    if with_level:
        clauses &= Predicate(typed=(col("level") == lit(str(where.level)),))
    return clauses & _build_time(where) & _build_choices(where)


def _build_time(where: PassageFilter) -> Predicate:
    clauses = []
    if where.updated_after is not None:
        clauses.append(col("updated_at_us") >= lit(to_microseconds(where.updated_after)))
    if where.updated_before is not None:
        clauses.append(col("updated_at_us") < lit(to_microseconds(where.updated_before)))
    bounds = Predicate(typed=tuple(clauses))
    if where.any_time:
        return bounds
    if where.as_of is None:
        return bounds & is_open()
    moment = lit(to_microseconds(where.as_of))
    return bounds & Predicate(typed=(col("valid_from_us") <= moment, col("valid_to_us") > moment))


def _build_choices(where: PassageFilter) -> Predicate:
    choices: tuple[tuple[str, Iterable[str]], ...] = (
        ("scope", where.scopes),
        ("source", where.sources),
        ("space", where.spaces),
        ("document_id", where.documents),
        ("section_id", where.sections),
        ("author", (where.author,) if where.author else ()),
    )
    clauses = Predicate(typed=tuple(_is_in(name, sorted(some)) for name, some in choices if some))
    return clauses & has_any("labels", where.labels) if where.labels else clauses


def _build_access(access: ReadableClasses) -> tuple[Expr, ...] | None:
    if access.is_operator:
        return ()
    if not access.numbers:
        return None
    return _build_classes(frozenset(map(int, access.numbers)), int(access.last_known))


@lru_cache(maxsize=64)
def _build_classes(numbers: frozenset[int], last_known: int) -> tuple[Expr, ...]:
    """Name the readable classes or, when that is shorter, those that are not.

    The complement is worked out here, over 1..last_known: a class that somebody forgot to list as
    denied stays denied. Classes above last_known never pass it.
    """
    others = [number for number in range(1, last_known + 1) if number not in numbers]
    if len(numbers) <= len(others) or not numbers <= frozenset(range(1, last_known + 1)):
        return (_is_in("access_no", sorted(numbers)),)
    # Written as NOT(>): "access_no <= last" would join the row sets of every class there is.
    bounds = (~(col("access_no") > lit(last_known)), ~(col("access_no") < lit(1)))
    return (~_is_in("access_no", others), *bounds) if others else bounds


def _is_in(column: str, values: Sequence[str | int]) -> Expr:
    if len(values) == 1:
        return col(column) == lit(_plain(values[0]))
    return col(column).isin([lit(_plain(value)) for value in values])


def _plain(value: str | int) -> str | int:
    # Enumeration members are strings, but LanceDB takes exact types only.
    return str(value) if isinstance(value, str) else value

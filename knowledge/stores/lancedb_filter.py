"""What LanceDB evaluates before it ranks: a PassageFilter as a predicate over indexed columns.

Numbers and names of our own are typed expressions: a long list of access classes then needs no
parsing (4 ms a search for 2,900 of them). Text from outside becomes SQL with its quotes doubled,
the one thing to do in this dialect. It must not become a typed expression: next to a condition in
SQL LanceDB writes those out too, and leaves quotes single that follow a quote or a backslash.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import and_
from typing import TypeVar

from lancedb.expr import Expr, col, lit
from lancedb.query import AsyncStandardQuery

from knowledge.access import ReadableClasses
from knowledge.stores import Level, PassageFilter
from knowledge.stores.lancedb_rows import OPEN_END_US, name_in_force, to_microseconds

_Query = TypeVar("_Query", bound=AsyncStandardQuery)


@dataclass(frozen=True, slots=True)
class Predicate:
    """Conditions that must all hold; no condition at all admits every row.

    Attributes:
        typed: Conditions on numbers and on names of our own.
        sql: Conditions on text from outside, quoted.
    """

    typed: tuple[Expr, ...] = ()
    sql: tuple[str, ...] = ()

    def __and__(self, other: "Predicate") -> "Predicate":
        """Both predicates must hold."""
        return Predicate((*self.typed, *other.typed), (*self.sql, *other.sql))

    def apply(self, query: _Query) -> _Query:
        """Add the conditions to a query; LanceDB joins them with AND, before ranking."""
        if self.typed:
            query = query.where(reduce(and_, self.typed))
        if self.sql:
            query = query.where(" AND ".join(self.sql))
        return query


def one_of(column: str, values: Iterable[str]) -> str:
    """Return the condition that a column equals one of the values, as SQL."""
    return f"{column} IN ({_quote(values)})"


def has_any(column: str, values: Iterable[str]) -> str:
    """Return the condition that a list column holds one of the values, as SQL."""
    return f"array_has_any({column}, [{_quote(values)}])"


def _quote(values: Iterable[str]) -> str:
    return ", ".join("'" + value.replace("'", "''") + "'" for value in sorted(values))


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
    levels = (where.level,) if with_level else tuple(Level)
    choices = Predicate(sql=tuple(_build_choices(where)))
    return Predicate(typed=(*access, *_build_state(where, levels), *_build_bounds(where))) & choices


def _build_state(where: PassageFilter, levels: Sequence[Level]) -> Iterator[Expr]:
    if where.as_of is None and not where.any_time:
        states = [name_in_force(level, status) for level in levels for status in where.statuses]
        yield _is_in("in_force", sorted(states))
        return
    yield _is_in("level", sorted(levels))
    yield _is_in("status", sorted(where.statuses))
    if where.as_of is not None and not where.any_time:
        moment = lit(to_microseconds(where.as_of))
        yield col("valid_from_us") <= moment
        yield col("valid_to_us") > moment


def _build_bounds(where: PassageFilter) -> Iterator[Expr]:
    if where.languages:
        yield _is_in("language", sorted(where.languages))
    if where.updated_after is not None:
        yield col("updated_at_us") >= lit(to_microseconds(where.updated_after))
    if where.updated_before is not None:
        yield col("updated_at_us") < lit(to_microseconds(where.updated_before))


def _build_choices(where: PassageFilter) -> Iterator[str]:
    choices: tuple[tuple[str, Iterable[str]], ...] = (
        ("scope", where.scopes),
        ("source", where.sources),
        ("space", where.spaces),
        ("document_id", where.documents),
        ("section_id", where.sections),
        ("author", (where.author,) if where.author else ()),
    )
    for column, values in choices:
        if values:
            yield one_of(column, values)
    if where.labels:
        yield has_any("labels", where.labels)


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
    # Enumeration members are strings, but LanceDB takes exact types only.
    plain = [str(value) if isinstance(value, str) else value for value in values]
    return col(column).isin([lit(value) for value in plain])

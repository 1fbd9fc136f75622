"""Statements of skills: checked to be one SELECT, with row rights put around each table it reads.

A table with row rights is replaced, where it stands, by a selection of the rows the asker sees;
so sums and counts run over those rows only, however the statement uses the table.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from bot.agent.skills.definition import RowRights

# How the parser calls what SQLAlchemy calls otherwise.
_DIALECTS = {"postgresql": "postgres", "mariadb": "mysql", "mssql": "tsql"}
_REFUSED = (exp.DML, exp.DDL, exp.Command, exp.Into, exp.Lock)
_PEOPLE = "visible_people_"


class StatementError(Exception):
    """The statement can't be a skill's; the message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableUse:
    """Where a statement reads a table.

    Attributes:
        table: Its name without its schema, in lower case.
        start, end: Of its name in the text.
        last: Its last identifier as written, quotes included.
        has_alias: It is called otherwise in the statement.
    """

    table: str
    start: int
    end: int
    last: str
    has_alias: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A checked statement.

    Attributes:
        text: As written.
        uses: Every place where it reads a table, in order.
        names: Of the parameters.
    """

    text: str
    uses: tuple[TableUse, ...]
    names: frozenset[str]

    @property
    def tables(self) -> frozenset[str]:
        """Every table it reads, in lower case."""
        return frozenset(use.table for use in self.uses)


def read_statement(text: str, *, dialect: str) -> Statement:
    """Check a statement.

    Args:
        text: One SELECT; parameters are written `:name`.
        dialect: SQLAlchemy's name of the kind of database.

    Raises:
        StatementError: Not one SELECT, or a form that row rights can't be bound to.
    """
    plain = text.strip().rstrip(";").rstrip()
    tree = _parse(plain, _DIALECTS.get(dialect, dialect))
    for node in tree.walk():
        if isinstance(node, _REFUSED):
            raise StatementError(f"a skill only reads, and {node.key.upper()} does more; remove it")
        if isinstance(node, exp.In) and node.args.get("field") is not None:
            raise StatementError("write `IN (SELECT … FROM table)` instead of `IN table`")
    local = _list_parts(tree)
    uses = [
        _locate(one, plain)
        for one in tree.find_all(exp.Table)
        if isinstance(one.this, exp.Identifier) and (one.db or one.name.lower() not in local)
    ]
    if shadowed := sorted(local & {use.table for use in uses}):
        raise StatementError(f"call the part {shadowed[0]!r} of WITH otherwise than any table")
    return Statement(
        text=plain,
        uses=tuple(sorted(uses, key=lambda use: use.start)),
        names=frozenset(one.name for one in tree.find_all(exp.Placeholder) if one.name),
    )


def bind_rights(
    statement: Statement, limits: Mapping[str, RowRights]
) -> tuple[str, Mapping[str, str]]:
    """Return the text with only the asker's rows of some tables in it.

    Args:
        statement: A checked one.
        limits: By table, in lower case: those of which the asker does not see every row.

    Returns:
        The text, and the tables by the names of the parameters that take the lists of people whose
        rows are seen.
    """
    names = {table: f"{_PEOPLE}{index}" for index, table in enumerate(sorted(limits))}
    text = statement.text
    for use in reversed(statement.uses):
        rights = limits.get(use.table)
        if rights is None:
            continue
        seen = _select_seen(text[use.start : use.end], rights, names[use.table])
        alias = "" if use.has_alias else f" {use.last}"
        text = f"{text[: use.start]}({seen}){alias}{text[use.end :]}"
    used = statement.tables & limits.keys()
    return text, {names[table]: table for table in sorted(used)}


def _select_seen(table: str, rights: RowRights, name: str) -> str:
    # Every part is a name that was checked when the file was read, or stands in the statement.
    if not rights.via:
        return f"SELECT * FROM {table} WHERE {rights.own} IN :{name}"  # noqa: S608
    owners = f"SELECT {rights.via_key} FROM {rights.via} WHERE {rights.own} IN :{name}"  # noqa: S608
    return f"SELECT * FROM {table} WHERE {rights.key} IN ({owners})"  # noqa: S608


def _parse(text: str, dialect: str) -> exp.Query:
    known = dialect if dialect in sqlglot.Dialect.classes else ""
    try:
        trees = sqlglot.parse(text, dialect=known)
    except (ParseError, TokenError) as error:
        raise StatementError(
            f"it is not valid SQL: {' '.join(str(error).split())[:200]}"
        ) from error
    found = [tree for tree in trees if tree is not None]
    if len(found) != 1:
        raise StatementError(f"there are {len(found)} statements; write exactly one")
    if not isinstance(found[0], exp.Query):
        raise StatementError("a skill only reads; write one SELECT")
    return found[0]


def _list_parts(tree: exp.Query) -> set[str]:
    """Return the names that WITH gives, once it is sure that each means the same everywhere."""
    opening = tree.args.get("with_") or tree.args.get("with")
    parts = opening.expressions if isinstance(opening, exp.With) else []
    if len(parts) != sum(1 for _ in tree.find_all(exp.CTE)):
        raise StatementError("WITH may only stand at the beginning of the whole statement")
    names = [part.alias.lower() for part in parts]
    is_recursive = isinstance(opening, exp.With) and bool(opening.args.get("recursive"))
    for index, part in enumerate(parts):
        later = set() if is_recursive else set(names[index:])
        if early := sorted(later & {one.name.lower() for one in part.find_all(exp.Table)}):
            raise StatementError(f"call the part {early[0]!r} of WITH otherwise than any table")
    return set(names)


def _locate(table: exp.Table, text: str) -> TableUse:
    parts = [
        part
        for part in (table.args.get("catalog"), table.args.get("db"), table.this)
        if isinstance(part, exp.Identifier)
    ]
    first, last = parts[0].meta, parts[-1].meta
    if "start" not in first or "end" not in last:
        raise StatementError(
            f"where the table {table.name!r} stands can't be told; write it plainly"
        )
    end = last["end"] + 1
    return TableUse(
        table=table.name.lower(),
        start=first["start"],
        end=end,
        last=text[last["start"] : end],
        has_alias=bool(table.alias),
    )

"""Skills that read a database with a statement of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Boolean, Connection, Date, DateTime, Float, Integer, String, bindparam, text
from sqlalchemy import types as sql_types

from bot.agent.caller import Caller
from bot.agent.skills.building import Built, SkillParts
from bot.agent.skills.definition import BOUND_NAMES, Parameter, RowRights, SqlSkill
from bot.agent.skills.sight import list_visible_people
from bot.agent.skills.skill_file import SkillFile
from bot.agent.skills.statement import Statement, StatementError, bind_rights, read_statement
from bot.agent.skills.tabulation import tabulate
from bot.agent.tools import ToolResult
from core.errors import PermanentError, RefusedError, ToolFailedError, TransientError
from core.readonly_database import ReadOnlyDatabase

_OWN_ROWS = "仅包含您本人的记录。Only your own rows."
_OWN_AND_REPORTS = (
    "仅包含您本人及直接下属的记录。Only rows of your own and of those who report to you."
)


def build_query(file: SkillFile, parts: SkillParts) -> Built:
    """Build a skill from its statement.

    Raises:
        SkillFileError: The database is not in the settings, or the statement can't be used.
    """
    definition = file.read_as(SqlSkill)
    database = parts.databases.get(definition.database)
    if database is None:
        raise file.fail(
            f"there is no section [databases.{definition.database}] in the settings; add it, or "
            f"write one of {sorted(parts.databases)}",
            "database",
        )
    try:
        statement = read_statement(definition.query, dialect=database.dialect)
    except StatementError as error:
        raise file.fail(f"`query`: {error}", "query") from error
    unknown = statement.names - definition.parameters.keys() - BOUND_NAMES
    if unknown:
        raise file.fail(
            f"`query` uses :{min(unknown)}, which is no parameter; add it under `parameters`",
            "query",
        )
    if extra := text(definition.query).compile().params.keys() - statement.names:
        raise file.fail(
            f"`query`: the colon before {min(extra)!r} would be read as a parameter; write \\\\:",
            "query",
        )
    return Built(
        lookup=QueryLookup(
            definition=definition,
            statement=statement,
            rights=_read_rights(file, definition, statement),
            database=database,
        )
    )


def _read_rights(
    file: SkillFile, definition: SqlSkill, statement: Statement
) -> Mapping[str, RowRights]:
    """Return the row rights by table, in lower case; none when everybody it is for sees all."""
    tables = statement.tables
    if definition.rows is not None:
        if len(tables) != 1:
            raise file.fail(
                f"`query` reads {len(tables)} tables; write the rights of each under `rows_of`",
                "rows",
            )
        rights = dict.fromkeys(tables, definition.rows)
        place = "rows"
    else:
        rights = {name.lower().rpartition(".")[2]: one for name, one in definition.rows_of.items()}
        place = "rows_of"
        if rights and (open_ := sorted(tables - rights.keys())):
            raise file.fail(
                f"`query` reads {open_[0]!r} too; say who sees its rows, with `full: [members]` "
                "when everybody does",
                place,
            )
    for one in rights.values():
        if one.via and not one.key:
            raise file.fail("`via` needs `key`, the column that leads there", place)
    return rights


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLookup:
    """Runs one statement with the rights of whoever asks."""

    definition: SqlSkill
    statement: Statement
    rights: Mapping[str, RowRights]
    database: ReadOnlyDatabase

    async def run(self, arguments: Mapping[str, JsonValue], caller: Caller) -> ToolResult:
        """Read the rows the asker sees.

        Raises:
            RefusedError: The asker sees no row of a table the statement reads.
            ToolFailedError: The database does not answer, or refuses the statement.
        """
        seen = {table: list_visible_people(one, caller) for table, one in self.rights.items()}
        if any(people is not None and not people for people in seen.values()):
            raise RefusedError(f"{self.definition.name!r} shows this person no row")
        limits = {table: self.rights[table] for table, people in seen.items() if people is not None}
        statement, names = bind_rights(self.statement, limits)
        people = {name: sorted(seen[table] or ()) for name, table in names.items()}
        values = self._bind(arguments, caller)
        most = self.definition.max_rows

        def work(connection: Connection) -> tuple[list[str], Sequence[Sequence[Any]]]:
            binds: list[Any] = [bindparam(name, expanding=True) for name in people]
            binds += [self._declare(name) for name in values]
            result = connection.execute(text(statement).bindparams(*binds), {**values, **people})
            return list(result.keys()), result.fetchmany(most + 1)

        try:
            columns, found = await self.database.read(work, timeout_s=self.definition.timeout_s)
        except (PermanentError, TransientError) as error:
            raise ToolFailedError(str(error)) from error
        rows = [dict(zip(columns, map(_plain, row), strict=True)) for row in found[:most]]
        said = [tabulate(rows)] if rows else []
        if len(found) > most:
            said.append(f"仅显示前 {most} 行。Only the first {most} rows.")
        if names:
            has_reports = any(one.reports for one in limits.values())
            said.append(_OWN_AND_REPORTS if has_reports else _OWN_ROWS)
        return ToolResult(
            text="\n\n".join(said),
            rows=tuple(rows),
            has_found=bool(rows),
            is_for_asker_alone=not self._is_for_all(caller),
            notes=tuple(f"rows of {table} limited to the asker's" for table in sorted(limits)),
        )

    def _is_for_all(self, caller: Caller) -> bool:
        """Tell whether everybody who listens would get the same."""
        if self.statement.names & (BOUND_NAMES - {"today"}) and caller.listeners:
            return False
        return all(caller.everybody_has_any(one.full) for one in self.rights.values())

    def _bind(self, arguments: Mapping[str, JsonValue], caller: Caller) -> dict[str, object]:
        person = caller.person
        bound: dict[str, object] = {
            "asker": str(person.person_id) if person else None,
            "asker_email": (person.email or None) if person else None,
            "asker_name": person.name if person else None,
            "today": self._convert("date", caller.now.date().isoformat()),
        }
        for name, parameter in self.definition.parameters.items():
            bound[name] = self._convert(parameter.format, arguments.get(name))
        return {name: bound[name] for name in self.statement.names}

    def _convert(self, form: str, value: JsonValue) -> object:
        # SQLite keeps dates as texts; other drivers take nothing but dates for a date.
        if not isinstance(value, str) or self.database.dialect == "sqlite":
            return value
        match form:
            case "date":
                return date.fromisoformat(value)
            case "date-time":
                return datetime.fromisoformat(value)
            case _:
                return value

    def _declare(self, name: str) -> Any:  # noqa: ANN401 - a bind of whatever type
        parameter = self.definition.parameters.get(name)
        return bindparam(name, type_=_tell_type(parameter, name, self.database.dialect))


def _tell_type(parameter: Parameter | None, name: str, dialect: str) -> "sql_types.TypeEngine[Any]":
    form = "date" if name == "today" else parameter.format if parameter else ""
    if dialect != "sqlite" and form == "date":
        return Date()
    if dialect != "sqlite" and form == "date-time":
        return DateTime(timezone=True)
    match parameter.type if parameter else "string":
        case "integer":
            return Integer()
        case "number":
            return Float()
        case "boolean":
            return Boolean()
        case _:
            return String()


def _plain(value: object) -> JsonValue:
    """Return a value of a row as JSON has it."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case bytes():
            return f"({len(value)} bytes)"
        case datetime():
            return value.isoformat(sep=" ", timespec="minutes")
        case _:
            return str(value)

"""The records that skill files open: `kind: sql` with a `table`, those of one database together."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from bot.agent.caller import Caller
from bot.agent.records.answering import RecordAnswerer
from bot.agent.records.policy import RowPolicy
from bot.agent.records.store import RecordStore
from bot.agent.records.vocabulary import Vocabulary, load_vocabulary
from bot.agent.skills.building import Built, SkillParts
from bot.agent.skills.definition import SqlSkill
from bot.agent.skills.skill_file import SkillFile
from bot.agent.skills.skill_set import SkillSet
from bot.agent.tools import ToolResult
from core.errors import ToolRetryError
from core.readonly_database import ReadOnlyDatabase

QUESTION: Mapping[str, JsonValue] = {
    "type": "object",
    "properties": {
        "question": {
            "type": "string",
            "description": "What is asked of the table, in words, with names, dates and states.",
        }
    },
    "required": ["question"],
    "additionalProperties": False,
}


class SkillRecords:
    """The stores of all tables that skills open now; made anew when the skills change."""

    def __init__(
        self,
        skills: SkillSet,
        *,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self._skills = skills
        self._vocabulary = vocabulary or load_vocabulary()
        self._stores: tuple[tuple[SqlSkill, ...], list[RecordStore]] = ((), [])

    async def load(self) -> Sequence[RecordStore]:
        """Return a store for each database that has tables to ask about."""
        await self._skills.refresh()
        tables = tuple(
            tool.definition
            for tool in self._skills.list_tools()
            if isinstance(tool.definition, SqlSkill) and tool.definition.table
        )
        if tables != self._stores[0]:
            by_database: dict[str, list[SqlSkill]] = defaultdict(list)
            for one in tables:
                by_database[one.database].append(one)
            stores = [
                build_store(self._skills.databases[name], ours, self._vocabulary)
                for name, ours in sorted(by_database.items())
                if name in self._skills.databases
            ]
            self._stores = (tables, stores)
        return self._stores[1]


def build_store(
    database: ReadOnlyDatabase, skills: Sequence[SqlSkill], vocabulary: Vocabulary
) -> RecordStore:
    """Put the tables of one database together."""
    return RecordStore(
        database=database,
        policies={one.table: _read_policy(one) for one in skills},
        tools={one.table: one.name for one in skills},
        labels={one.table: _read_labels(one) for one in skills},
        vocabulary=vocabulary,
        timeout_s=min(one.timeout_s for one in skills),
    )


def build_records(file: SkillFile, parts: SkillParts) -> Built:
    """Build the tool of one table, for models; a `Builder`."""
    definition = file.read_as(SqlSkill)
    database = parts.databases.get(definition.database)
    if database is None:
        raise file.fail(
            f"there is no [databases.{definition.database}] in the settings; add it", "database"
        )
    if definition.rows is not None and definition.rows.own_is == "email":
        raise file.fail("with `table`, `own` holds ids of the directory", "rows", "own_is")
    store = build_store(database, [definition], load_vocabulary())
    return Built(lookup=_TableLookup(store), schema=QUESTION)


class _TableLookup:
    """Answers one question about one table."""

    def __init__(self, store: RecordStore) -> None:
        self._answerer = RecordAnswerer(store)

    async def run(self, arguments: Mapping[str, JsonValue], caller: Caller) -> ToolResult:
        """Look it up; raises as `Tool.run`."""
        understood = await self._answerer.understand(str(arguments["question"]), caller)
        if understood is None:
            raise ToolRetryError(
                "the question names nothing this table holds; name its columns or values"
            )
        return (await self._answerer.answer(understood, caller)).result


def _read_policy(skill: SqlSkill) -> RowPolicy:
    visible_to = frozenset(skill.visible_to)
    rows = skill.rows
    if rows is None:
        return RowPolicy(full=visible_to, visible_to=visible_to)
    return RowPolicy(
        full=frozenset(rows.full),
        visible_to=visible_to,
        own=rows.own,
        has_reports=rows.reports,
        via=rows.via,
    )


def _read_labels(skill: SqlSkill) -> Mapping[str, Sequence[str]]:
    words = {name: (*column.labels.zh, *column.labels.en) for name, column in skill.columns.items()}
    titles = tuple(filter(None, (skill.title.zh, skill.title.en)))
    return {**words, "": titles}

"""Answers about records without a model: read the question, look it up, tell it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from pydantic import JsonValue

from bot.agent.caller import Caller
from bot.agent.name_index import NameIndex
from bot.agent.records.catalogue import Catalogue, Table
from bot.agent.records.mentions import ReadQuestion, read_question
from bot.agent.records.policy import decide_sight, is_public
from bot.agent.records.query import Operation, Query, StatementBuilder
from bot.agent.records.reading import RecordReader, RecordReading
from bot.agent.records.store import KnownRecords, RecordStore
from bot.agent.records.telling import get_record_texts, tell_figures, tell_rows, tell_source
from bot.agent.tools import ToolResult
from bot.rag.language import Language, detect_language

_MOST_BESIDE = 10
"""Rows that are shown under a figure without being asked for."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordAnswer:
    """What the records say to a question.

    Attributes:
        tools: Which tables were asked, by the names of their tools.
        row: The only row that fits, when there is one, for a next step to go on with.
        group: What the only group is called, when figures were told by groups.
    """

    result: ToolResult
    reading: RecordReading
    tools: tuple[str, ...]
    row: Mapping[str, Any] | None = None
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderstoodQuestion:
    """A question that was read as one about records, and what the tables held at that time."""

    question: ReadQuestion
    reading: RecordReading
    known: KnownRecords


class RecordAnswerer:
    """Answers questions from tables, with the rights of the caller in every statement."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store

    async def understand(self, question: str, caller: Caller) -> UnderstoodQuestion | None:
        """Read a question; None when it has nothing to do with tables the caller may see.

        Raises:
            ZhixingError: The database can't be read.
        """
        known = await self._store.look(caller.directory)
        read = read_question(
            question,
            self._store.vocabulary,
            known.values,
            NameIndex.of(caller.directory),
            caller.now,
        )
        reading = RecordReader(known.catalogue, self._store.policies, caller).read(read)
        if reading is None:
            return None
        return UnderstoodQuestion(question=read, reading=reading, known=known)

    async def answer(self, understood: UnderstoodQuestion, caller: Caller) -> RecordAnswer:
        """Look it up and tell it; raises as `understand`."""
        catalogue = understood.known.catalogue
        builder = StatementBuilder(
            catalogue, self._store.policies, caller, dialect=self._store.database.dialect
        )
        language = detect_language(understood.question.text)
        teller = _Telling(self._store, catalogue, builder, language)
        reading = understood.reading
        said, rows = await teller.tell(reading)
        sight = decide_sight(self._store.policies[reading.table.name], caller)
        tables = frozenset[str]().union(*(query.tables for query in reading.queries))
        tables |= {reading.table.name}
        texts = get_record_texts(language)
        if not said:
            said = texts.nothing.format(table=reading.table.name)
        notes = [tell_source(reading.queries[0], catalogue, language)]
        if sight.people is not None and not reading.is_own:
            notes.append(texts.partial)
        result = ToolResult(
            text="\n\n".join((said, " ".join(notes))),
            rows=tuple(_to_json(row) for row in rows),
            is_for_asker_alone=not caller.reader.is_private
            and not is_public(self._store.policies, tables | teller.named_from, caller),
            has_found=teller.has_found,
        )
        return RecordAnswer(
            result=result,
            reading=reading,
            tools=tuple(dict.fromkeys(self._store.tools[name] for name in sorted(tables))),
            row=rows[0] if len(rows) == 1 else None,
            group=teller.group,
        )


class _Telling:
    """Runs the queries of one reading and words what they return."""

    def __init__(
        self,
        store: RecordStore,
        catalogue: Catalogue,
        builder: StatementBuilder,
        language: Language,
    ) -> None:
        self._store = store
        self._catalogue = catalogue
        self._builder = builder
        self._language: Language = language
        self.has_found = False
        self.group = ""
        # Tables whose rows lent names: whoever listens reads these too.
        self.named_from: set[str] = set()

    async def tell(self, reading: RecordReading) -> tuple[str, list[Mapping[str, Any]]]:
        """Return everything in words, and the rows."""
        parts: list[str] = []
        rows: list[Mapping[str, Any]] = []
        for query in reading.queries:
            if query.measures:
                parts.append(await self._tell_figures(query, reading.table))
            else:
                rows = await self._fetch_rows(query)
                if len(rows) <= _MOST_BESIDE or reading.is_listing or len(reading.queries) == 1:
                    parts.append(await self._tell_rows(query, rows, reading.table))
        return "\n\n".join(filter(None, parts)), rows

    async def _tell_figures(self, query: Query, table: Table) -> str:
        found = [tuple(row) for row in await self._store.fetch(
            self._builder.build_figures(query)
        )]  # fmt: skip
        if not query.group and all(not value for value in found[0]):
            is_counted = any(one.operation is Operation.COUNT for one in query.measures)
            self.has_found = self.has_found or is_counted
            return tell_figures(query, found, table, {}, self._language) if is_counted else ""
        self.has_found = self.has_found or bool(found)
        keys = [row[0] for row in found] if query.group else []
        self.group = str(keys[0]) if len(keys) == 1 else ""
        labels = await self._load_labels(table, {query.group: keys}) if query.group else {}
        return tell_figures(query, found, table, labels, self._language)

    async def _fetch_rows(self, query: Query) -> list[Mapping[str, Any]]:
        found = await self._store.fetch(self._builder.build_rows(query))
        rows: list[Mapping[str, Any]] = [dict(row._mapping) for row in found]  # noqa: SLF001 - the public name of a row's fields
        self.has_found = self.has_found or bool(rows)
        return rows

    async def _tell_rows(
        self, query: Query, rows: Sequence[Mapping[str, Any]], table: Table
    ) -> str:
        values = {
            column.name: [row[column.name] for row in rows if row[column.name] is not None]
            for column in table.references
        }
        labels = await self._load_labels(table, values)
        first = [one.column for one in query.filters]
        return tell_rows(rows, table, labels, self._language, first=first)

    async def _load_labels(
        self, table: Table, values: Mapping[str, Sequence[object]]
    ) -> dict[str, dict[object, str]]:
        """Return what people call the rows that columns lead to, as far as these may be seen."""
        labels: dict[str, dict[object, str]] = {}
        for name, keys in values.items():
            reference = table.columns[name].reference
            target = self._catalogue.get(reference.table) if reference else None
            if reference is None or target is None or not target.labels or not keys:
                continue
            statement = self._builder.build_labels(
                target, sorted(set(keys), key=str), reference.column
            )
            rows = await self._store.fetch(statement)
            if rows:
                self.named_from.add(target.name)
            labels[name] = {
                key: " / ".join(dict.fromkeys(str(one) for one in names if one))
                for key, *names in (tuple(row) for row in rows)
            }
        return labels


def _to_json(row: Mapping[str, Any]) -> dict[str, JsonValue]:
    return {
        name: value if isinstance(value, str | int | float | bool | None) else str(value)
        for name, value in row.items()
    }

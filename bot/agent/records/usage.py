"""What the mentions of a question are in the light of one table: conditions, figures, groups."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from bot.agent.records.catalogue import Catalogue, Column, ColumnKind, Table
from bot.agent.records.mentions import Mention, ReadQuestion
from bot.agent.records.query import Filter

_RELATED = 0.8
_FAR = 0.7
_OF = ("的", "'s", "’s")
_AFFIRMED = ("已", "已经", "status ", "state ", "状态为", "状态是", "状态")


@dataclass(slots=True, kw_only=True)
class Usage:
    """What was made of the mentions.

    Attributes:
        filters: By column; conditions on one column are alternatives.
        measures, dates, texts: How much the mentions speak of a column, by its name.
        groups: Columns the figures may be split by, in the order in which they are named.
        people: Mentions of people.
        explained, unexplained: How much of the question fits the table, and how much does not.
        named: How much names the table itself.
    """

    table: Table
    filters: dict[str, Filter] = field(default_factory=dict)
    measures: Counter[str] = field(default_factory=Counter)
    dates: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    groups: list[str] = field(default_factory=list)
    people: list[Mention] = field(default_factory=list)
    periods: list[Mention] = field(default_factory=list)
    explained: float = 0.0
    unexplained: float = 0.0
    named: float = 0.0


class UsageReader:
    """Reads mentions in the light of tables; only those that may be seen count."""

    def __init__(self, catalogue: Catalogue, visible: Set[str]) -> None:
        self._catalogue = catalogue
        self._visible = visible

    def read(self, question: ReadQuestion, table: Table) -> Usage:
        """Use every mention as far as the table allows."""
        usage = Usage(table=table)
        for index, mention in enumerate(question.mentions):
            share = self._use(question, index, usage)
            usage.explained += share * mention.weight
            usage.unexplained += (1 - share) * mention.weight
        return usage

    def _use(self, question: ReadQuestion, index: int, usage: Usage) -> float:
        """Take one mention in; returns how well it fits, from 0 to 1."""
        mention = question.mentions[index]
        if mention.period is not None:
            usage.periods.append(mention)
            kinds = {ColumnKind.DATE, ColumnKind.MOMENT, ColumnKind.YEAR}
            return float(any(one.kind in kinds for one in usage.table.columns.values()))
        if mention.people:
            usage.people.append(mention)
            return float(bool(find_people_columns(usage.table)))
        if mention.values:
            share = self._use_values(question, index, usage)
            if share:
                return share
        return self._use_concepts(question, mention, usage) if mention.concepts else 0.0

    def _use_values(self, question: ReadQuestion, index: int, usage: Usage) -> float:
        mention = question.mentions[index]
        table = usage.table
        by_table: dict[str, dict[str, list[str]]] = {}
        for name, column, value in mention.values:
            by_table.setdefault(name, {}).setdefault(column, []).append(value)
        if chained := self._find_chain(question, index, table, by_table):
            usage.filters[chained.column] = chained
            return 1.0
        if table.name in by_table:
            column, values = next(iter(by_table[table.name].items()))
            _add_values(usage, column, values)
            return 1.0
        for link in table.references:
            if link.reference and link.reference.table in by_table and self._sees(link):
                inner = _filter_of(by_table[link.reference.table])
                usage.filters[link.name] = Filter(column=link.name, through=(inner,))
                return _RELATED
        for link in table.references:
            for name, found in by_table.items():
                if (by := self._find_shared(link, name)) and name in self._visible:
                    inner = _filter_of(found)
                    usage.filters[link.name] = Filter(
                        column=link.name, through=(inner,), source=(name, by)
                    )
                    return _FAR
        return 0.0

    def _find_chain(
        self,
        question: ReadQuestion,
        index: int,
        table: Table,
        found: Mapping[str, Mapping[str, Sequence[str]]],
    ) -> Filter | None:
        """Read "the customer of project K": a row of one table leads to one of another."""
        if index + 1 >= len(question.mentions):
            return None
        mention, following = question.mentions[index], question.mentions[index + 1]
        if question.text[mention.end : following.start].strip() not in _OF:
            return None
        for link in table.references:
            if link.reference is None:
                continue
            target = self._catalogue.get(link.reference.table)
            if target is None or not following.concepts & target.concepts:
                continue
            for name, columns in found.items():
                by = self._find_shared(link, name)
                if by and name in self._visible:
                    inner = _filter_of(columns)
                    return Filter(column=link.name, through=(inner,), source=(name, by))
        return None

    def _find_shared(self, link: Column, other: str) -> str:
        """Return the column of another table that leads to where this one leads; empty if none."""
        target = self._catalogue.get(other)
        if target is None or link.reference is None:
            return ""
        for column in target.references:
            if column.reference == link.reference:
                return column.name
        return ""

    def _sees(self, link: Column) -> bool:
        return link.reference is not None and link.reference.table in self._visible

    def _use_concepts(self, question: ReadQuestion, mention: Mention, usage: Usage) -> float:
        table, concepts = usage.table, mention.concepts
        share = 0.0
        is_name = bool(concepts & table.concepts)
        if is_name and not usage.named:
            # "Orders" names the orders rather than the order lines.
            usage.named = mention.weight * len(concepts & table.concepts) / len(table.concepts)
            share = 1.0
        if self._count_columns(concepts - table.concepts, usage):
            share = 1.0
        is_told = share and not _is_affirmed(question, mention)
        has_date = any(
            table.columns[name].kind is not ColumnKind.YEAR
            and concepts & table.columns[name].concepts
            for name in usage.dates
        )
        has_period = any(one.period is not None for one in question.mentions)
        # "Signed in May" is about the day; "signed" alone, or with the status named, is a status.
        if not (is_told and (is_name or (has_date and has_period))):
            share = max(share, self._use_categories(concepts, usage))
        if is_name:
            return 1.0
        return max(share, self._use_related(concepts, usage))

    def _count_columns(self, concepts: frozenset[str], usage: Usage) -> bool:
        """Note which columns are spoken of; returns whether one is."""
        is_any = False
        for column in usage.table.columns.values():
            shared = len(concepts & column.concepts)
            if not shared:
                continue
            match column.kind:
                case ColumnKind.NUMBER if column.reference is None:
                    usage.measures[column.name] += shared
                case ColumnKind.DATE | ColumnKind.MOMENT | ColumnKind.YEAR:
                    usage.dates[column.name] += shared
                case ColumnKind.FLAG:
                    usage.filters[column.name] = Filter(column=column.name, values=(1,))
                case _:
                    usage.texts[column.name] += shared
                    if column.is_category or column.reference is not None or column.is_people:
                        _add_group(usage, column.name)
            is_any = True
        return is_any

    def _use_categories(self, concepts: frozenset[str], usage: Usage) -> float:
        found = _find_categories(usage.table, concepts)
        if found:
            column, values = found
            _add_values(usage, column, values)
            return 1.0
        for link in usage.table.references:
            if not self._sees(link) or link.reference is None:
                continue
            target = self._catalogue[link.reference.table]
            inner = _find_categories(target, concepts)
            if inner:
                column, values = inner
                condition = Filter(column=column, values=tuple(values))
                known = usage.filters.get(link.name)
                usage.filters[link.name] = (
                    replace(known, through=(*known.through, condition))
                    if known and known.through and known.source is None
                    else Filter(column=link.name, through=(condition,))
                )
                return _RELATED
        return 0.0

    def _use_related(self, concepts: frozenset[str], usage: Usage) -> float:
        for link in usage.table.references:
            if link.reference is None or link.reference.table == usage.table.name:
                continue
            target = self._catalogue.get(link.reference.table)
            if target is not None and concepts & target.concepts:
                _add_group(usage, link.name)
                return _RELATED
        return 0.0


def find_people_columns(table: Table) -> list[Column]:
    """Return the columns that name people, the table's own key last."""
    found = [column for column in table.columns.values() if column.is_people]
    return sorted(found, key=lambda column: column.is_key)


def _find_categories(table: Table, concepts: frozenset[str]) -> tuple[str, list[str]] | None:
    """Return the values of one column that the words stand for, the fewest when several fit."""
    found = []
    for column in table.columns.values():
        if not column.is_category or column.is_people or column.reference is not None:
            continue
        values = [
            value for value, named in column.values.items() if named and concepts <= named
        ] or [value for value, named in column.values.items() if named and named <= concepts]
        if values:
            found.append((len(values), column.name, values))
    if not found:
        return None
    _, name, values = min(found, key=lambda one: one[0])
    return name, values


def _add_values(usage: Usage, column: str, values: Sequence[str]) -> None:
    known = usage.filters.get(column)
    former = known.values if known and known.values else ()
    usage.filters[column] = Filter(column=column, values=tuple(dict.fromkeys((*former, *values))))


def _add_group(usage: Usage, column: str) -> None:
    if column not in usage.groups:
        usage.groups.append(column)


def _filter_of(columns: Mapping[str, Sequence[str]]) -> Filter:
    column, values = next(iter(columns.items()))
    return Filter(column=column, values=tuple(values))


def _is_affirmed(question: ReadQuestion, mention: Mention) -> bool:
    before = question.text[: mention.start].rstrip("(（").lower()
    return before.endswith(_AFFIRMED) or mention.text.startswith("已")

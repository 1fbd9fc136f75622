"""From a question to a query: which table it is about, and what it asks of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.agent.caller import Caller
from bot.agent.records.catalogue import Catalogue, Column, ColumnKind, Table
from bot.agent.records.mentions import Mention, ReadQuestion
from bot.agent.records.policy import Policies, decide_sight
from bot.agent.records.query import Filter, Measure, Operation, Query
from bot.agent.records.signs import Sign
from bot.agent.records.usage import Usage, UsageReader, find_people_columns

# What is written down when a row comes into being; "in May" means that day unless said otherwise.
_BEGINNINGS = frozenset({"create", "submit", "sign", "fire", "order", "report", "hire", "receive"})
_UNITS = frozenset({"day", "hour", "minute"})
_RANKS = (Sign.TOP, Sign.BOTTOM)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordReading:
    """A question understood as one about records.

    Attributes:
        queries: The figures first, then the rows, as far as both are asked for.
        coverage: The share of the question that was made use of, from 0 to 1.
        is_named: The question names the table, or a value that only it holds.
        is_asking: The wording asks for something records hold.
        is_listing: The rows themselves are asked for.
        is_own: It is about the asker's own rows.
        unclear: People of whom more than one may be meant.
    """

    table: Table
    queries: tuple[Query, ...]
    coverage: float
    is_named: bool
    is_asking: bool
    is_own: bool
    is_listing: bool
    unclear: tuple[Mention, ...] = ()


class RecordReader:
    """Understands questions about the tables a caller may see."""

    def __init__(self, catalogue: Catalogue, policies: Policies, caller: Caller) -> None:
        self._catalogue = catalogue
        self._policies = policies
        self._caller = caller
        self._visible = frozenset(
            name for name in catalogue if not decide_sight(policies[name], caller).is_blind
        )
        self._usages = UsageReader(catalogue, self._visible)

    def read(self, question: ReadQuestion) -> RecordReading | None:
        """Return the best reading; None when no table has anything to do with it."""
        best: tuple[float, Usage] | None = None
        for name in self._catalogue:
            if name not in self._visible:
                continue
            usage = self._usages.read(question, self._catalogue[name])
            # A table that is named comes before one whose columns happen to fit.
            score = usage.explained + 0.5 * usage.named
            if usage.explained and (best is None or score > best[0]):
                best = (score, usage)
        return None if best is None else self._conclude(question, best[1])

    def _conclude(self, question: ReadQuestion, usage: Usage) -> RecordReading:
        is_own = question.has(Sign.OWN) and self._add_own(usage)
        unclear = self._add_people(usage)
        self._add_periods(usage)
        filters = tuple(usage.filters.values())
        queries = self._build(question, usage, filters)
        whole = usage.explained + usage.unexplained + question.unknown_weight
        return RecordReading(
            table=usage.table,
            queries=queries,
            coverage=usage.explained / whole if whole else 0.0,
            is_named=bool(usage.named or _has_values(question, usage.table)),
            is_asking=_is_asking(question),
            is_own=is_own,
            is_listing=question.has(Sign.LIST),
            unclear=unclear,
        )

    def _add_own(self, usage: Usage) -> bool:
        person = self._caller.person
        column = self._choose_people_column(usage)
        if person is None or column is None:
            return False
        usage.filters[column.name] = Filter(column=column.name, values=(str(person.person_id),))
        return True

    def _add_people(self, usage: Usage) -> tuple[Mention, ...]:
        column = self._choose_people_column(usage)
        if column is None or not usage.people:
            return ()
        clear = [one for one in usage.people if len(one.people) == 1]
        values = tuple(dict.fromkeys(str(person) for one in clear for person in one.people))
        if values:
            usage.filters[column.name] = Filter(column=column.name, values=values)
        return tuple(one for one in usage.people if len(one.people) > 1)

    def _choose_people_column(self, usage: Usage) -> Column | None:
        columns = find_people_columns(usage.table)
        if not columns:
            return None
        own = self._policies[usage.table.name].own
        # The table of people itself is asked by its key.
        keys = [one for one in columns if one.is_key and len(usage.table.labels) > 0]
        named = [one for one in columns if usage.texts[one.name]]
        mine = [one for one in columns if one.name == own]
        return next(iter((*named, *mine, *keys, *columns)))

    def _add_periods(self, usage: Usage) -> None:
        for mention in usage.periods:
            period = mention.period
            if period is None:
                continue
            years = [c for c in usage.table.columns.values() if c.kind is ColumnKind.YEAR]
            dates = _list_dates(usage.table)
            if years and (period.is_year or not dates):
                column = years[0].name
                usage.filters[column] = Filter(column=column, values=(period.start.year,))
            elif dates:
                column = _choose_date(usage, dates).name
                usage.filters[column] = Filter(column=column, start=period.start, end=period.end)

    def _build(
        self, question: ReadQuestion, usage: Usage, filters: tuple[Filter, ...]
    ) -> tuple[Query, ...]:
        rows = Query(table=usage.table.name, filters=filters)
        figures = _build_measures(question, usage)
        rank = next((one for one in question.signs if one.sign in _RANKS), None)
        group = _choose_group(question, usage, is_ranked=rank is not None)
        if rank is not None and (group or figures):
            return _rank(rows, usage, figures, group, rank.number, rank.sign)
        if not figures:
            return (rows,)
        if group:
            return (replace(rows, measures=figures, group=group), replace(rows, measures=figures))
        split = _choose_split(usage)
        total = replace(rows, measures=figures)
        parts = (replace(total, group=split),) if split else ()
        return (total, *parts, rows)


def _rank(
    rows: Query,
    usage: Usage,
    figures: tuple[Measure, ...],
    group: str,
    number: int,
    sign: Sign,
) -> tuple[Query, ...]:
    is_least = sign is Sign.BOTTOM
    limit = number or 1
    if group:
        measures = figures or (Measure(operation=Operation.COUNT),)
        counted = Query(
            table=rows.table,
            filters=rows.filters,
            measures=measures,
            group=group,
            ascending=is_least,
            limit=limit,
        )
        return (counted,)
    column = next((one.column for one in figures if one.column), "") or _choose_measure(usage)
    if not column:
        return (replace(rows, measures=figures), rows)
    return (replace(rows, order_by=column, ascending=is_least, limit=limit),)


def _build_measures(question: ReadQuestion, usage: Usage) -> tuple[Measure, ...]:
    measure = _choose_measure(usage)
    is_unit = _asks_for_unit(question)
    if question.has(Sign.AVERAGE):
        if question.has(Sign.DURATION) and (ends := _choose_duration(usage)):
            return (Measure(operation=Operation.AVERAGE, column=ends[0], until=ends[1]),)
        column = measure or _find_money(usage.table)
        return (Measure(operation=Operation.AVERAGE, column=column),) if column else ()
    found: list[Measure] = []
    if question.has(Sign.COUNT) and not (is_unit and measure):
        found.append(Measure(operation=Operation.COUNT))
    wants_sum = question.has(Sign.SUM) or (question.has(*_RANKS) and usage.measures)
    if wants_sum or (is_unit and measure):
        money = measure or _find_money(usage.table)
        if money:
            found.append(Measure(operation=Operation.SUM, column=money))
    return tuple(found)


def _asks_for_unit(question: ReadQuestion) -> bool:
    """Tell whether "how many" is about days or hours, which are summed up, and not about rows."""
    for sign in question.signs:
        if sign.sign not in {Sign.COUNT, Sign.HOW_MUCH}:
            continue
        for mention in question.mentions:
            if mention.concepts & _UNITS and 0 <= mention.start - sign.end <= 1:
                return True
    return False


def _choose_measure(usage: Usage) -> str:
    if usage.measures:
        order = list(usage.table.columns)
        return max(usage.measures, key=lambda name: (usage.measures[name], -order.index(name)))
    return ""


def _find_money(table: Table) -> str:
    return next((one.name for one in table.columns.values() if one.unit), "")


def _choose_duration(usage: Usage) -> tuple[str, str] | None:
    dates = _list_dates(usage.table)
    ends = [one for one in dates if usage.dates[one.name]]
    start = _default_date(dates) if dates else None
    if not ends or start is None:
        return None
    end = max(ends, key=lambda one: usage.dates[one.name])
    return None if end.name == start.name else (start.name, end.name)


def _choose_group(question: ReadQuestion, usage: Usage, *, is_ranked: bool) -> str:
    if not (is_ranked or question.has(Sign.EACH)):
        return ""
    free = [name for name in usage.groups if name not in usage.filters]
    return free[0] if free else ""


def _choose_split(usage: Usage) -> str:
    """Return the column of which several values are asked for at once: each gets its figure."""
    for name, one in usage.filters.items():
        if one.values is not None and len(one.values) > 1:
            return name
    return ""


def _list_dates(table: Table) -> list[Column]:
    kinds = {ColumnKind.DATE, ColumnKind.MOMENT}
    return [column for column in table.columns.values() if column.kind in kinds]


def _choose_date(usage: Usage, dates: Sequence[Column]) -> Column:
    named = [one for one in dates if usage.dates[one.name]]
    if named:
        return max(named, key=lambda one: usage.dates[one.name])
    return _default_date(dates)


def _default_date(dates: Sequence[Column]) -> Column:
    return next((one for one in dates if one.concepts & _BEGINNINGS), dates[0])


def _has_values(question: ReadQuestion, table: Table) -> bool:
    return any(name == table.name for one in question.mentions for name, _, _ in one.values)


def _is_asking(question: ReadQuestion) -> bool:
    # What is allowed stands in pages; what somebody has left of it in records.
    if question.has(Sign.EXPLAIN) or (question.has(Sign.RULE) and not question.has(Sign.OWN)):
        return False
    return question.has(
        Sign.COUNT, Sign.SUM, Sign.AVERAGE, Sign.TOP, Sign.BOTTOM, Sign.LIST, Sign.HOW_MUCH
    )

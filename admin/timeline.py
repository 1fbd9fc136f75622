"""A trace as a page tells it: steps along the time, passages with what became of them. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from admin.sight import Sight, rests_on_question
from bot.trace_steps import UNDERSTAND
from bot.trace_view import list_steps, tells_understanding
from knowledge.documents import Hit

_PARTS = re.compile(r"(?P<name>.*?)(?: \((?P<detail>.*)\))?", re.DOTALL)
_LEAST_WIDTH = 0.3
SCORES = ("bm25", "cosine", "vector", "code", "fused", "words", "meaning", "rescored", "reranked")
TOOL, PLAN = "tool: ", "plan "


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One step along the time.

    Attributes:
        name: What was done, such as `recall: terms`.
        detail: Of which search, or which table; empty in outlines.
        start_share, width_share: Percent of the whole time.
        took_ms: None = not timed on its own.
    """

    name: str
    detail: str
    start_share: float
    width_share: float
    at_ms: float
    took_ms: float | None
    tokens: int
    cost: float
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageRow:
    """A passage of a search.

    Attributes:
        scores: By the table's columns; None = that stage did not see it.
    """

    hit: Hit
    scores: tuple[float | None, ...]
    fate: str
    is_cited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTable:
    """One search: which passages there were, and what became of them."""

    audience: str
    verdict: str
    columns: tuple[str, ...]
    rows: tuple[PassageRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The agent's plan after something was found, with the passages that caused it."""

    name: str
    note: str
    causes: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a tool, and what it found."""

    name: str
    is_ok: bool
    took_ms: float | None
    note: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All of it."""

    bars: tuple[Bar, ...]
    understood: str
    routing: str
    searches: tuple[SearchTable, ...] = ()
    revisions: tuple[Revision, ...] = ()
    tools: tuple[ToolCall, ...] = ()
    cited: tuple[Hit, ...] = ()


@dataclass(slots=True)
class _Found:
    searches: list[SearchTable] = field(default_factory=list)
    revisions: list[Revision] = field(default_factory=list)
    tools: list[ToolCall] = field(default_factory=list)


def build_story(sight: Sight) -> Story:
    """Tell a trace as far as it is seen."""
    steps = list_steps(sight.trace.payload)
    total_ms = max([sight.trace.took_ms, *map(_find_end, steps)], default=0.0) or 1.0
    bars = tuple(_build_bar(step, sight, total_ms) for step in steps)
    if not sight.has_content:
        return Story(bars=bars, understood="", routing="")
    cited = _list_hits(sight, sight.trace.payload.get("cited"))
    found = _Found()
    for step in steps:
        _gather(step, sight, {hit.passage_id for hit in cited}, found)
    return Story(
        bars=bars,
        understood=_find_note(steps, UNDERSTAND, sight),
        routing=_find_note(steps, "route", sight),
        searches=tuple(found.searches),
        revisions=tuple(found.revisions),
        tools=tuple(found.tools),
        cited=tuple(cited),
    )


def _gather(step: Mapping[str, object], sight: Sight, cited: set[str], found: _Found) -> None:
    name, note = str(step.get("step")), _show_note(step, sight)
    hits = tuple(_list_hits(sight, step.get("rows")))
    if isinstance(step.get("fates"), list):
        found.searches.append(_build_table(step, sight, cited))
    elif name.startswith(PLAN):
        found.revisions.append(Revision(name=name.removeprefix(PLAN), note=note, causes=hits))
    elif name.startswith(TOOL):
        call = ToolCall(
            name=name.removeprefix(TOOL),
            is_ok=step.get("is_ok") is not False,
            took_ms=_read_number(step.get("took_ms")),
            note=note,
            hits=hits,
        )
        found.tools.append(call)


def _build_bar(step: Mapping[str, object], sight: Sight, total_ms: float) -> Bar:
    matched = _PARTS.fullmatch(str(step.get("step")))
    name, detail = (matched["name"], matched["detail"] or "") if matched else ("?", "")
    took_ms = _read_number(step.get("took_ms"))
    at_ms = _read_number(step.get("at_ms")) or 0.0
    usage = step.get("usage")
    used = usage if isinstance(usage, dict) else {}
    start = min(100 * at_ms / total_ms, 100 - _LEAST_WIDTH)
    width = max(100 * (took_ms or 0.0) / total_ms, _LEAST_WIDTH)
    return Bar(
        name=name,
        detail=detail if sight.has_content and not name.startswith("records") else "",
        start_share=round(start, 2),
        width_share=round(min(width, 100 - start), 2),
        at_ms=at_ms,
        took_ms=took_ms,
        tokens=used.get("prompt_tokens", 0) + used.get("completion_tokens", 0),
        cost=used.get("cost", 0.0),
        note=_show_note(step, sight),
    )


def _build_table(step: Mapping[str, object], sight: Sight, cited: set[str]) -> SearchTable:
    """Passages that can't be read leave no gap: rows are not numbered."""
    shown: list[tuple[Hit, str, Mapping[str, float]]] = []
    fates = step["fates"]
    for passage_id, fate, scores in fates if isinstance(fates, list) else ():
        hit = sight.hits.get(passage_id)
        if hit is not None:
            shown.append((hit, fate, scores))
    known = {name for _, _, scores in shown for name in scores}
    columns = (*(one for one in SCORES if one in known), *sorted(known - {*SCORES}))
    rows = [
        PassageRow(
            hit=hit,
            scores=tuple(scores.get(column) for column in columns),
            fate=fate,
            is_cited=hit.passage_id in cited,
        )
        for hit, fate, scores in shown
    ]
    matched = _PARTS.fullmatch(str(step.get("step")))
    return SearchTable(
        audience=(matched["detail"] or "") if matched else "",
        verdict=str(step.get("note", "")),
        columns=columns,
        rows=tuple(rows),
    )


def _show_note(step: Mapping[str, object], sight: Sight) -> str:
    """Return a step's note where it may be shown."""
    if not sight.has_content:
        return ""
    is_shown = sight.has_findings or (
        rests_on_question(str(step.get("step")))
        and (sight.has_understanding or not tells_understanding(step))
    )
    return str(step.get("note", "")) if is_shown else ""


def _find_note(steps: Sequence[Mapping[str, object]], name: str, sight: Sight) -> str:
    return next((_show_note(one, sight) for one in steps if one.get("step") == name), "")


def _find_end(step: Mapping[str, object]) -> float:
    return (_read_number(step.get("at_ms")) or 0.0) + (_read_number(step.get("took_ms")) or 0.0)


def _list_hits(sight: Sight, named: object) -> list[Hit]:
    ids = [
        str(one[0]) if isinstance(one, list) else str(one)
        for one in (named if isinstance(named, list) else ())
    ]
    return [sight.hits[one] for one in ids if one in sight.hits]


def _read_number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None

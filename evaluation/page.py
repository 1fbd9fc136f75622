"""One self-contained HTML page of a run: no script, nothing loaded from elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evaluation.charts import (
    SERIES_COLOURS,
    Bar,
    Line,
    draw_bars,
    draw_curves,
    draw_dots,
    series_class,
)
from evaluation.records import QueryRecord
from evaluation.report import (
    ANSWER_COLUMNS,
    GATE_COLUMNS,
    MEAN,
    RANKING_COLUMNS,
    TIME_COLUMNS,
    format_figure,
)
from evaluation.results import RunInfo
from evaluation.summary import MOST_WRONGLY_REFUSED, Figures, Refusals, RunSummary

TEMPLATE = "report.html.j2"
CURVE_WIDTH = 0.5
"""A gate that refuses more than half of the answerable questions is of no interest."""
MISSED_SHOWN = 60
NOTICEABLE_MS = 0.1
MISSED_DEPTH = 10
REFUSAL_GROUPS: Mapping[str, str] = {
    "foreign": "other sets' questions",
    "foreign_same_language": "other sets' questions, same language",
    "unanswerable": "unanswerable",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A table cell; `style` is `best`, `up`, `down` or empty."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableData:
    """A table ready to be written."""

    headings: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A figure of the headline."""

    label: str
    value: str
    note: str = ""


def build_page(summary: RunSummary, records: Sequence[QueryRecord], info: RunInfo) -> str:
    """Return the page; records are needed for the list of questions that were missed."""
    environment = Environment(
        loader=PackageLoader("evaluation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    series = {name: number for number, name in enumerate(summary.variants)}
    return environment.get_template(TEMPLATE).render(
        info=info,
        variant=summary.main_variant,
        tiles=_build_tiles(summary),
        sets=_build_sets(summary),
        variants=_build_variants(summary) if len(summary.variants) > 1 else None,
        answers=_build_answers(summary),
        kinds=_build_kinds(summary),
        legend=[(name, series_class(number)) for name, number in series.items()],
        dots=_draw_sets(summary, series),
        curves=_draw_refusals(summary.refusals),
        curve_legend=[
            (REFUSAL_GROUPS[group], series_class(number), summary.refusals.counts[group])
            for number, group in enumerate(REFUSAL_GROUPS)
            if group in summary.refusals.counts
        ],
        refusals=summary.refusals,
        refusal_rows=_build_refusals(summary),
        variant_times=_draw_variant_times(summary),
        stage_times=_draw_stage_times(summary),
        missed=_find_missed(records, summary.main_variant),
        missed_depth=MISSED_DEPTH,
        colours=SERIES_COLOURS,
        noticeable_ms=NOTICEABLE_MS,
    )


def _build_tiles(summary: RunSummary) -> list[Tile]:
    mean, shipped = summary.main.mean, summary.refusals.shipped
    sets = len(summary.main.datasets)
    tiles = [
        Tile(
            label="Questions",
            value=f"{mean.questions:,}",
            note=f"{sets} set" if sets == 1 else f"{sets} sets",
        ),
        Tile(label="R@5", value=_share(mean.recall_at_5), note="mean of sets"),
        Tile(label="MRR", value=_share(mean.mrr), note="mean of sets"),
        Tile(label="nDCG@10", value=_share(mean.ndcg_at_10), note="mean of sets"),
        Tile(
            label="Wrong refusals",
            value=_percent(shipped.get("answerable")),
            note="of answerable",
        ),
    ]
    if "foreign" in shipped:
        tiles.append(
            Tile(
                label="Foreign refused",
                value=_percent(shipped["foreign"]),
                note="of other sets'",
            )
        )
    tiles.append(
        Tile(
            label="Search, P95",
            value=f"{mean.latency_ms_p95 or 0:,.0f} ms",
            note=f"P50 {mean.latency_ms_p50 or 0:,.0f} ms",
        )
    )
    return tiles


def _build_sets(summary: RunSummary) -> TableData:
    columns = (("questions", "questions"), *RANKING_COLUMNS, *GATE_COLUMNS, *TIME_COLUMNS)
    return _build_table(columns, {**summary.main.datasets, MEAN: summary.main.mean})


def _build_answers(summary: RunSummary) -> TableData | None:
    if summary.main.mean.answer_ms_p50 is None:
        return None
    return _build_table(ANSWER_COLUMNS, {**summary.main.datasets, MEAN: summary.main.mean})


def _build_variants(summary: RunSummary) -> TableData:
    """Means of every variant, each figure followed by its distance to the main variant."""
    columns = (*RANKING_COLUMNS, *TIME_COLUMNS)
    means = {name: variant.mean for name, variant in summary.variants.items()}
    table = _build_table(columns, means)
    main = summary.main.mean
    best = {
        field: max(_as_shown(getattr(mean, field)) for mean in means.values())
        for _, field in RANKING_COLUMNS
    }
    rows = []
    for (name, cells), mean in zip(table.rows, means.values(), strict=True):
        styled = [
            _style_cell(cell, field, mean, main, best)
            for cell, (_, field) in zip(cells, columns, strict=True)
        ]
        rows.append((name, styled))
    return replace(table, rows=rows)


def _style_cell(
    cell: Cell, field: str, mean: Figures, main: Figures, best: Mapping[str, float]
) -> Cell:
    value, reference = getattr(mean, field), getattr(main, field)
    if field not in best or value is None or reference is None:
        return cell
    shown, distance = _as_shown(value), _as_shown(value) - _as_shown(reference)
    if shown == best[field]:
        return replace(cell, style="best")
    return replace(cell, style="" if distance == 0 else "down" if distance < 0 else "up")


def _as_shown(value: float | None) -> float:
    """Round as figures are written, so that cells that look equal are judged equal."""
    return round(value or 0.0, 3)


def _build_kinds(summary: RunSummary) -> list[tuple[str, TableData]]:
    columns = (("questions", "questions"), *RANKING_COLUMNS, *GATE_COLUMNS)
    tables = [
        (dataset, _build_table(columns, kinds))
        for dataset, kinds in summary.kinds.items()
        if len(kinds) > 1
    ]
    if len(summary.languages) > 1:
        tables.insert(0, ("by language, all sets", _build_table(columns, summary.languages)))
    return tables


def _build_refusals(summary: RunSummary) -> TableData:
    headings, groups = ["answerable, wrongly"], ["answerable"]
    for group, label in REFUSAL_GROUPS.items():
        if group in summary.refusals.counts:
            headings.append(label)
            groups.append(group)
    rows = []
    for name, refusals in {**summary.refusals_by_dataset, "all": summary.refusals}.items():
        cells = [Cell(text=_describe_group(refusals, group)) for group in groups]
        rows.append((name, cells))
    return TableData(headings=headings, rows=rows)


def _describe_group(refusals: Refusals, group: str) -> str:
    if group not in refusals.shipped:
        return "–"
    return f"{_percent(refusals.shipped[group])} of {refusals.counts[group]}"


def _build_table(columns: Sequence[tuple[str, str]], rows: Mapping[str, Figures]) -> TableData:
    return TableData(
        headings=[heading for heading, _ in columns],
        rows=[
            (
                name or "–",
                [Cell(text=format_figure(field, getattr(figures, field))) for _, field in columns],
            )
            for name, figures in rows.items()
        ],
    )


def _draw_sets(summary: RunSummary, series: Mapping[str, int]) -> Markup:
    rows: dict[str, dict[str, float]] = {}
    for name in summary.main.datasets:
        rows[name] = {
            variant: recall
            for variant, one in summary.variants.items()
            if (recall := one.datasets[name].recall_at_5) is not None
        }
    rows = {name: values for name, values in rows.items() if values}
    lowest = min((value for values in rows.values() for value in values.values()), default=0.0)
    return draw_dots(rows, series, low=int(lowest * 5) / 5)


def _draw_refusals(refusals: Refusals) -> Markup:
    if not refusals.curve or len(refusals.counts) == 1:
        return Markup("")
    wrongly = refusals.shipped.get("answerable", 0.0)
    lines = [
        Line(
            label=label,
            series=number,
            points=[
                (point.wrongly_refused, point.rightly_refused[group]) for point in refusals.curve
            ],
            highlight=(wrongly, refusals.shipped[group]),
        )
        for number, (group, label) in enumerate(REFUSAL_GROUPS.items())
        if group in refusals.counts
    ]
    return draw_curves(
        lines,
        x_title="answerable questions wrongly refused",
        y_title="rightly refused",
        x_most=CURVE_WIDTH,
        x_guide=MOST_WRONGLY_REFUSED,
    )


def _draw_variant_times(summary: RunSummary) -> Markup:
    bars = [
        Bar(
            label=name,
            value=variant.mean.latency_ms_p50 or 0.0,
            mark=variant.mean.latency_ms_p95,
            series=number,
        )
        for number, (name, variant) in enumerate(summary.variants.items())
    ]
    return draw_bars(bars, unit="ms")


def _draw_stage_times(summary: RunSummary) -> Markup:
    bars = [
        Bar(label=stage, value=p50, mark=p95)
        for stage, (p50, p95) in summary.stages_ms.items()
        if p95 >= NOTICEABLE_MS
    ]
    return draw_bars(bars, unit="ms")


def _find_missed(records: Sequence[QueryRecord], variant: str) -> list[QueryRecord]:
    """Questions whose evidence is not among the first MISSED_DEPTH, worst sets first seen."""
    missed = [
        record
        for record in records
        if record.variant == variant and record.scores and record.scores.recall_at_10 == 0
    ]
    return missed[:MISSED_SHOWN]


def _share(value: float | None) -> str:
    return format_figure("share", value)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"

"""Tables on the screen, each narrow enough for 80 columns."""

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from evaluation.summary import Figures, Refusals, RunSummary, VariantSummary

MISSING = "–"
MEAN = "mean"
MIN_WIDTH = 5

# Heading and field; shares with three digits, as the literature writes them.
RANKING_COLUMNS: Sequence[tuple[str, str]] = (
    ("R@1", "recall_at_1"),
    ("R@5", "recall_at_5"),
    ("R@10", "recall_at_10"),
    ("MRR", "mrr"),
    ("nDCG@10", "ndcg_at_10"),
)
GATE_COLUMNS: Sequence[tuple[str, str]] = (
    ("not found right", "not_found_right"),
    ("foreign refused", "foreign_refused"),
    ("wrongly refused", "wrongly_refused"),
)
TIME_COLUMNS: Sequence[tuple[str, str]] = (
    ("P50 ms", "latency_ms_p50"),
    ("P95 ms", "latency_ms_p95"),
)
ANSWER_COLUMNS: Sequence[tuple[str, str]] = (
    ("right", "answer_right"),
    ("points", "answer_point_coverage"),
    ("cites right", "answer_citation_precision"),
    ("not found right", "answer_not_found_right"),
    ("foreign refused", "answer_foreign_refused"),
    ("wrongly refused", "answer_wrongly_refused"),
    ("P50 ms", "answer_ms_p50"),
    ("P95 ms", "answer_ms_p95"),
)


def format_figure(field: str, value: float | None) -> str:
    """Write a figure: shares with three digits, times with one, counts whole."""
    if value is None:
        return MISSING
    if "_ms_" in field:
        return f"{value:,.1f}"
    return f"{value:,.0f}" if isinstance(value, int) else f"{value:.3f}"


def open_table(title: str) -> Table:
    """Return an empty table in the style of all of them."""
    return Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )


def print_summary(summary: RunSummary, console: Console) -> None:
    """Print the sets, the variants against each other, answers and refusals."""
    rows = _with_mean(summary.main)
    ranking = (("questions", "questions"), *RANKING_COLUMNS)
    title = f"Ranking by set ({summary.main_variant})"
    console.print(_build_table(title, "set", ranking, rows))
    console.print(_build_table("Gate and time by set", "set", (*GATE_COLUMNS, *TIME_COLUMNS), rows))
    if len(summary.variants) > 1:
        console.print(_build_variant_table(summary.variants))
    if summary.main.mean.answer_ms_p50 is not None:
        console.print(_build_table("Answers by set", "set", ANSWER_COLUMNS, rows))
    if len(summary.refusals.counts) > 1:
        console.print(_build_refusal_table(summary))


def _build_variant_table(variants: Mapping[str, VariantSummary]) -> Table:
    columns = (*RANKING_COLUMNS, *TIME_COLUMNS)
    rows = {name: variant.mean for name, variant in variants.items()}
    return _build_table("Variants, mean over the sets", "variant", columns, rows)


def _build_table(
    title: str, head: str, columns: Sequence[tuple[str, str]], rows: Mapping[str, Figures]
) -> Table:
    table = open_table(title)
    table.add_column(head, no_wrap=True)
    for heading, _ in columns:
        table.add_column(heading, justify="right", min_width=MIN_WIDTH)
    for name, figures in rows.items():
        if name == MEAN and table.rows:
            table.add_section()
        cells = [format_figure(field, getattr(figures, field)) for _, field in columns]
        table.add_row(name, *cells)
    return table


def _build_refusal_table(summary: RunSummary) -> Table:
    table = open_table("Refusals: as shipped, and at best within 5 %")
    table.add_column("set", no_wrap=True)
    table.add_column("group")
    for heading in ("questions", "refused", "at best", "separation"):
        table.add_column(heading, justify="right")
    all_sets = {**summary.refusals_by_dataset, "all": summary.refusals}
    for name, refusals in all_sets.items():
        for row in _refusal_rows(refusals):
            table.add_row(name, *row)
        table.add_section()
    return table


def _refusal_rows(refusals: Refusals) -> list[tuple[str, ...]]:
    best = refusals.best
    at_best = {"answerable": best.wrongly_refused, **best.rightly_refused} if best else {}
    return [
        (
            group.replace("_", " "),
            f"{count:,}",
            format_figure("share", refusals.shipped.get(group)),
            format_figure("share", at_best.get(group)),
            format_figure("share", refusals.separation.get(group)),
        )
        for group, count in refusals.counts.items()
    ]


def _with_mean(variant: VariantSummary) -> dict[str, Figures]:
    return {**variant.datasets, MEAN: variant.mean}

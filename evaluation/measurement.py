"""One evaluation from folders to files: what the command does, without the command line."""

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.clock import Clock
from core.errors import SettingsError
from core.settings import RetrievalSettings, Settings
from evaluation.datasets import Dataset, build_cross_datasets, load_dataset
from evaluation.index_cache import INDEX_VERSION, IndexCache
from evaluation.page import build_page
from evaluation.product_index import open_index_factory
from evaluation.progress import ConsoleProgress
from evaluation.records import QueryRecord, build_json
from evaluation.results import RunInfo
from evaluation.runner import Plan, run_evaluation
from evaluation.summary import RunSummary, build_summary
from evaluation.variants import (
    Simple,
    Stage,
    build_ablations,
    build_simple,
    name_variant,
    turn_off,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A run and what it was made under."""

    summary: RunSummary
    records: Sequence[QueryRecord]
    info: RunInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Files a run is written to; None = not written."""

    html: Path | None
    result: Path | None
    records: Path | None


def load_datasets(folders: Sequence[Path], *, is_cross: bool) -> list[Dataset]:
    """Load sets; in a cross run each becomes one set a direction.

    Raises:
        SettingsError: A set is not valid, two have the same name, or one is not parallel.
    """
    datasets = [load_dataset(folder) for folder in folders]
    names = [dataset.name for dataset in datasets]
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(f"two data sets are called {name!r}; rename one of the folders")
    if not is_cross:
        return datasets
    return [half for dataset in datasets for half in build_cross_datasets(dataset)]


def choose_variants(
    shipped: RetrievalSettings,
    *,
    only: Simple | None,
    stages_off: Sequence[Stage],
    has_ablations: bool,
) -> dict[str, RetrievalSettings]:
    """Return the variants to run, the one reported on first.

    Raises:
        SettingsError: Options that exclude each other.
    """
    if only and (stages_off or has_ablations):
        raise SettingsError(
            f"--only {only} has no further stages; leave out --ablations and the --no-... options"
        )
    if only:
        return {only: build_simple(shipped, only)}
    chosen = turn_off(shipped, stages_off)
    name = name_variant(stages_off)
    return build_ablations(chosen, name) if has_ablations else {name: chosen}


async def measure(
    datasets: Sequence[Dataset],
    plan: Plan,
    settings: Settings,
    clock: Clock,
    *,
    is_cross: bool,
    rebuilds: bool = False,
) -> Finished:
    """Run the plan over the sets with the product as the settings make it."""
    started = time.monotonic()
    # `ask` has no settings of its own: the product it belongs to retrieves as the first variant.
    asked = settings.model_copy(update={"retrieval": plan.variants[plan.main_variant]})
    with ConsoleProgress() as progress:
        async with open_index_factory(asked, clock) as factory:
            cache = IndexCache(settings.home, factory, rebuilds=rebuilds)
            records = await run_evaluation(datasets, plan, cache, progress)
            embedder = factory.embedder_name
    info = RunInfo(
        made_at=clock.now(),
        seconds=time.monotonic() - started,
        embedder=embedder,
        index=f"{factory.shape} v{INDEX_VERSION}",
        cores=os.cpu_count() or 1,
        concurrency=plan.concurrency,
        part=plan.part or "all",
        is_cross=is_cross,
        variants=plan.variants,
    )
    return Finished(
        summary=build_summary(records, main_variant=plan.main_variant), records=records, info=info
    )


def write_files(finished: Finished, result: Mapping[str, object], outputs: Outputs) -> None:
    """Write the page, the JSON and the records that were asked for.

    Raises:
        SettingsError: A file can't be written.
    """
    if outputs.html:
        _write(outputs.html, [build_page(finished.summary, finished.records, finished.info)])
    if outputs.result:
        _write(outputs.result, [json.dumps(result, ensure_ascii=False, indent=1), "\n"])
    if outputs.records:
        lines = (build_json(record) for record in finished.records)
        _write(outputs.records, (json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def _write(path: Path, parts: Iterable[str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            file.writelines(parts)
    except OSError as error:
        raise SettingsError(f"{str(path)!r} can't be written: {error.strerror}") from error

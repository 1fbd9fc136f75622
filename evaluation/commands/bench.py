"""`zhixing bench`: speed and memory against their targets."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bot.commands.context import get_context, run
from bot.commands.options import JsonOption
from bot.commands.output import print_json
from evaluation.bench import (
    DEFAULT_INGEST_PAGES,
    DEFAULT_PASSAGES,
    DEFAULT_QUESTIONS,
    DEFAULT_SEED,
    Part,
    build_bench_json,
    print_bench,
)
from evaluation.bench_run import BenchPlan, run_bench
from evaluation.progress import ConsoleProgress

PartOption = Annotated[
    list[Part] | None, typer.Option("--part", help="Only this; may be given several times.")
]
LoadOption = Annotated[
    bool, typer.Option("--load", help="Only the load of 1, 10 and 40 askers at once.")
]
PassagesOption = Annotated[int, typer.Option("--passages", min=100, help="Size of the index.")]
QuestionsOption = Annotated[int, typer.Option("--questions", min=1, help="Questions a part asks.")]
PagesOption = Annotated[int, typer.Option("--pages", min=1, help="Pages the ingest part reads.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Another seed, other pages.")]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def bench(
        context: typer.Context,
        *,
        part: PartOption = None,
        load: LoadOption = False,
        passages: PassagesOption = DEFAULT_PASSAGES,
        questions: QuestionsOption = DEFAULT_QUESTIONS,
        pages: PagesOption = DEFAULT_INGEST_PAGES,
        seed: SeedOption = DEFAULT_SEED,
        as_json: JsonOption = False,
        save: Annotated[Path | None, typer.Option("--save", help="Write the JSON here.")] = None,
    ) -> None:
        """Measure retrieval, ask, load, ingest and embedding on generated pages."""
        plan = BenchPlan(
            parts=(Part.LOAD,) if load else tuple(part or Part),
            passages=passages,
            questions=questions,
            ingest_pages=pages,
            seed=seed,
        )
        settings = get_context(context).load_settings()
        with ConsoleProgress() as progress:
            report = run(run_bench(settings, plan, progress))
        result = build_bench_json(report)
        if save:
            save.write_text(json.dumps(result, ensure_ascii=False, indent=1), encoding="utf-8")
        if as_json:
            print_json(result)
        else:
            print_bench(report, Console(soft_wrap=True))

"""`zhixing eval`: question sets through retrieval and `ask`, measured and compared."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bot.commands.context import get_context, run
from bot.commands.options import JsonOption
from bot.commands.output import print_json
from core.errors import SettingsError
from evaluation.commands.routing import evaluate_router
from evaluation.compare import compare_runs, load_run, parse_run, print_comparison
from evaluation.datasets import Part
from evaluation.measurement import (
    Outputs,
    choose_variants,
    load_datasets,
    measure,
    write_files,
)
from evaluation.report import print_summary
from evaluation.results import build_result
from evaluation.runner import Plan
from evaluation.variants import STAGES, Simple

EXIT_REGRESSION = 1
DEFAULT_TOLERANCE = 0.01
DEFAULT_FOREIGN = 50

DatasetArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="DATASET...",
        help="Folders with corpus.jsonl and queries.jsonl; with --router JSONL files.",
    ),
]
RouterOption = Annotated[
    bool,
    typer.Option("--router", help="Route labelled messages of files, or of the product's test."),
]
AsksModelOption = Annotated[
    bool, typer.Option("--light-model", help="With --router: ask the light model when unsure.")
]
OnlyOption = Annotated[
    Simple | None, typer.Option("--only", help="Words alone, vectors alone, or both by rank.")
]
AblationsOption = Annotated[
    bool, typer.Option("--ablations", help="Also run simple pipelines and each stage left out.")
]
CrossOption = Annotated[
    bool, typer.Option("--cross", help="Question in one language, passages of the other.")
]
AnswersOption = Annotated[
    bool, typer.Option("--answers", help="Put each question to `ask` too and judge the replies.")
]
PartOption = Annotated[
    Part | None, typer.Option("--part", help="Only the questions to tune on, or to report on.")
]
ForeignOption = Annotated[
    int, typer.Option("--foreign", min=0, help="Questions of other sets put to each corpus.")
]
ConcurrencyOption = Annotated[
    int, typer.Option("--concurrency", min=1, help="Questions at once; times are honest at 1.")
]
RebuildOption = Annotated[
    bool, typer.Option("--rebuild", help="Build the indexes anew; vectors of equal text are kept.")
]
HtmlOption = Annotated[Path | None, typer.Option("--html", help="Write a page with charts here.")]
ResultOption = Annotated[
    Path | None, typer.Option("--save", help="Write the JSON here, to compare with later.")
]
RecordsOption = Annotated[
    Path | None, typer.Option("--records", help="Write one JSON line a question here.")
]
CompareOption = Annotated[
    Path | None, typer.Option("--compare", help="An earlier JSON; a regression exits with 1.")
]
ToleranceOption = Annotated[
    float, typer.Option("--tolerance", min=0, max=1, help="How much worse is no regression.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("eval")
    def evaluate(
        context: typer.Context,
        datasets: DatasetArgument = None,
        *,
        router: RouterOption = False,
        light_model: AsksModelOption = False,
        only: OnlyOption = None,
        rescore: Annotated[bool, typer.Option("--rescore/--no-rescore")] = True,
        two_levels: Annotated[bool, typer.Option("--two-levels/--no-two-levels")] = True,
        named_pages: Annotated[bool, typer.Option("--named-pages/--no-named-pages")] = True,
        metadata: Annotated[bool, typer.Option("--metadata/--no-metadata")] = True,
        across_languages: Annotated[
            bool, typer.Option("--across-languages/--no-across-languages")
        ] = True,
        ablations: AblationsOption = False,
        cross: CrossOption = False,
        answers: AnswersOption = False,
        part: PartOption = None,
        foreign: ForeignOption = DEFAULT_FOREIGN,
        concurrency: ConcurrencyOption = 1,
        rebuild: RebuildOption = False,
        as_json: JsonOption = False,
        html: HtmlOption = None,
        save: ResultOption = None,
        records: RecordsOption = None,
        compare: CompareOption = None,
        tolerance: ToleranceOption = DEFAULT_TOLERANCE,
    ) -> None:
        """Measure retrieval, refusals and answers on question sets."""
        command = get_context(context)
        if router:
            evaluate_router(command, datasets or (), asks_model=light_model, as_json=as_json)
            return
        if not datasets:
            raise SettingsError("name at least one data set, or measure the router with --router")
        settings = command.load_settings()
        earlier = load_run(compare) if compare else None
        are_on = (rescore, two_levels, named_pages, metadata, across_languages)
        switches = zip(STAGES, are_on, strict=True)
        plan = Plan(
            variants=choose_variants(
                settings.retrieval,
                only=only,
                stages_off=[stage for stage, is_on in switches if not is_on],
                has_ablations=ablations,
            ),
            foreign_questions=foreign,
            has_answers=answers,
            part=part,
            concurrency=concurrency,
        )
        sets = load_datasets(datasets, is_cross=cross)
        finished = run(
            measure(sets, plan, settings, command.clock, is_cross=cross, rebuilds=rebuild)
        )
        result = build_result(finished.summary, finished.info)
        write_files(finished, result, Outputs(html=html, result=save, records=records))
        console = Console(stderr=as_json, soft_wrap=True)
        if as_json:
            print_json(result)
        else:
            print_summary(finished.summary, console)
        if earlier is None:
            return
        comparison = compare_runs(earlier, parse_run(result), tolerance=tolerance)
        print_comparison(comparison, console)
        if comparison.regressions:
            raise typer.Exit(EXIT_REGRESSION)

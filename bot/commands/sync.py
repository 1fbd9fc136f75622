"""`zhixing sync`: bring the index in step with the sources."""

from collections.abc import Coroutine, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from bot.bootstrap import Product, open_product, open_source
from bot.commands.context import get_context, run, store_clock
from bot.commands.options import JsonOption
from bot.commands.output import EXIT_FAILED, print_json, print_notice, print_result
from bot.commands.progress import TerminalProgress
from bot.index_switch import prepare_index
from bot.source_settings import select_sources
from core.clock import Clock
from core.errors import SettingsError, ZhixingError
from core.settings import Settings, SourceSettings
from knowledge.ingestion import SyncRun
from knowledge.rights_run import RIGHTS_SCOPE, RightsReport, RightsRun
from knowledge.runs import RunKind
from knowledge.source import GroupSource, Source
from knowledge.sync_report import SyncReport

FAILURES_SHOWN = 20

PathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(help="Folders or files; none = every configured source."),
]
AcceptOption = Annotated[
    bool, typer.Option("--accept-deletions", help="Believe a mass deletion that is held back.")
]


CompanyOption = Annotated[
    Path | None,
    typer.Option(
        "--company",
        help="Bring in a company's folder through stand-ins of its wiki and its Notion.",
    ),
]
ChangesOption = Annotated[
    Path | None, typer.Option("--changes", help="With --company: a file of later changes.")
]
StepsOption = Annotated[
    int, typer.Option("--steps", min=0, help="How many of them happen, a sync after each.")
]
COMPANY_GROUP = "zhixing.company"


class Played(Protocol):
    """What came of bringing in a company."""

    def to_json(self) -> dict[str, Any]:
        """Return it as printed with `--json`: the first sync, and each step."""
        ...

    def describe(self) -> str:
        """Say it in words."""
        ...


class CompanyPlayer(Protocol):
    """Brings in a company's folder; the playground, which stands above, has one."""

    def __call__(
        self, settings: Settings, clock: Clock, folder: Path, *, changes: Path | None, steps: int
    ) -> Coroutine[Any, Any, Played]:
        """Sync the folder, then let the first changes happen with a sync after each."""
        ...


def load_company_player() -> CompanyPlayer:
    """Return the registered player.

    Raises:
        SettingsError: The playground is not installed.
    """
    for entry in entry_points(group=COMPANY_GROUP):
        player: CompanyPlayer = entry.load()
        return player
    raise SettingsError("--company needs the playground; install zhixing with all its packages")


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def sync(
        context: typer.Context,
        paths: PathsArgument = None,
        accept_deletions: AcceptOption = False,
        company: CompanyOption = None,
        changes: ChangesOption = None,
        steps: StepsOption = 0,
        as_json: JsonOption = False,
    ) -> None:
        """Read the sources; only what changed is touched."""
        ours = get_context(context)
        if company is not None:
            if ours.now:
                store_clock(ours.home, ours.now)
            play = load_company_player()
            work = play(ours.load_settings(), ours.clock, company, changes=changes, steps=steps)
            played = run(work)
            if as_json:
                print_json(played.to_json())
            else:
                print_result(played.describe())
            return
        sources = select_sources(ours.load_settings(), paths or [])
        # Read again: a new folder is in the file by now.
        settings = ours.load_settings()
        report = run(sync_sources(settings, ours.clock, sources, accept_deletions=accept_deletions))
        if as_json:
            print_json(report.to_json())
        else:
            print_result(describe(report))
        if report.unread:
            raise typer.Exit(EXIT_FAILED)


async def sync_sources(
    settings: Settings,
    clock: Clock,
    sources: Mapping[str, SourceSettings],
    *,
    accept_deletions: bool = False,
) -> SyncReport:
    """Sync sources one after the other and return what was done in all."""
    total = SyncReport()
    async with open_product(settings, clock) as product:
        with TerminalProgress() as progress:
            await prepare_index(product, progress)
        for name, source_settings in sources.items():
            try:
                done = await sync_source(
                    product, name, source_settings, accept_deletions=accept_deletions
                )
            except ZhixingError as error:
                if len(sources) == 1:
                    raise
                # The others are not made to wait for it.
                total.unread.append(name)
                total.alarms.append(f"source {name!r} was not read: {error}")
            else:
                total.add(done)
    return total


async def sync_source(
    product: Product, name: str, settings: SourceSettings, *, accept_deletions: bool
) -> SyncReport:
    """Sync one source with progress on the terminal."""
    source = open_source(name, settings, product.state)
    try:
        report = await read_source(product, source, accept_deletions=accept_deletions)
        held = await product.state.logs.holds.load_holds(source.name)
        accepts = accept_deletions and any(one.scope.startswith(RIGHTS_SCOPE) for one in held)
        # Where rules name groups of the source's own, nobody reads a page before members are known.
        if accepts or isinstance(source, GroupSource):
            report.alarms += (await follow_rights(product, source, accept_closing=accepts)).alarms
        return report
    finally:
        await source.close()


async def read_source(
    product: Product, source: Source, *, accept_deletions: bool = False
) -> SyncReport:
    """Read what has changed in an open source, with progress on the terminal."""
    async with product.sync_lock.hold(source.name, RunKind.SYNC) as tools:
        with TerminalProgress() as progress:
            return await SyncRun(
                source,
                tools.parts,
                tools.logs,
                progress=progress,
                accept_deletions=accept_deletions,
            ).run()


async def follow_rights(
    product: Product, source: Source, *, accept_closing: bool = False
) -> RightsReport:
    """Take over who may read what of an open source, and who is in groups of its own.

    Args:
        accept_closing: Believe what was held back: that nobody may read many documents any more.
    """
    async with product.sync_lock.hold(source.name, RunKind.RIGHTS) as tools:
        return await RightsRun(
            source,
            tools.parts,
            tools.logs,
            directory=product.state.directory,
            accept_closing=accept_closing,
        ).run()


def describe(report: SyncReport) -> str:
    """Say in words what a sync did."""
    lines = [
        f"{report.seen} documents: {report.added} added, {report.changed} changed, "
        f"{report.unchanged} unchanged, {report.removed} removed, "
        f"{len(report.failures)} failed, {report.held} held",
        f"{report.rows_added} index rows added, {report.rows_closed} closed, "
        f"{report.rows_embedded} embedded, in {report.seconds:.1f} s",
    ]
    failures = sorted(report.failures.items())
    lines += [f"  ✗ {document_id}: {reason}" for document_id, reason in failures[:FAILURES_SHOWN]]
    if len(failures) > FAILURES_SHOWN:
        print_notice(f"{len(failures) - FAILURES_SHOWN} more failures: `zhixing status`")
    lines += [f"  ! {alarm}" for alarm in report.alarms]
    return "\n".join(lines)

"""`zhixing sync`: bring the index in step with the sources."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from bot.bootstrap import Product, open_product, open_source
from bot.commands.context import get_context, run
from bot.commands.options import JsonOption
from bot.commands.output import print_json, print_notice, print_result
from bot.commands.progress import TerminalProgress
from bot.index_switch import prepare_index
from bot.source_settings import select_sources
from core.clock import Clock
from core.settings import Settings, SourceSettings
from knowledge.ingestion import SyncRun
from knowledge.rights_run import RIGHTS_SCOPE, RightsRun
from knowledge.runs import RunKind
from knowledge.source import Source
from knowledge.sync_report import SyncReport

FAILURES_SHOWN = 20

PathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(help="Folders or files; none = every configured source."),
]
AcceptOption = Annotated[
    bool, typer.Option("--accept-deletions", help="Believe a mass deletion that is held back.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def sync(
        context: typer.Context,
        paths: PathsArgument = None,
        accept_deletions: AcceptOption = False,
        as_json: JsonOption = False,
    ) -> None:
        """Read folders of files; only what changed is touched."""
        ours = get_context(context)
        sources = select_sources(ours.load_settings(), paths or [])
        # Read again: a new folder is in the file by now.
        settings = ours.load_settings()
        report = run(sync_sources(settings, ours.clock, sources, accept_deletions=accept_deletions))
        if as_json:
            print_json(report.to_json())
        else:
            print_result(describe(report))


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
        async with product.sync_lock.hold_index():
            with TerminalProgress() as progress:
                await prepare_index(product, progress)
        for name, source_settings in sources.items():
            total.add(
                await sync_source(product, name, source_settings, accept_deletions=accept_deletions)
            )
    return total


async def sync_source(
    product: Product, name: str, settings: SourceSettings, *, accept_deletions: bool
) -> SyncReport:
    """Sync one source with progress on the terminal."""
    source = open_source(name, settings, product.state)
    try:
        async with product.sync_lock.hold(name, RunKind.SYNC) as tools:
            with TerminalProgress() as progress:
                report = await SyncRun(
                    source,
                    tools.parts,
                    tools.logs,
                    progress=progress,
                    accept_deletions=accept_deletions,
                ).run()
        if accept_deletions:
            await _accept_rights(product, source)
        return report
    finally:
        await source.close()


async def _accept_rights(product: Product, source: Source) -> None:
    """Believe what a rights run has held back: that nobody may read many documents any more."""
    held = await product.state.logs.holds.load_holds(source.name)
    if any(one.scope.startswith(RIGHTS_SCOPE) for one in held):
        async with product.sync_lock.hold(source.name, RunKind.RIGHTS) as tools:
            await RightsRun(source, tools.parts, tools.logs, accept_closing=True).run()


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

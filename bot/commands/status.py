"""`zhixing status`: what was read, what was not, and why; what questions took."""

from dataclasses import asdict

import typer

from bot.bootstrap import open_state
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import JsonOption
from bot.commands.output import print_json, print_result
from bot.commands.runs import count_to_json, describe_count, describe_run, run_to_json
from bot.route_counts import RouteCount, describe_route_counts, load_route_counts
from knowledge.sync_status import SourceStatus, load_status


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def status(
        context: typer.Context,
        as_json: JsonOption = False,
    ) -> None:
        """Show every source: documents, last run, failures, what is held; what questions took."""
        sources, routes = run(_load(get_context(context)))
        if as_json:
            print_json(
                {
                    "sources": [to_json(source) for source in sources],
                    "routes": [asdict(route) for route in routes],
                }
            )
        else:
            told = list(map(describe, sources)) or ["nothing synced yet: `zhixing sync FOLDER`"]
            print_result("\n\n".join(filter(None, (*told, describe_route_counts(routes)))))


async def _load(context: CommandContext) -> tuple[list[SourceStatus], tuple[RouteCount, ...]]:
    async with open_state(context.load_settings(), context.clock) as state:
        routes = await load_route_counts(state.database, now=state.clock.now())
        return await load_status(state.database), routes


def to_json(source: SourceStatus) -> dict[str, object]:
    """Return a source's status for `--json`."""
    last = source.last_run
    return {
        "source": source.source,
        "documents": source.documents,
        "held_documents": source.held_documents,
        "passages": source.passages,
        "failures": [
            {
                "id": one.last.document_id,
                "reason": one.last.reason,
                "attempts": one.attempts,
                "first_at": one.first_at.isoformat(),
                "last_at": one.last.at.isoformat(),
            }
            for one in source.failures
        ],
        "notes": {key: list(notes) for key, notes in source.notes.items()},
        "holds": [
            {
                "scope": hold.scope,
                "raised_at": hold.raised_at.isoformat(),
                "missing": len(hold.missing),
                "reason": hold.reason,
                "ids": list(hold.missing),
                "accepted_at": hold.accepted_at.isoformat() if hold.accepted_at else None,
            }
            for hold in source.holds
        ],
        "completeness": [count_to_json(one) for one in source.counts],
        "last_run": None if last is None else run_to_json(last),
        "last_runs": {one.kind.value: run_to_json(one) for one in source.last_runs},
    }


def describe(source: SourceStatus) -> str:
    """Put a source's status into words."""
    lines = [f"{source.source}: {source.documents} documents, {source.passages} passages"]
    if source.last_run is not None:
        lines.append(f"  last run {describe_run(source.last_run)}")
    lines += [
        f"  ! {describe_run(one)}" for one in source.troubled_runs if one is not source.last_run
    ]
    for count in source.counts:
        lines += describe_count(count)
    lines += [f"  ✗ {one.last.document_id}: {one.last.reason}" for one in source.failures]
    lines += [
        f"  · {document_id}: {note}"
        for document_id, notes in source.notes.items()
        for note in notes
    ]
    lines += [f"  ! {hold.reason}" for hold in source.holds]
    return "\n".join(lines)

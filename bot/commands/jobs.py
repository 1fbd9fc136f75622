"""`zhixing jobs`: what is scheduled, what ran, and what a person wants done about it."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import typer

from bot.bootstrap import State, open_product, open_state
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import JsonOption, LimitOption
from bot.commands.output import EXIT_FAILED, print_json, print_result
from bot.commands.runs import describe_run, run_to_json
from bot.serving import build_runner, declare_jobs
from core.errors import ServiceUnavailableError, SettingsError
from core.leases import Lease
from knowledge.completeness import ScopeCount
from knowledge.runs import Run, RunKind, StartedBy
from scheduler.jobs import HOUSE, JOB_KINDS, Job, JobState, JobStore
from scheduler.service import find_leader

POLL_S = 0.3

SourceArgument = Annotated[str, typer.Argument(help="A source's name.")]
KindArgument = Annotated[
    RunKind, typer.Argument(help="incremental, reconciliation, rights, pruning or expiry.")
]
KindsArgument = Annotated[RunKind | None, typer.Argument(help="One kind; none = all of them.")]
WaitOption = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the end of the run.")]
SourceOption = Annotated[str | None, typer.Option("--source", help="Of one source only.")]
KindOption = Annotated[RunKind | None, typer.Option("--kind", help="Of one kind only.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Overview:
    leader: Lease | None
    jobs: list[tuple[Job, JobState, Run | None]]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    jobs = typer.Typer(no_args_is_help=True, help="Scheduled jobs and their history.")
    app.add_typer(jobs, name="jobs")
    _register_views(jobs)
    _register_changes(jobs)


def _register_views(jobs: typer.Typer) -> None:
    @jobs.command("list")
    def list_(context: typer.Context, as_json: JsonOption = False) -> None:
        """Show every job: when it runs next, how the last run went, what is paused."""
        overview = run(_load(get_context(context)))
        if as_json:
            print_json(_to_json(overview))
        else:
            print_result(_describe(overview))

    @jobs.command()
    def history(
        context: typer.Context,
        source: SourceOption = None,
        kind: KindOption = None,
        limit: LimitOption = 20,
        as_json: JsonOption = False,
    ) -> None:
        """Show past runs, newest first: counts, duration, failures."""
        found = run(_load_history(get_context(context), source, kind, limit))
        if as_json:
            print_json({"runs": [run_to_json(one, counts) for one, counts in found]})
        else:
            print_result("\n".join(describe_run(one) for one, _ in found) or "no runs yet")


def _register_changes(jobs: typer.Typer) -> None:
    @jobs.command("run")
    def run_(
        context: typer.Context,
        source: SourceArgument,
        kind: KindArgument = RunKind.INCREMENTAL,
        wait: WaitOption = True,
        as_json: JsonOption = False,
    ) -> None:
        """Run a job now, by the serving process, or here when none is serving."""
        done = run(_run_job(get_context(context), source, _check_kind(kind), wait=wait))
        if as_json:
            print_json({"run": run_to_json(done) if done else None})
        else:
            print_result(describe_run(done) if done else f"asked for {source}/{kind}")
        if done and done.is_broken:
            raise typer.Exit(EXIT_FAILED)

    @jobs.command()
    def pause(
        context: typer.Context,
        source: SourceArgument,
        kind: KindsArgument = None,
        as_json: JsonOption = False,
    ) -> None:
        """Stop starting a source's jobs by themselves; a run under way comes to its end."""
        _set_paused(get_context(context), source, kind, is_paused=True, as_json=as_json)

    @jobs.command()
    def resume(
        context: typer.Context,
        source: SourceArgument,
        kind: KindsArgument = None,
        as_json: JsonOption = False,
    ) -> None:
        """Start a source's jobs again; what was due meanwhile is made up for once."""
        _set_paused(get_context(context), source, kind, is_paused=False, as_json=as_json)


def _check_kind(kind: RunKind) -> RunKind:
    kinds = (*JOB_KINDS, RunKind.EXPIRY)
    if kind not in kinds:
        raise SettingsError(f"{kind} is no job; a job is one of {', '.join(kinds)}")
    return kind


def _set_paused(
    context: CommandContext, source: str, kind: RunKind | None, *, is_paused: bool, as_json: bool
) -> None:
    all_kinds = (RunKind.EXPIRY,) if source == HOUSE else JOB_KINDS
    kinds = all_kinds if kind is None else (_check_kind(kind),)

    async def change() -> None:
        async with open_state(context.load_settings(), context.clock) as state:
            await _declare(state)
            await JobStore(state.database).set_paused(source, kinds, is_paused=is_paused)

    run(change())
    if as_json:
        print_json({"source": source, "kinds": list(kinds), "is_paused": is_paused})
    else:
        print_result(f"{'paused' if is_paused else 'resumed'} {source}: {', '.join(kinds)}")


async def _declare(state: State) -> list[Job]:
    """Make sure that the jobs the settings ask for are there, also before anybody serves."""
    declared = declare_jobs(state.settings)
    await JobStore(state.database).declare(declared)
    return declared


async def _load(context: CommandContext) -> _Overview:
    async with open_state(context.load_settings(), context.clock) as state:
        declared = {(job.source, job.kind): job for job in await _declare(state)}
        last = await state.logs.runs.load_last_runs()
        states = await JobStore(state.database).load()
        return _Overview(
            leader=await find_leader(state.database),
            jobs=[
                (declared[one.source, one.kind], one, last.get(one.source, {}).get(one.kind))
                for one in states
            ],
        )


async def _load_history(
    context: CommandContext, source: str | None, kind: RunKind | None, limit: int
) -> list[tuple[Run, list[ScopeCount]]]:
    async with open_state(context.load_settings(), context.clock) as state:
        runs = await state.logs.runs.load_history(source=source, kind=kind, limit=limit)
        return [(one, await state.logs.completeness.load_of_run(one.run_id)) for one in runs]


async def _run_job(
    context: CommandContext, source: str, kind: RunKind, *, wait: bool
) -> Run | None:
    async with open_state(context.load_settings(), context.clock) as state:
        await _declare(state)
        before = await _find_last(state, source, kind)
        await JobStore(state.database).request(source, kind, datetime.now(UTC))
        if await find_leader(state.database) is not None:
            # The house's own jobs leave no run to wait for.
            is_awaited = wait and kind is not RunKind.EXPIRY
            return await _wait_for_run(state, source, kind, before) if is_awaited else None
    return await _run_here(context, source, kind)


async def _wait_for_run(state: State, source: str, kind: RunKind, before: Run | None) -> Run:
    """Wait until a run that began after the request has ended."""
    while await find_leader(state.database) is not None:
        last = await _find_last(state, source, kind)
        is_new = last is not None and (before is None or last.run_id > before.run_id)
        if last is not None and is_new and last.ended_at is not None:
            return last
        await asyncio.sleep(POLL_S)
    raise ServiceUnavailableError(
        "the serving process ended meanwhile; the run is made up for once another one serves"
    )


async def _find_last(state: State, source: str, kind: RunKind) -> Run | None:
    runs = await state.logs.runs.load_history(source=source, kind=kind, limit=1)
    return runs[0] if runs else None


async def _run_here(context: CommandContext, source: str, kind: RunKind) -> Run | None:
    async with open_product(context.load_settings(), context.clock) as product:
        try:
            await build_runner(product).run(source, kind, StartedBy.PERSON)
        finally:
            await JobStore(product.state.database).withdraw(source, kind)
        return await _find_last(product.state, source, kind)


def _to_json(overview: _Overview) -> dict[str, object]:
    leader = overview.leader
    return {
        "leader": None
        if leader is None
        else {
            "owner": leader.owner,
            "fence": leader.fence,
            "since": leader.acquired_at.isoformat(),
        },
        "jobs": [
            {
                "source": job.source,
                "kind": job.kind,
                "interval_s": job.interval_s,
                "is_paused": state.is_paused,
                "requested_at": _format(state.requested_at),
                "next_run_at": _format(state.next_run_at),
                "failures_in_a_row": state.failures_in_a_row,
                "last_run": None if last is None else run_to_json(last),
            }
            for job, state, last in overview.jobs
        ],
    }


def _describe(overview: _Overview) -> str:
    leader = overview.leader
    lines = [
        "nobody serves: `zhixing serve --role scheduler`"
        if leader is None
        else f"led by {leader.owner.split('|')[0]} since {leader.acquired_at:%Y-%m-%d %H:%M} UTC"
    ]
    for job, state, last in overview.jobs:
        every = f"every {job.interval_s:g} s" if job.interval_s else "on demand"
        if state.is_paused:
            due = "paused"
        else:
            due = f"next {state.next_run_at:%m-%d %H:%M:%S}" if state.next_run_at else "due"
        if state.requested_at is not None:
            due += ", asked for"
        lines.append(f"{job.job_id:32} {every:16} {due}")
        if last is not None:
            lines.append(f"    {describe_run(last)}")
    return "\n".join(lines)


def _format(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()

"""`zhixing audit`: whether the log of what was done is as it was written."""

from typing import Annotated

import typer

from bot.agent.audit import AuditCheck
from bot.agent.wiring import open_audit_log
from bot.bootstrap import open_state
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import JsonOption
from bot.commands.output import print_json, print_result

AtLeastOption = Annotated[
    int,
    typer.Option("--at-least", min=0, help="Entries there were before; fewer is a broken log."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    audit = typer.Typer(help="The sealed log of confirmed actions.", no_args_is_help=True)
    app.add_typer(audit, name="audit")

    # Without another command, typer would take `verify` for an argument of this one.
    @audit.callback()
    def choose() -> None:
        pass

    @audit.command()
    def verify(
        context: typer.Context, at_least: AtLeastOption = 0, as_json: JsonOption = False
    ) -> None:
        """Check every seal of the audit log; exit 1 when it is broken, and where."""
        check = run(_verify(get_context(context)))
        is_short = check.count < at_least
        is_whole = check.broken_at is None and not is_short
        if as_json:
            found = {"count": check.count, "broken_at": check.broken_at, "is_whole": is_whole}
            print_json(found)
        else:
            print_result(_describe(check, at_least))
        if not is_whole:
            raise typer.Exit(1)


async def _verify(context: CommandContext) -> AuditCheck:
    async with open_state(context.load_settings(), context.clock) as state:
        return await open_audit_log(state).verify()


def _describe(check: AuditCheck, at_least: int) -> str:
    if check.broken_at is not None:
        return (
            f"{check.count} entries; BROKEN at entry {check.broken_at}: it, or an entry before it, "
            "was changed, taken out or put in, or the audit key is another one"
        )
    if check.count < at_least:
        return f"{check.count} entries; BROKEN at the end: there were {at_least} before"
    return f"{check.count} entries; the chain is whole"

"""`zhixing serve`: the processes that go on running."""

import asyncio
import signal
from typing import Annotated

import typer

from bot.bootstrap import open_product
from bot.commands.context import CommandContext, get_context, run
from bot.commands.output import print_notice
from bot.serving import Role, serve_roles
from core.errors import ZhixingError

RoleOption = Annotated[Role, typer.Option("--role", help="Which part this process takes.")]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def serve(context: typer.Context, role: RoleOption = Role.ALL) -> None:
        """Serve until stopped; any number of processes may, one of them leads."""
        run(_serve(get_context(context), role))


async def _serve(context: CommandContext, role: Role) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with open_product(context.load_settings(), context.clock) as product:
        print_notice(f"serving: {role}; stop with Ctrl-C")
        try:
            await serve_roles(product, role, stop)
        except ExceptionGroup as failed:
            raise _find_reason(failed) from failed
    print_notice("stopped")


def _find_reason(failed: ExceptionGroup[Exception]) -> Exception:
    """Return the error that says most to the operator."""
    ours = failed.subgroup(ZhixingError)
    first = (ours or failed).exceptions[0]
    return _find_reason(first) if isinstance(first, ExceptionGroup) else first

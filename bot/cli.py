"""The command line.

Commands live in modules of their own and in other packages, which register them through the
entry-point group `zhixing.commands`.
"""

import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import typer

from bot.commands import register_commands
from bot.commands.context import CommandContext
from bot.commands.output import EXIT_FAILED, print_error
from core.clock import parse_moment
from core.errors import SettingsError, ZhixingError
from core.settings import DEFAULT_HOME

COMMAND_GROUP = "zhixing.commands"
EXIT_SETTINGS = 2

HomeOption = Annotated[
    Path,
    typer.Option("--home", envvar="ZHIXING_HOME", help="Folder that everything lives in."),
]
NowOption = Annotated[
    str,
    typer.Option("--now", envvar="ZHIXING_NOW", help="Set the clock: 2026-11-30 or ISO time."),
]


def build_app() -> typer.Typer:
    """Assemble the command line from our own commands and the registered ones."""
    app = typer.Typer(
        name="zhixing",
        help="Zhixing (知行): knows what your company wrote, answers with sources.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def prepare(
        context: typer.Context, home: HomeOption = Path(DEFAULT_HOME), now: NowOption = ""
    ) -> None:
        context.obj = CommandContext(home=home, now=parse_moment(now) if now else None)

    register_commands(app)
    for entry in sorted(entry_points(group=COMMAND_GROUP), key=lambda one: one.name):
        entry.load()(app)
    return app


def main() -> None:
    """Run the command line: exit 1 when the work failed, 2 when a setting has to be mended."""
    # Bytes that are no text reach us as halves of characters, which nothing can store or print.
    sys.argv = [argument.encode("utf-8", "replace").decode("utf-8") for argument in sys.argv]
    try:
        build_app()()
    except SettingsError as error:
        print_error(str(error))
        sys.exit(EXIT_SETTINGS)
    except ZhixingError as error:
        print_error(str(error))
        sys.exit(EXIT_FAILED)
    except BrokenPipeError:
        sys.exit(EXIT_FAILED)


if __name__ == "__main__":
    main()

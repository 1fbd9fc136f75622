"""The commands of the product, one module each."""

import typer

from bot.commands import ask, chat, directory, doctor, init, search, status, sync, trace

MODULES = (init, sync, search, ask, chat, directory, status, trace, doctor)


def register_commands(app: typer.Typer) -> None:
    """Add every command to the command line."""
    for module in MODULES:
        module.register(app)

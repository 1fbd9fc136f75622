"""The commands of the product, one module each."""

import typer

from bot.commands import (
    ask,
    audit,
    chat,
    directory,
    doctor,
    init,
    jobs,
    memory,
    search,
    serve,
    skills,
    status,
    sync,
    trace,
    versions,
)

MODULES = (
    init, sync, search, ask, chat, directory, status, trace, doctor, serve, skills, jobs, versions,
    audit, memory,
)  # fmt: skip


def register_commands(app: typer.Typer) -> None:
    """Add every command to the command line."""
    for module in MODULES:
        module.register(app)

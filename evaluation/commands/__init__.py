"""The commands this package adds to the command line, through the group `zhixing.commands`."""

import typer

from evaluation.commands import bench, evaluate


def register(app: typer.Typer) -> None:
    """Add `eval` and `bench`."""
    evaluate.register(app)
    bench.register(app)

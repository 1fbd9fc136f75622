"""`zhixing demo`: the sample company, synced into a fresh home and asked by different people."""

from importlib.resources import as_file, files
from pathlib import Path

import typer

from bot.commands.context import get_context, run
from bot.commands.output import print_notice

DEMO_HOME = ".zhixing-demo"


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def demo(context: typer.Context) -> None:
        """Try it: syncs the sample company and asks it questions as different people."""
        # Servers and sources take long to load, and every other command starts without them.
        from playground.demo_play import play  # noqa: PLC0415

        get_context(context)
        home = Path(DEMO_HOME)
        with as_file(files("playground") / "sample_company") as company:
            run(play(home, company))
        print_notice(
            f"\nThe demo's home stays in {home}. Ask it yourself:\n"
            f"  zhixing --home {home} ask '差旅住宿标准是多少？' --as kang.duo\n"
            f"  zhixing --home {home} chat --as sui.ning\n"
            "Your own files: zhixing sync FOLDER"
        )

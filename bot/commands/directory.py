"""`zhixing directory`: who there is."""

from pathlib import Path
from typing import Annotated

import typer

from bot.bootstrap import open_state
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import JsonOption
from bot.commands.output import print_json, print_result
from knowledge.directory_import import DirectoryImport, import_directory

FolderArgument = Annotated[
    Path, typer.Argument(help="Folder with people.json, groups.json and channels.json.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="People, groups and channels.", no_args_is_help=True)
    app.add_typer(group, name="directory")

    @group.callback()
    def directory() -> None:
        """People, groups and channels."""

    @group.command("import")
    def import_(
        context: typer.Context,
        folder: FolderArgument,
        as_json: JsonOption = False,
    ) -> None:
        """Read people, groups and channels; what vanished from the folder is dropped."""
        done = run(import_folder(get_context(context), folder))
        counts = {"people": done.people, "groups": done.groups, "channels": done.channels}
        if as_json:
            print_json(counts)
        else:
            print_result(", ".join(f"{count} {name}" for name, count in counts.items()))


async def import_folder(context: CommandContext, folder: Path) -> DirectoryImport:
    """Import a folder into the directory of the home folder."""
    async with open_state(context.load_settings(), context.clock) as state:
        return await import_directory(state.directory, folder)

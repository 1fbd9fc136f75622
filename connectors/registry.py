"""The kinds of sources, and how each is opened. Nothing is asked of a source by opening it."""

from collections.abc import Awaitable, Callable
from typing import assert_never

from connectors.confluence.source import ConfluenceSource
from connectors.files.source import FilesSource
from connectors.notion.source import NotionSource
from core.clock import Clock
from core.settings import IngestSettings
from core.source_settings import (
    ConfluenceSettings,
    FilesSettings,
    NotionSettings,
    SourceSettings,
)
from knowledge.directory_import import GROUP_SOURCE
from knowledge.people import DirectorySnapshot
from knowledge.source import Source

LoadDirectory = Callable[[], Awaitable[DirectorySnapshot]]


def open_source(
    name: str,
    settings: SourceSettings,
    *,
    clock: Clock,
    load_directory: LoadDirectory | None = None,
    ingest: IngestSettings | None = None,
) -> Source:
    """Open a source by the kind its settings name.

    Args:
        name: The source's name in the settings.
        settings: Of one kind.
        clock: What time it is.
        load_directory: People and their accounts; without them rules that name single accounts
            admit nobody.
        ingest: When a disappearance is not believed.

    Raises:
        SettingsError: What cannot be right without asking, such as a missing token.
    """
    match settings:
        case FilesSettings():
            return FilesSource(name, settings, clock=clock)
        case ConfluenceSettings():
            return ConfluenceSource(
                name, settings, clock=clock, load_directory=load_directory, ingest=ingest
            )
        case NotionSettings():
            return NotionSource(
                name, settings, clock=clock, load_directory=load_directory, ingest=ingest
            )
        case _:
            assert_never(settings)


def find_group_source(name: str, settings: SourceSettings) -> str | None:
    """Return the SOURCE of the principals of a source's own groups; None when it has none.

    Groups that were imported with the directory are not a source's own.
    """
    match settings:
        case ConfluenceSettings():
            group_source = settings.group_source or name
            return None if group_source == GROUP_SOURCE else group_source
        case FilesSettings() | NotionSettings():
            return None
        case _:
            assert_never(settings)

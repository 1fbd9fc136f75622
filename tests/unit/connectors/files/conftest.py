"""What the tests of the files source share."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from connectors.files.convert import convert_file
from connectors.files.converted import Converted, Job, Limits
from connectors.files.source import FilesSource
from core.clock import FixedClock
from core.settings import FilesSettings

NOW = datetime(2100, 1, 1, tzinfo=UTC)
SourceMaker = Callable[..., FilesSource]
Convert = Callable[..., Converted]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return an empty folder to be the source's root."""
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
async def open_source(root: Path) -> AsyncIterator[SourceMaker]:
    """Return a function that opens the source `notes` on the root; closed at the end."""
    opened: list[FilesSource] = []

    def make(path: Path | None = None, *, now: datetime = NOW, **settings: Any) -> FilesSource:
        chosen = FilesSettings(path=str(path or root), **settings)
        source = FilesSource("notes", chosen, clock=FixedClock(now))
        opened.append(source)
        return source

    yield make
    for source in opened:
        await source.close()


@pytest.fixture
def convert() -> Convert:
    """Return a function that converts bytes in this process."""

    def run(name: str, data: str | bytes, **limits: Any) -> Converted:
        content = data.encode() if isinstance(data, str) else data
        return convert_file(Job(name=name, data=content, limits=Limits(**limits)))

    return run

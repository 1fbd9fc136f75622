"""What every command is given: the home folder and the clock."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import typer

from core.clock import Clock, FixedClock, SystemClock, parse_moment
from core.logging import configure_logging
from core.settings import Settings, load_settings

T = TypeVar("T")
CLOCK_FILE = "clock"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """The options in front of the command."""

    home: Path
    now: datetime | None

    @property
    def clock(self) -> Clock:
        """The moment given by `--now`, else the one stored in the home folder, else today's."""
        moment = self.now or load_clock(self.home)
        return SystemClock() if moment is None else FixedClock(moment)

    def load_settings(self) -> Settings:
        """Read the settings of the home folder and start logging as they say."""
        settings = load_settings(self.home)
        configure_logging(level=settings.logging.level, is_json=settings.logging.json_lines)
        return settings


def store_clock(home: Path, moment: datetime) -> None:
    """Let time stand still in this home folder, for a company that lives at another date."""
    home.mkdir(parents=True, exist_ok=True)
    (home / CLOCK_FILE).write_text(moment.isoformat(), encoding="utf-8")


def load_clock(home: Path) -> datetime | None:
    """Return the stored moment; None when time goes on as usual."""
    try:
        text = (home / CLOCK_FILE).read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return parse_moment(text)


def get_context(context: typer.Context) -> CommandContext:
    """Return our own part of typer's context."""
    found = context.find_object(CommandContext)
    if found is None:
        raise TypeError("the command line was not started through bot.cli")
    return found


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's coroutine to its end."""
    return asyncio.run(work)

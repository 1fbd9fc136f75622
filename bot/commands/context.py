"""What every command is given: the home folder and the clock."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import typer

from core.clock import Clock, FixedClock, SystemClock
from core.logging import configure_logging
from core.settings import Settings, load_settings

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """The options in front of the command."""

    home: Path
    now: datetime | None

    @property
    def clock(self) -> Clock:
        """The machine's clock, or the moment given by `--now`."""
        return SystemClock() if self.now is None else FixedClock(self.now)

    def load_settings(self) -> Settings:
        """Read the settings of the home folder and start logging as they say."""
        settings = load_settings(self.home)
        configure_logging(level=settings.logging.level, is_json=settings.logging.json_lines)
        return settings


def get_context(context: typer.Context) -> CommandContext:
    """Return our own part of typer's context."""
    found = context.find_object(CommandContext)
    if found is None:
        raise TypeError("the command line was not started through bot.cli")
    return found


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's coroutine to its end."""
    return asyncio.run(work)

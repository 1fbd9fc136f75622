"""The clock that is injected wherever time matters, so that tests and `--now` can set it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from core.errors import SettingsError


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the machine's time in UTC."""
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class FixedClock:
    """A clock that stands still, for tests and for `--now`."""

    moment: datetime

    def now(self) -> datetime:
        """Return the fixed moment in UTC."""
        return self.moment.astimezone(UTC)


def parse_moment(text: str) -> datetime:
    """Parse an ISO date or date-time; one without a zone is read as UTC.

    Raises:
        SettingsError: The text is not an ISO date or date-time.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise SettingsError(
            f"{text!r} is not a date; write it as 2026-11-30 or 2026-11-30T09:00:00+08:00"
        ) from error
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)

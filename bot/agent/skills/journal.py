"""What skills there are, kept in the audit log whenever it is not what was last written there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from bot.agent.audit import AuditLog, load_audit_key
from core.clock import Clock
from core.database import Database

EVENT = "skills_changed"


class Journal(Protocol):
    """Keeps which skills there were when."""

    async def note(self, skills: Mapping[str, str]) -> None:
        """Keep the hash of each skill by name.

        Raises:
            ServiceUnavailableError: It can't be kept.
        """
        ...


class AuditJournal:
    """Writes into the audit log of a home folder, once for all processes that see the same."""

    def __init__(self, database: Database, home: Path, clock: Clock) -> None:
        self._database = database
        self._home = home
        self._clock = clock
        self._log: AuditLog | None = None

    async def note(self, skills: Mapping[str, str]) -> None:
        """Add an entry if the last one says otherwise; none while there never was a skill."""
        log = self._open()
        last = await log.find_last(EVENT)
        said = last.details.get("skills") if last else None
        before = said if isinstance(said, dict) else {}
        if before == dict(skills):
            return
        changed = [
            name
            for name in sorted(before.keys() | skills.keys())
            if before.get(name) != skills.get(name)
        ]
        await log.append(EVENT, skills=dict(skills), changed=[*changed])

    def _open(self) -> AuditLog:
        if self._log is None:
            self._log = AuditLog(self._database, self._clock, load_audit_key(self._home))
        return self._log

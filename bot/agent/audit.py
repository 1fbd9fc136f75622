"""The audit log: append-only, each entry sealed with the one before it.

The key lies outside the database, so that who can write to the database cannot rewrite history
unnoticed.
"""

import contextlib
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Column, Integer, Row, String, Table, Text, func, select
from sqlalchemy.engine import Connection

from bot.agent.actions import canonical_json
from core.clock import Clock
from core.database import Database
from core.errors import SettingsError
from core.tables import UtcDateTime, metadata

KEY_FILE = "audit.key"
_KEY_BYTES = 32
_FIRST = "0" * 64
# Any number, the same in every process.
_LOCK_KEY = 7_405_211_866_310_046

audit_entries = Table(
    "audit_entries",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Column("event", String(64), nullable=False),
    Column("details", Text, nullable=False),
    # Unique: of two writers at the same time one has to start over.
    Column("previous", String(64), nullable=False, unique=True),
    Column("seal", String(64), nullable=False),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """What happened, and the seal over it and all before."""

    number: int
    at: datetime
    event: str
    details: Mapping[str, JsonValue]
    previous: str
    seal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCheck:
    """What became of looking at the whole log.

    Attributes:
        broken_at: Place of the first entry that is not as it was written; None = all are.
    """

    count: int
    broken_at: int | None


class AuditLog:
    """Writes entries and proves that none has been changed, taken out or put in."""

    def __init__(self, database: Database, clock: Clock, key: bytes) -> None:
        self._database = database
        self._clock = clock
        self._key = key

    def build_entry(self, event: str, **details: JsonValue) -> Callable[[Connection], None]:
        """Return what adds an entry, for the transaction of what it tells of."""
        at = self._clock.now()
        text = canonical_json(details)

        def add(connection: Connection) -> None:
            if connection.dialect.name == "postgresql":
                # Others would read the same last entry; SQLite has one writer anyway.
                connection.execute(select(func.pg_advisory_xact_lock(_LOCK_KEY)))
            last = connection.execute(
                select(audit_entries.c.number, audit_entries.c.seal)
                .order_by(audit_entries.c.number.desc())
                .limit(1)
            ).one_or_none()
            number, previous = (1, _FIRST) if last is None else (last.number + 1, last.seal)
            connection.execute(
                audit_entries.insert().values(
                    number=number,
                    at=at,
                    event=event,
                    details=text,
                    previous=previous,
                    seal=self._seal(number, at, event, text, previous),
                )
            )

        return add

    async def append(self, event: str, **details: JsonValue) -> None:
        """Add an entry that goes with no other change."""
        await self._database.write(self.build_entry(event, **details))

    async def find_last(self, event: str) -> AuditEntry | None:
        """Return the latest entry of an event."""
        query = select(audit_entries).where(audit_entries.c.event == event)
        query = query.order_by(audit_entries.c.number.desc()).limit(1)

        def find(connection: Connection) -> AuditEntry | None:
            row = connection.execute(query).one_or_none()
            return None if row is None else _build(row)

        return await self._database.read(find)

    async def load(self) -> list[AuditEntry]:
        """Return all entries, oldest first."""
        query = select(audit_entries).order_by(audit_entries.c.number)
        return await self._database.read(
            lambda connection: [_build(row) for row in connection.execute(query)]
        )

    async def verify(self) -> AuditCheck:
        """Look whether all entries are as they were written.

        Entries cut off at the end leave no trace here; compare the count with one kept elsewhere.
        """
        previous = _FIRST
        entries = await self.load()
        for expected, entry in enumerate(entries, start=1):
            text = canonical_json(entry.details)
            seal = self._seal(entry.number, entry.at, entry.event, text, entry.previous)
            is_whole = hmac.compare_digest(seal, entry.seal)
            if entry.number != expected or entry.previous != previous or not is_whole:
                return AuditCheck(count=len(entries), broken_at=expected)
            previous = entry.seal
        return AuditCheck(count=len(entries), broken_at=None)

    def _seal(self, number: int, at: datetime, event: str, details: str, previous: str) -> str:
        text = "\x1f".join((str(number), at.isoformat(), event, details, previous))
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


def _build(row: "Row[Any]") -> AuditEntry:
    return AuditEntry(
        number=row.number,
        at=row.at,
        event=row.event,
        details=json.loads(row.details),
        previous=row.previous,
        seal=row.seal,
    )


def load_audit_key(home: Path) -> bytes:
    """Return the key of a home folder; made at first use, readable by this account only.

    Raises:
        SettingsError: The key file is unreadable or damaged.
    """
    path = home / KEY_FILE
    if not path.exists():
        _make_key(path)
    return _read_key(path)


def _make_key(path: Path) -> None:
    """Put a new key in its place, whole, unless another process has been faster."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{KEY_FILE}.{secrets.token_hex(4)}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(_KEY_BYTES))
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(draft)
    except OSError as error:
        raise SettingsError(f"the audit key {str(path)!r} can't be made: {error}") from error
    finally:
        draft.unlink(missing_ok=True)


def _read_key(path: Path) -> bytes:
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise SettingsError(f"the audit key {str(path)!r} can't be read: {error}") from error
    if len(key) != _KEY_BYTES:
        raise SettingsError(
            f"the audit key {str(path)!r} is damaged; restore it from a backup, or move it away to "
            "start a new chain"
        )
    return key

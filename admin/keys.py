"""Tokens that were made on the command line, and the sessions of browsers; kept as hashes."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from sqlalchemy import Boolean, Column, String, Table, delete, insert, select
from sqlalchemy.engine import Connection

from core.clock import Clock
from core.database import Database
from core.tables import UtcDateTime, metadata

_SECRET_BYTES = 32

admin_keys = Table(
    "admin_keys",
    metadata,
    Column("key_hash", String(64), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("person", String(255), nullable=False),
    Column("is_operator", Boolean, nullable=False),
    # Of a session, the hash of the token it was opened with.
    Column("came_by", String(64), nullable=False, index=True),
    Column("expires_at", UtcDateTime, nullable=False, index=True),
)


class KeyKind(StrEnum):
    """What a key is for."""

    TOKEN = "token"  # noqa: S105 - the name of a kind
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Whom a key stands for.

    Attributes:
        person: As the directory may know them; empty = the operator of the command line.
        is_operator: Sees that others asked; always so without a person.
        came_by: Hash of the token that a session was opened with; of a token, its own.
    """

    person: str
    is_operator: bool
    came_by: str


def hash_secret(secret: str) -> str:
    """Return what is kept of a secret; it has too many values to be guessed from its hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


class KeyStore:
    """Keeps keys in the database, so that every process knows them."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def make(
        self,
        kind: KeyKind,
        *,
        person: str,
        is_operator: bool,
        lasts: timedelta,
        came_by: str = "",
    ) -> str:
        """Keep a new key and return its secret, which is kept nowhere."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        hashed, now = hash_secret(secret), self._clock.now()
        row = {
            "key_hash": hashed,
            "kind": kind.value,
            "person": person,
            "is_operator": is_operator,
            "came_by": came_by or hashed,
            "expires_at": now + lasts,
        }

        def save(connection: Connection) -> None:
            connection.execute(delete(admin_keys).where(admin_keys.c.expires_at <= now))
            connection.execute(insert(admin_keys).values(row))

        await self._database.write(save)
        return secret

    async def find(self, kind: KeyKind, secret: str) -> Grant | None:
        """Return whom a key stands for; None = there is none such, or no more."""
        return await self._find(kind, hash_secret(secret))

    async def is_alive(self, token_hash: str) -> bool:
        """Tell whether a token that was made here still holds."""
        return await self._find(KeyKind.TOKEN, token_hash) is not None

    async def end(self, secret: str) -> None:
        """Forget one session."""
        ended = delete(admin_keys).where(admin_keys.c.key_hash == hash_secret(secret))
        await self._database.write(lambda connection: connection.execute(ended).rowcount)

    async def end_all(self) -> int:
        """Forget all tokens and sessions; returns how many there were."""
        return await self._database.write(
            lambda connection: connection.execute(delete(admin_keys)).rowcount
        )

    async def _find(self, kind: KeyKind, hashed: str) -> Grant | None:
        query = select(admin_keys).where(
            admin_keys.c.key_hash == hashed,
            admin_keys.c.kind == kind.value,
            admin_keys.c.expires_at > self._clock.now(),
        )

        def find(connection: Connection) -> Grant | None:
            row = connection.execute(query).one_or_none()
            if row is None:
                return None
            return Grant(person=row.person, is_operator=row.is_operator, came_by=row.came_by)

        return await self._database.read(find)

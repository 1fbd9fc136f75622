"""What happened with each question, step by step, kept for a while so that it can be explained.

A trace names passages by id only: their text is read again under the viewer's own rights.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import JsonValue
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    RowMapping,
    String,
    Table,
    Text,
    delete,
    false,
    select,
)
from sqlalchemy.engine import Connection

from core.credentials import mask_credentials
from core.database import Database
from core.errors import SettingsError
from core.logging import MASK
from core.tables import UtcDateTime, delete_where_in, insert_into, metadata
from knowledge.documents import PassageId

KEPT_FOR = timedelta(days=30)
# Keys under which our own records carry the text of passages.
_TEXT_KEYS = frozenset({"text", "section_text", "indexed_text", "markdown"})

traces = Table(
    "traces",
    metadata,
    Column("trace_id", String(64), primary_key=True),
    Column("at", UtcDateTime, nullable=False, index=True),
    Column("asker", String(255)),
    Column("place", String(255), nullable=False),
    Column("question", Text, nullable=False),
    Column("outcome", String(32), nullable=False),
    Column("payload", JSON, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False, index=True),
    Column("route", String(32), nullable=False, server_default=""),
    Column("took_ms", Float, nullable=False, server_default="0"),
    Column("tokens", Integer, nullable=False, server_default="0"),
    Column("cost", Float, nullable=False, server_default="0"),
    Column("replay_of", String(64), nullable=False, server_default=""),
    Column("is_foreign", Boolean, nullable=False, server_default=false()),
    Index(None, "asker", "at"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One question and what became of it.

    Attributes:
        asker: The person's id; None = the operator.
        place: A channel id or `dm`.
        payload: Stages, scores, tools and times as JSON; passages by id, never their text.
        tokens: Read and written by models.
        cost: In the currency of the prices in the settings.
        replay_of: The trace that was run again; empty for a question somebody asked.
        is_foreign: The words are somebody else's than the asker's: a replay of their question.
    """

    trace_id: str
    at: datetime
    asker: str | None
    place: str
    question: str
    outcome: str
    payload: Mapping[str, JsonValue]
    route: str = ""
    took_ms: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    replay_of: str = ""
    is_foreign: bool = False

    @property
    def expires_at(self) -> datetime:
        """Until when it is kept."""
        return self.at + KEPT_FOR

    def is_own(self, person: str | None) -> bool:
        """Tell whether somebody asked this themselves; None = the operator."""
        return self.asker == person and not self.is_foreign


class TraceStore:
    """Keeps traces for 30 days."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, trace: Trace) -> None:
        """Keep a trace, replacing one with the same id.

        Raises:
            ValueError: The payload carries text of passages.
        """
        _refuse_text(trace.payload)
        values = {
            "at": trace.at,
            "asker": trace.asker,
            "place": trace.place,
            "question": mask_credentials(trace.question, MASK),
            "outcome": trace.outcome,
            "payload": _mask_notes(dict(trace.payload)),
            "expires_at": trace.expires_at,
            "route": trace.route,
            "took_ms": trace.took_ms,
            "tokens": trace.tokens,
            "cost": trace.cost,
            "replay_of": trace.replay_of,
            "is_foreign": trace.is_foreign,
        }

        def save(connection: Connection) -> None:
            statement = insert_into(connection, traces).values(trace_id=trace.trace_id, **values)
            connection.execute(
                statement.on_conflict_do_update(index_elements=["trace_id"], set_=values)
            )

        await self._database.write(save)

    async def get(self, trace_id: str) -> Trace:
        """Return a trace.

        Raises:
            SettingsError: There is none by that id, or it is too old.
        """
        query = select(traces).where(traces.c.trace_id == trace_id)

        def load(connection: Connection) -> Trace | None:
            row = connection.execute(query).mappings().one_or_none()
            return None if row is None else build_trace(row)

        trace = await self._database.read(load)
        if trace is None:
            raise describe_missing(trace_id)
        return trace

    async def list_recent(self, *, limit: int = 20, asker: str | None = None) -> list[Trace]:
        """Return the latest traces, newest first; `asker` = only that person's."""
        query = select(traces).order_by(traces.c.at.desc(), traces.c.trace_id).limit(limit)
        if asker is not None:
            query = query.where(traces.c.asker == asker, ~traces.c.is_foreign)

        def load(connection: Connection) -> list[Trace]:
            return [build_trace(row) for row in connection.execute(query).mappings()]

        return await self._database.read(load)

    async def forget_passages(self, ids: Sequence[PassageId]) -> int:
        """Delete every trace that names one of the passages; returns how many."""
        gone = frozenset(ids)

        def forget(connection: Connection) -> int:
            rows = connection.execute(select(traces.c.trace_id, traces.c.payload))
            found = [row.trace_id for row in rows if _names_any(row.payload, gone)]
            delete_where_in(connection, traces.c.trace_id, found)
            return len(found)

        return await self._database.write(forget) if gone else 0

    async def purge(self, now: datetime) -> int:
        """Delete what is older than it may be; returns how many."""
        expired = delete(traces).where(traces.c.expires_at <= now)
        return await self._database.write(lambda connection: connection.execute(expired).rowcount)


def describe_missing(trace_id: str) -> SettingsError:
    """Say that there is no such trace."""
    return SettingsError(
        f"there is no trace {trace_id!r}; traces are kept for {KEPT_FOR.days} days"
    )


def _refuse_text(value: JsonValue | Mapping[str, JsonValue]) -> None:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            if key in _TEXT_KEYS:
                raise ValueError(f"a trace must not carry {key!r}; give the passage's id instead")
            _refuse_text(entry)
    elif isinstance(value, list):
        for entry in value:
            _refuse_text(entry)


def _mask_notes(value: JsonValue) -> JsonValue:
    """Mask what is said in words; ids and figures stay."""
    if isinstance(value, dict):
        return {
            key: mask_credentials(entry, MASK)
            if key == "note" and isinstance(entry, str)
            else entry
            if key == "rows"
            else _mask_notes(entry)
            for key, entry in value.items()
        }
    if isinstance(value, list):
        return [_mask_notes(entry) for entry in value]
    return value


def _names_any(value: JsonValue, ids: Set[str]) -> bool:
    if isinstance(value, str):
        return value in ids
    if isinstance(value, dict):
        return any(_names_any(entry, ids) for entry in value.values())
    return isinstance(value, list) and any(_names_any(entry, ids) for entry in value)


def build_trace(row: RowMapping) -> Trace:
    """Build a trace from its row."""
    return Trace(
        trace_id=row["trace_id"],
        at=row["at"],
        asker=row["asker"],
        place=row["place"],
        question=row["question"],
        outcome=row["outcome"],
        payload=row["payload"],
        route=row["route"],
        took_ms=row["took_ms"],
        tokens=row["tokens"],
        cost=row["cost"],
        replay_of=row["replay_of"],
        is_foreign=row["is_foreign"],
    )

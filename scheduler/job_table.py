"""The table of scheduled jobs."""

from sqlalchemy import Boolean, Column, Integer, String, Table

from core.tables import UtcDateTime, metadata

jobs = Table(
    "jobs",
    metadata,
    Column("source", String(64), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("is_paused", Boolean, nullable=False),
    Column("requested_at", UtcDateTime),
    Column("next_run_at", UtcDateTime),
    Column("last_started_at", UtcDateTime),
    Column("failures_in_a_row", Integer, nullable=False),
)

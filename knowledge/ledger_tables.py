"""Tables of the ledger: documents and their index rows, word statistics, and what is under way."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    text,
)

from core.tables import UtcDateTime, metadata

documents = Table(
    "documents",
    metadata,
    Column("document_id", Text, primary_key=True),
    Column("source", String(64), nullable=False),
    Column("scope", Text, nullable=False),
    Column("locator", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("space", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("labels", JSON, nullable=False),
    Column("breadcrumbs", JSON, nullable=False),
    Column("token", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("access_no", Integer, nullable=False),
    Column("access_id", String(32), nullable=False),
    Column("version_number", Integer, nullable=False),
    Column("version_label", Text, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Column("first_seen_at", UtcDateTime, nullable=False),
    Column("checked_at", UtcDateTime, nullable=False),
    Column("held_since", UtcDateTime),
    Column("notes", JSON, nullable=False),
    Index(None, "source", "scope"),
)

versions = Table(
    "versions",
    metadata,
    Column(
        "document_id", ForeignKey(documents.c.document_id, ondelete="CASCADE"), primary_key=True
    ),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", UtcDateTime, nullable=False),
    Column("author", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("title", Text, nullable=False),
)

index_rows = Table(
    "index_rows",
    metadata,
    Column("passage_id", String(64), primary_key=True),
    Column(
        "document_id",
        ForeignKey(documents.c.document_id, ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("key", Text, nullable=False),
    Column("level", String(16), nullable=False),
    Column("section_id", String(64), nullable=False),
    Column("access_no", Integer, nullable=False),
    Column("included_from", Text),
    Column("valid_from", UtcDateTime, nullable=False),
    Column("valid_to", UtcDateTime),
    Index(
        None,
        "included_from",
        sqlite_where=text("included_from IS NOT NULL"),
        postgresql_where=text("included_from IS NOT NULL"),
    ),
)

links = Table(
    "links",
    metadata,
    Column(
        "document_id", ForeignKey(documents.c.document_id, ondelete="CASCADE"), primary_key=True
    ),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("target", Text, nullable=False),
    Column("text", Text, nullable=False),
)

term_statistics = Table(
    "term_statistics",
    metadata,
    Column("term", Text, primary_key=True),
    Column("document_frequency", Integer, nullable=False),
    sqlite_with_rowid=False,
)

# One row.
index_statistics = Table(
    "index_statistics",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("rows", BigInteger, nullable=False),
    Column("total_length", BigInteger, nullable=False),
)

intents = Table(
    "intents",
    metadata,
    Column("passage_id", String(64), primary_key=True),
    sqlite_with_rowid=False,
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("operation", String(32), nullable=False),
    Column("payload", JSON, nullable=False),
    sqlite_autoincrement=True,
)

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source", String(64), nullable=False, index=True),
    Column("started_at", UtcDateTime, nullable=False),
    Column("ended_at", UtcDateTime),
    Column("status", String(16), nullable=False),
    Column("counts", JSON, nullable=False),
    Column("error", Text, nullable=False),
    Column("kind", String(16), nullable=False, server_default="sync"),
    Column("started_by", String(16), nullable=False, server_default="person"),
    sqlite_autoincrement=True,
)

completeness = Table(
    "completeness",
    metadata,
    Column("run_id", ForeignKey(runs.c.id, ondelete="CASCADE"), primary_key=True),
    Column("scope", Text, primary_key=True),
    Column("source", String(64), nullable=False, index=True),
    Column("at", UtcDateTime, nullable=False),
    Column("source_count", Integer, nullable=False),
    Column("index_count", Integer, nullable=False),
    Column("missing", JSON, nullable=False),
    Column("extra", JSON, nullable=False),
    Column("rows_owed", Integer, nullable=False),
)

# Number 0 stands for the whole page.
forgotten_versions = Table(
    "forgotten_versions",
    metadata,
    Column("document_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", UtcDateTime, nullable=False),
    Column("forgotten_at", UtcDateTime, nullable=False),
    Column("state", Text, nullable=False, server_default=""),
)

cursors = Table(
    "cursors",
    metadata,
    Column("source", String(64), primary_key=True),
    Column("cursor", Text, nullable=False),
    Column("listing_since", UtcDateTime),
)

failures = Table(
    "failures",
    metadata,
    Column("document_id", Text, primary_key=True),
    Column("source", String(64), nullable=False, index=True),
    Column("scope", Text, nullable=False),
    Column("locator", Text, nullable=False),
    Column("token", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("is_permanent", Boolean, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("first_at", UtcDateTime, nullable=False),
    Column("last_at", UtcDateTime, nullable=False),
    Column("next_try_at", UtcDateTime),
)

holds = Table(
    "holds",
    metadata,
    Column("source", String(64), primary_key=True),
    Column("scope", Text, primary_key=True),
    Column("raised_at", UtcDateTime, nullable=False),
    Column("missing", JSON, nullable=False),
    Column("reason", Text, nullable=False),
    Column("accepted_at", UtcDateTime),
)

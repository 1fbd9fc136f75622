"""Tables of the inbox: events that were seen, questions that were accepted, feedback."""

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    false,
)
from sqlalchemy import UniqueConstraint as Unique

from core.tables import UtcDateTime, metadata

chat_events = Table(
    "chat_events",
    metadata,
    Column("platform", String(32), primary_key=True),
    Column("event_id", String(255), primary_key=True),
    Column("at", UtcDateTime, nullable=False, index=True),
)

chat_questions = Table(
    "chat_questions",
    metadata,
    Column("question_id", String(32), primary_key=True),
    Column("platform", String(32), nullable=False),
    Column("channel", String(64), nullable=False),
    Column("ts", String(64), nullable=False),
    Column("thread", String(64), nullable=False),
    Column("account", String(64), nullable=False),
    Column("is_direct", Boolean, nullable=False),
    Column("text", Text, nullable=False),
    Column("accepted_at", UtcDateTime, nullable=False, index=True),
    Column("state", String(16), nullable=False, index=True),
    Column("owner", String(255), nullable=False),
    Column("owned_until", UtcDateTime, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("posts", JSON, nullable=False),
    Column("stream", String(64), nullable=False, server_default=""),
    Column("starts_at", UtcDateTime, nullable=True),
    Column("is_over_limit", Boolean, nullable=False, server_default=false()),
    Column("origin", JSON, nullable=True),
    Column("revision", Integer, nullable=False, server_default="0"),
    Column("is_withdrawn", Boolean, nullable=False, server_default=false()),
    Column("is_refreshed", Boolean, nullable=False, server_default=false()),
    Column("outcome", String(32), nullable=False),
    Column("trace_id", String(64), nullable=False, index=True),
    Column("passages", JSON, nullable=False),
    Column("failure", Text, nullable=False, server_default=""),
    Unique("platform", "channel", "ts"),
    Index(None, "platform", "channel", "thread"),
)

chat_slots = Table(
    "chat_slots",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("platform", String(32), nullable=False),
    Column("account", String(64), nullable=False, index=True),
    Column("channel", String(64), nullable=False, index=True),
    Column("starts_at", UtcDateTime, nullable=False, index=True),
)

chat_feedback = Table(
    "chat_feedback",
    metadata,
    Column(
        "question_id", ForeignKey(chat_questions.c.question_id, ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("account", String(64), primary_key=True),
    Column("is_solved", Boolean, nullable=False),
    Column("correction", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
)  # fmt: skip

chat_help_requests = Table(
    "chat_help_requests",
    metadata,
    Column(
        "question_id", ForeignKey(chat_questions.c.question_id, ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("account", String(64), nullable=False),
    Column("called", JSON, nullable=False),
    Column("posts", JSON, nullable=False),
    Column("is_posted", Boolean, nullable=False, index=True),
    Column("resolved_by", String(64), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("owned_until", UtcDateTime, nullable=False),
)  # fmt: skip

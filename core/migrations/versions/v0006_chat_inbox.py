"""Questions from chats, the events they came by, and what people thought of the answers."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "chat_events",
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("event_id", sa.String(length=255), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("platform", "event_id", name="pk_chat_events"),
    )
    op.create_index("ix_chat_events_at", "chat_events", ["at"])
    op.create_table(
        "chat_questions",
        sa.Column("question_id", sa.String(length=32), nullable=False),
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("channel", sa.String(length=64), nullable=False),
        sa.Column("ts", sa.String(length=64), nullable=False),
        sa.Column("thread", sa.String(length=64), nullable=False),
        sa.Column("account", sa.String(length=64), nullable=False),
        sa.Column("is_direct", sa.Boolean(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("accepted_at", _MOMENT, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("owner", sa.String(length=255), nullable=False),
        sa.Column("owned_until", _MOMENT, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("posts", sa.JSON(), nullable=False),
        sa.Column("outcome", sa.String(length=32), nullable=False),
        sa.Column("trace_id", sa.String(length=64), nullable=False),
        sa.Column("passages", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("question_id", name="pk_chat_questions"),
        sa.UniqueConstraint(
            "platform", "channel", "ts", name="uq_chat_questions_platform_channel_ts"
        ),
    )
    op.create_index(
        "ix_chat_questions_platform_channel_thread",
        "chat_questions",
        ["platform", "channel", "thread"],
    )
    op.create_index("ix_chat_questions_state", "chat_questions", ["state"])
    op.create_index("ix_chat_questions_accepted_at", "chat_questions", ["accepted_at"])
    op.create_table(
        "chat_feedback",
        sa.Column("question_id", sa.String(length=32), nullable=False),
        sa.Column("account", sa.String(length=64), nullable=False),
        sa.Column("is_solved", sa.Boolean(), nullable=False),
        sa.Column("correction", sa.Text(), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["chat_questions.question_id"],
            name="fk_chat_feedback_question_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("question_id", "account", name="pk_chat_feedback"),
    )

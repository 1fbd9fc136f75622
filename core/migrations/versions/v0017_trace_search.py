"""What traces are looked for by, and who may look at them in a browser."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column(
        "traces", sa.Column("route", sa.String(length=32), nullable=False, server_default="")
    )
    op.add_column("traces", sa.Column("took_ms", sa.Float(), nullable=False, server_default="0"))
    op.add_column("traces", sa.Column("tokens", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("traces", sa.Column("cost", sa.Float(), nullable=False, server_default="0"))
    op.add_column(
        "traces", sa.Column("replay_of", sa.String(length=64), nullable=False, server_default="")
    )
    op.add_column(
        "traces", sa.Column("is_foreign", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.create_index("ix_traces_asker_at", "traces", ["asker", "at"])
    op.create_index("ix_chat_questions_trace_id", "chat_questions", ["trace_id"])
    op.create_table(
        "admin_keys",
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("person", sa.String(length=255), nullable=False),
        sa.Column("is_operator", sa.Boolean(), nullable=False),
        sa.Column("came_by", sa.String(length=64), nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("key_hash", name="pk_admin_keys"),
    )
    op.create_index("ix_admin_keys_came_by", "admin_keys", ["came_by"])
    op.create_index("ix_admin_keys_expires_at", "admin_keys", ["expires_at"])

"""The turns of conversations, and which index is in use."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "turns",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("thread", sa.String(length=255), nullable=False),
        sa.Column("person", sa.String(length=255), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("passages", sa.JSON(), nullable=False),
        sa.Column("is_private", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_turns"),
    )
    op.create_index("ix_turns_thread_person", "turns", ["thread", "person"])
    op.create_table(
        "active_index",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("embedder", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("analysis", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_active_index"),
    )

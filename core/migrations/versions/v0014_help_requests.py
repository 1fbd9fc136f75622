"""Questions that people were asked to help with."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "chat_help_requests",
        sa.Column("question_id", sa.String(length=32), nullable=False),
        sa.Column("account", sa.String(length=64), nullable=False),
        sa.Column("called", sa.JSON(), nullable=False),
        sa.Column("posts", sa.JSON(), nullable=False),
        sa.Column("resolved_by", sa.String(length=64), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("owned_until", _MOMENT, nullable=False),
        sa.Column("is_posted", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["chat_questions.question_id"],
            name="fk_chat_help_requests_question_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("question_id", name="pk_chat_help_requests"),
    )
    op.create_index("ix_chat_help_requests_is_posted", "chat_help_requests", ["is_posted"])

"""When questions may begin, so that all processes keep to the same limits."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    # Questions that are there already may begin at once.
    op.add_column("chat_questions", sa.Column("starts_at", _MOMENT, nullable=True))
    op.add_column(
        "chat_questions",
        sa.Column("is_over_limit", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.create_table(
        "chat_slots",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("account", sa.String(length=64), nullable=False),
        sa.Column("channel", sa.String(length=64), nullable=False),
        sa.Column("starts_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_chat_slots"),
    )
    op.create_index("ix_chat_slots_account", "chat_slots", ["account"])
    op.create_index("ix_chat_slots_channel", "chat_slots", ["channel"])
    op.create_index("ix_chat_slots_starts_at", "chat_slots", ["starts_at"])

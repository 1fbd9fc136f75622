"""Older turns of a conversation in short, among the turns."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "turns",
        sa.Column("is_summary", sa.Boolean(), nullable=False, server_default=sa.false()),
    )

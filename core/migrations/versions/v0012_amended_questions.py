"""Questions that were edited or deleted after they were put."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "chat_questions", sa.Column("revision", sa.Integer(), nullable=False, server_default="0")
    )
    for name in ("is_withdrawn", "is_refreshed"):
        op.add_column(
            "chat_questions",
            sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false()),
        )

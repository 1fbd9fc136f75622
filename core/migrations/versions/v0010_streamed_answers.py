"""The message a question's answer is being written into, so that none is left half written."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "chat_questions",
        sa.Column("stream", sa.String(length=64), nullable=False, server_default=""),
    )

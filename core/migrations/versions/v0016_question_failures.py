"""Why a chat's question could not be answered, for whoever operates the assistant."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "chat_questions", sa.Column("failure", sa.Text(), nullable=False, server_default="")
    )

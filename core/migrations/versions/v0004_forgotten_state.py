"""In which state a page was forgotten, so that a later one is told from it."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "forgotten_versions",
        sa.Column("state", sa.Text(), nullable=False, server_default=""),
    )

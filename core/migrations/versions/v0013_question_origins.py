"""Questions that were put in a form, and where it was opened."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("chat_questions", sa.Column("origin", sa.JSON(), nullable=True))

"""When the members of each group were last confirmed by their source."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "group_checks",
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("group_id", sa.String(length=255), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["source", "group_id"],
            ["directory_groups.source", "directory_groups.group_id"],
            name="fk_group_checks_source",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source", "group_id", name="pk_group_checks"),
    )

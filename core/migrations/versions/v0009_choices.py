"""What people and channels have chosen for themselves."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "person_choices",
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("account", sa.String(length=64), nullable=False),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.PrimaryKeyConstraint("platform", "account", name="pk_person_choices"),
    )
    op.create_table(
        "channel_choices",
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("channel", sa.String(length=64), nullable=False),
        sa.Column("bases", sa.JSON(), nullable=False),
        sa.Column("reply_mode", sa.String(length=16), nullable=False),
        sa.Column("has_private_answers", sa.Boolean(), nullable=False),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.Column("people_to_call", sa.JSON(), nullable=False),
        sa.Column("changed_by", sa.String(length=255), nullable=False),
        sa.PrimaryKeyConstraint("platform", "channel", name="pk_channel_choices"),
    )

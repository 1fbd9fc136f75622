"""The messages in which actions are shown, and who does an action."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    for column in (
        sa.Column("version", sa.Integer(), nullable=False, server_default="1"),
        sa.Column("runs", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("runner", sa.String(length=255), nullable=False, server_default=""),
        sa.Column("run_until", _MOMENT),
    ):
        op.add_column("pending_actions", column)
    op.create_table(
        "action_cards",
        sa.Column("card_id", sa.String(length=64), nullable=False),
        sa.Column("action_id", sa.String(length=64), nullable=False),
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("account", sa.String(length=64), nullable=False),
        sa.Column("channel", sa.String(length=64), nullable=False),
        sa.Column("thread", sa.String(length=64), nullable=False),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.Column("posts", sa.JSON(), nullable=False),
        sa.Column("shown_version", sa.Integer(), nullable=False),
        sa.Column("is_lost", sa.Boolean(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(length=255), nullable=False),
        sa.Column("owned_until", _MOMENT),
        sa.ForeignKeyConstraint(
            ["action_id"],
            ["pending_actions.action_id"],
            name="fk_action_cards_action_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("card_id", name="pk_action_cards"),
    )
    op.create_index("ix_action_cards_action_id", "action_cards", ["action_id"])

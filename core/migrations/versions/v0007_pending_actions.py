"""Actions that wait for a person's consent, and the audit log."""

import sqlalchemy as sa
from alembic import op

from core.tables import UtcDateTime

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pending_actions",
        sa.Column("action_id", sa.String(64), primary_key=True),
        sa.Column("skill", sa.String(255), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("parameters_hash", sa.String(64), nullable=False),
        sa.Column("skill_hash", sa.String(64), nullable=False),
        sa.Column("asker", sa.String(255), nullable=False),
        sa.Column("place", sa.String(255), nullable=False),
        sa.Column("deciders", sa.JSON(), nullable=False),
        sa.Column("nonce", sa.String(64), nullable=False),
        sa.Column("idempotency_key", sa.String(64), nullable=False),
        sa.Column("from_pages", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("decided_by", sa.String(255), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.UniqueConstraint("idempotency_key", name="uq_pending_actions_idempotency_key"),
    )
    for column in ("asker", "expires_at", "state"):
        op.create_index(f"ix_pending_actions_{column}", "pending_actions", [column])
    op.create_table(
        "audit_entries",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("event", sa.String(64), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("seal", sa.String(64), nullable=False),
        sa.UniqueConstraint("previous", name="uq_audit_entries_previous"),
    )

"""Leases, scheduled jobs, kinds of runs, completeness, and what was forgotten."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "leases",
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("owner", sa.String(length=255), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("acquired_at", _MOMENT, nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_leases"),
    )
    op.create_table(
        "jobs",
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("is_paused", sa.Boolean(), nullable=False),
        sa.Column("requested_at", _MOMENT, nullable=True),
        sa.Column("next_run_at", _MOMENT, nullable=True),
        sa.Column("last_started_at", _MOMENT, nullable=True),
        sa.Column("failures_in_a_row", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("source", "kind", name="pk_jobs"),
    )
    # Runs that are there already were started by a person on the command line.
    op.add_column(
        "runs",
        sa.Column("kind", sa.String(length=16), nullable=False, server_default="sync"),
    )
    op.add_column(
        "runs",
        sa.Column("started_by", sa.String(length=16), nullable=False, server_default="person"),
    )
    op.add_column("cursors", sa.Column("listing_since", _MOMENT, nullable=True))
    op.create_table(
        "completeness",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("source_count", sa.Integer(), nullable=False),
        sa.Column("index_count", sa.Integer(), nullable=False),
        sa.Column("missing", sa.JSON(), nullable=False),
        sa.Column("extra", sa.JSON(), nullable=False),
        sa.Column("rows_owed", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name="fk_completeness_run_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "scope", name="pk_completeness"),
    )
    op.create_index("ix_completeness_source", "completeness", ["source"])
    op.create_table(
        "forgotten_versions",
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("forgotten_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("document_id", "number", name="pk_forgotten_versions"),
    )

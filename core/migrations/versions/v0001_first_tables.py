"""The first tables: directory, access classes, ledger, runs and traces."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "counters",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_counters"),
    )
    _create_directory()
    _create_access()
    _create_documents()
    _create_index_state()
    _create_runs()
    _create_traces()


def _create_directory() -> None:
    op.create_table(
        "people",
        sa.Column("person_id", sa.String(length=255), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_en", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("department", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("manager", sa.String(length=255), nullable=True),
        sa.Column("employment", sa.String(length=16), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("person_id", name="pk_people"),
    )
    op.create_table(
        "identities",
        sa.Column("system", sa.String(length=64), nullable=False),
        sa.Column("native_id", sa.String(length=255), nullable=False),
        sa.Column("person_id", sa.String(length=255), nullable=False),
        sa.Column("verified_email", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"], ["people.person_id"], name="fk_identities_person_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("system", "native_id", name="pk_identities"),
    )
    op.create_index("ix_identities_person_id", "identities", ["person_id"])
    op.create_table(
        "directory_groups",
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("group_id", sa.String(length=255), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("source", "group_id", name="pk_directory_groups"),
    )
    op.create_table(
        "group_members",
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("group_id", sa.String(length=255), nullable=False),
        sa.Column("person_id", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["people.person_id"],
            name="fk_group_members_person_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["source", "group_id"],
            ["directory_groups.source", "directory_groups.group_id"],
            name="fk_group_members_source_group_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source", "group_id", "person_id", name="pk_group_members"),
    )
    op.create_index("ix_group_members_person_id", "group_members", ["person_id"])
    op.create_table(
        "channels",
        sa.Column("channel_id", sa.String(length=255), nullable=False),
        sa.Column("platform", sa.String(length=64), nullable=False),
        sa.Column("native_id", sa.String(length=255), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("visibility", sa.String(length=16), nullable=False),
        sa.Column("has_external_member", sa.Boolean(), nullable=False),
        sa.Column("is_membership_known", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("channel_id", name="pk_channels"),
        sa.UniqueConstraint("platform", "native_id", name="uq_channels_platform_native_id"),
    )
    op.create_table(
        "channel_members",
        sa.Column("channel_id", sa.String(length=255), nullable=False),
        sa.Column("person_id", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(
            ["channel_id"],
            ["channels.channel_id"],
            name="fk_channel_members_channel_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["people.person_id"],
            name="fk_channel_members_person_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("channel_id", "person_id", name="pk_channel_members"),
    )
    op.create_index("ix_channel_members_person_id", "channel_members", ["person_id"])


def _create_access() -> None:
    op.create_table(
        "access_classes",
        sa.Column("access_no", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("access_id", sa.String(length=32), nullable=False),
        sa.Column("rule", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("access_no", name="pk_access_classes"),
        sa.UniqueConstraint("access_id", name="uq_access_classes_access_id"),
    )


def _create_documents() -> None:
    op.create_table(
        "documents",
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("locator", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("space", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("breadcrumbs", sa.JSON(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("access_no", sa.Integer(), nullable=False),
        sa.Column("access_id", sa.String(length=32), nullable=False),
        sa.Column("version_number", sa.Integer(), nullable=False),
        sa.Column("version_label", sa.Text(), nullable=False),
        sa.Column("updated_at", _MOMENT, nullable=False),
        sa.Column("first_seen_at", _MOMENT, nullable=False),
        sa.Column("checked_at", _MOMENT, nullable=False),
        sa.Column("held_since", _MOMENT, nullable=True),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("document_id", name="pk_documents"),
    )
    op.create_index("ix_documents_source_scope", "documents", ["source", "scope"])
    op.create_table(
        "versions",
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.document_id"],
            name="fk_versions_document_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("document_id", "number", name="pk_versions"),
    )
    op.create_table(
        "index_rows",
        sa.Column("passage_id", sa.String(length=64), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("level", sa.String(length=16), nullable=False),
        sa.Column("section_id", sa.String(length=64), nullable=False),
        sa.Column("access_no", sa.Integer(), nullable=False),
        sa.Column("included_from", sa.Text(), nullable=True),
        sa.Column("valid_from", _MOMENT, nullable=False),
        sa.Column("valid_to", _MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.document_id"],
            name="fk_index_rows_document_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("passage_id", name="pk_index_rows"),
    )
    op.create_index("ix_index_rows_document_id", "index_rows", ["document_id"])
    op.create_index(
        "ix_index_rows_included_from",
        "index_rows",
        ["included_from"],
        sqlite_where=sa.text("included_from IS NOT NULL"),
        postgresql_where=sa.text("included_from IS NOT NULL"),
    )
    op.create_table(
        "links",
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.document_id"],
            name="fk_links_document_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("document_id", "position", name="pk_links"),
    )


def _create_index_state() -> None:
    op.create_table(
        "term_statistics",
        sa.Column("term", sa.Text(), nullable=False),
        sa.Column("document_frequency", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("term", name="pk_term_statistics"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "index_statistics",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("total_length", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_index_statistics"),
    )
    op.create_table(
        "intents",
        sa.Column("passage_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("passage_id", name="pk_intents"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("operation", sa.String(length=32), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sqlite_autoincrement=True,
    )


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("started_at", _MOMENT, nullable=False),
        sa.Column("ended_at", _MOMENT, nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_runs_source", "runs", ["source"])
    op.create_table(
        "cursors",
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("cursor", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("source", name="pk_cursors"),
    )
    op.create_table(
        "failures",
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("locator", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("is_permanent", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("first_at", _MOMENT, nullable=False),
        sa.Column("last_at", _MOMENT, nullable=False),
        sa.Column("next_try_at", _MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("document_id", name="pk_failures"),
    )
    op.create_index("ix_failures_source", "failures", ["source"])
    op.create_table(
        "holds",
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("raised_at", _MOMENT, nullable=False),
        sa.Column("missing", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("accepted_at", _MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("source", "scope", name="pk_holds"),
    )


def _create_traces() -> None:
    op.create_table(
        "traces",
        sa.Column("trace_id", sa.String(length=64), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("asker", sa.String(length=255), nullable=True),
        sa.Column("place", sa.String(length=255), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(length=32), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("trace_id", name="pk_traces"),
    )
    op.create_index("ix_traces_at", "traces", ["at"])
    op.create_index("ix_traces_expires_at", "traces", ["expires_at"])

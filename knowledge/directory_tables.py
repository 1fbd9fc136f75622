"""Tables of the directory: people, their identities, groups and channels."""

from sqlalchemy import Boolean, Column, ForeignKey, ForeignKeyConstraint, String, Table, Text
from sqlalchemy import UniqueConstraint as Unique

from core.tables import UtcDateTime, metadata

people = Table(
    "people",
    metadata,
    Column("person_id", String(255), primary_key=True),
    Column("name", Text, nullable=False),
    Column("name_en", Text, nullable=False),
    Column("email", Text, nullable=False),
    Column("department", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("manager", String(255)),
    Column("employment", String(16), nullable=False),
    Column("is_active", Boolean, nullable=False),
)

identities = Table(
    "identities",
    metadata,
    Column("system", String(64), primary_key=True),
    Column("native_id", String(255), primary_key=True),
    Column(
        "person_id",
        ForeignKey(people.c.person_id, ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("verified_email", Text, nullable=False),
)

groups = Table(
    "directory_groups",
    metadata,
    Column("source", String(64), primary_key=True),
    Column("group_id", String(255), primary_key=True),
    Column("name", Text, nullable=False),
)

group_members = Table(
    "group_members",
    metadata,
    Column("source", String(64), primary_key=True),
    Column("group_id", String(255), primary_key=True),
    Column(
        "person_id",
        ForeignKey(people.c.person_id, ondelete="CASCADE"),
        primary_key=True,
        index=True,
    ),
    ForeignKeyConstraint(
        ["source", "group_id"],
        ["directory_groups.source", "directory_groups.group_id"],
        ondelete="CASCADE",
    ),
)

group_checks = Table(
    "group_checks",
    metadata,
    Column("source", String(64), primary_key=True),
    Column("group_id", String(255), primary_key=True),
    Column("checked_at", UtcDateTime, nullable=False),
    ForeignKeyConstraint(
        ["source", "group_id"],
        ["directory_groups.source", "directory_groups.group_id"],
        ondelete="CASCADE",
    ),
)

channels = Table(
    "channels",
    metadata,
    Column("channel_id", String(255), primary_key=True),
    Column("platform", String(64), nullable=False),
    Column("native_id", String(255), nullable=False),
    Column("name", Text, nullable=False),
    Column("visibility", String(16), nullable=False),
    Column("has_external_member", Boolean, nullable=False),
    Column("is_membership_known", Boolean, nullable=False),
    Unique("platform", "native_id"),
)

channel_members = Table(
    "channel_members",
    metadata,
    Column("channel_id", ForeignKey(channels.c.channel_id, ondelete="CASCADE"), primary_key=True),
    Column(
        "person_id",
        ForeignKey(people.c.person_id, ondelete="CASCADE"),
        primary_key=True,
        index=True,
    ),
)

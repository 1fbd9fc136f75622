"""The tables of choices, one row a person and one a channel that has made any."""

from sqlalchemy import JSON, Boolean, Column, String, Table

from core.tables import metadata

person_choices = Table(
    "person_choices",
    metadata,
    Column("platform", String(32), primary_key=True),
    Column("account", String(64), primary_key=True),
    Column("language", String(8), nullable=False),
)

channel_choices = Table(
    "channel_choices",
    metadata,
    Column("platform", String(32), primary_key=True),
    Column("channel", String(64), primary_key=True),
    Column("bases", JSON, nullable=False),
    Column("reply_mode", String(16), nullable=False),
    Column("has_private_answers", Boolean, nullable=False),
    Column("language", String(8), nullable=False),
    Column("people_to_call", JSON, nullable=False),
    Column("changed_by", String(255), nullable=False),
)

"""The table of access classes."""

from sqlalchemy import JSON, Column, Integer, String, Table

from core.tables import metadata

access_classes = Table(
    "access_classes",
    metadata,
    Column("access_no", Integer, primary_key=True, autoincrement=False),
    Column("access_id", String(32), nullable=False, unique=True),
    Column("rule", JSON, nullable=False),
)

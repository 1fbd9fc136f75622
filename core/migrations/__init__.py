"""How the tables of the state database came to be, one numbered step a change."""

from sqlalchemy import String, column, inspect, select, table
from sqlalchemy.engine import Connection

HEAD = "0017"
"""The last step."""


def is_current(connection: Connection) -> bool:
    """Tell whether the tables are those of this version."""
    return load_revisions(connection) == [HEAD]


def load_revisions(connection: Connection) -> list[str]:
    """Return the steps the database stands at; none for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return []
    version_num = column("version_num", String)
    revisions = select(version_num).select_from(table("alembic_version"))
    return list(connection.scalars(revisions))

"""Bringing a state database up to date."""

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.engine import Connection

from core.errors import SettingsError
from core.migrations import HEAD, load_revisions

# Any number, the same in every process: two of them must not migrate at once.
_LOCK_KEY = 7_405_211_866_310_045


def bring_up_to_date(connection: Connection) -> None:
    """Run the missing steps inside the connection's transaction, all or none.

    Raises:
        SettingsError: A newer version of Zhixing has written the database.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
    revisions = load_revisions(connection)
    if revisions == [HEAD]:
        return
    config = Config()
    config.set_main_option("script_location", "core:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    unknown = [revision for revision in revisions if revision not in known]
    if unknown:
        raise SettingsError(
            "a newer version of Zhixing has written the state database "
            f"(step {unknown[0]!r}, this version ends at {HEAD!r}); "
            "update Zhixing, or point `url` under [database] at another database"
        )
    command.upgrade(config, "head")

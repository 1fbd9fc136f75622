"""What has to be true of a SQLite file before connections to it are opened."""

import sqlite3
import time
from pathlib import Path

from core.errors import SettingsError

_PATIENCE_S = 10.0
_PAUSE_S = 0.05


def prepare_sqlite_file(path: str) -> None:
    """Make the file and its folder when missing and put it into write-ahead mode. Blocking.

    The mode is kept in the file. It is set here and not by each connection because changing it
    needs the file alone and, unlike other statements, does not wait for its turn.

    Raises:
        SettingsError: No file, not ours to write, not a database, or on a file system without
            shared memory.
    """
    if not path or path == ":memory:":
        raise SettingsError("the state database needs a file; write `url` as sqlite:///PATH")
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        mode = _enter_wal(path)
    except (sqlite3.OperationalError, OSError) as error:
        raise SettingsError(
            f"the state database {path!r} can't be opened: {error}; "
            "check that its folder exists and may be written"
        ) from error
    except sqlite3.DatabaseError as error:
        raise SettingsError(
            f"the state database {path!r} is damaged: {error}; "
            "restore it from a backup, or move it away to start with an empty one"
        ) from error
    if mode != "wal":
        raise SettingsError(
            f"the file system of {path!r} can't hold a write-ahead log; "
            "put the home folder on a local disk"
        )


def _enter_wal(path: str) -> str:
    connection = sqlite3.connect(path, isolation_level=None)
    deadline = time.monotonic() + _PATIENCE_S
    try:
        while True:
            try:
                return str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
            time.sleep(_PAUSE_S)
    finally:
        connection.close()

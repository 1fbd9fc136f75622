"""Home folders for a company's folder: settings that name its files and its words."""

import fcntl
import json
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import SettingsError
from core.settings import SETTINGS_FILE

FILES, WORDS = "files", "jargon.txt"
LOCK = "playground.lock"


@contextmanager
def hold_home(home: Path) -> Iterator[None]:
    """Keep other playgrounds out of a home folder for the length of a block.

    Two would take each other's questions from the one database, and answer them in the wrong chat.

    Raises:
        SettingsError: Another playground is at work there, or the folder can't be written.
    """
    path = home / LOCK
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = path.open("a", encoding="utf-8")
    except OSError as error:
        raise SettingsError(
            f"{str(path)!r} can't be written ({error.strerror}); choose another folder by --home"
        ) from error
    with lock:
        try:
            # The kernel lets go of it when we die. The file stays: another one would be no lock.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SettingsError(
                f"another playground is running in {str(home)!r}; stop it, or give this one a "
                "folder of its own: zhixing --home DIR playground"
            ) from error
        yield


def empty_home(home: Path, *, keep: Collection[str] = ()) -> None:
    """Delete what is in a home folder, but for files of these names."""
    for path in home.iterdir() if home.is_dir() else ():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in keep:
            path.unlink()


def write_settings(home: Path, folder: Path) -> None:
    """Name the company's own files and words in a settings file, unless there is one."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / SETTINGS_FILE
    if path.exists():
        return
    # JSON strings are TOML basic strings, whatever the path holds.
    lines = []
    if (folder / FILES).is_dir():
        lines.append(f"[sources.{FILES}]\npath = {json.dumps(str(folder / FILES))}\n")
    if (folder / WORDS).is_file():
        lines.append(f"[analysis]\nsynonyms = [{json.dumps(str(folder / WORDS))}]\n")
    path.write_text("\n".join(lines), encoding="utf-8")

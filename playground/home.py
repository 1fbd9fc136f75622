"""Home folders for a company's folder: settings that name its files and its words."""

import json
import shutil
from collections.abc import Collection
from pathlib import Path

from core.settings import SETTINGS_FILE

FILES, WORDS = "files", "jargon.txt"


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

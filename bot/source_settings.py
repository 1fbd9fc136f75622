"""Folders given on the command line become sources that are remembered in zhixing.toml."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.errors import SettingsError
from core.settings import SETTINGS_FILE, FilesSettings, Settings, SourceSettings

FALLBACK_NAME = "files"


def select_sources(settings: Settings, paths: Sequence[Path]) -> dict[str, SourceSettings]:
    """Return the sources to sync: all configured ones, or those of the given paths.

    A path that no source covers becomes a new source, named after its last part, and is added to
    zhixing.toml so that `zhixing sync` without arguments repeats it.

    Raises:
        SettingsError: A path does not exist, or there is nothing to sync.
    """
    if not paths:
        if not settings.sources:
            raise SettingsError(
                "nothing to sync: name a folder (`zhixing sync FOLDER`) or add "
                f"[sources.NAME] to {str(settings.home / SETTINGS_FILE)!r}"
            )
        return dict(settings.sources)
    chosen: dict[str, SourceSettings] = {}
    known = dict(settings.sources)
    for path in paths:
        full = path.expanduser().resolve()
        if not full.exists():
            raise SettingsError(f"{str(path)!r} does not exist; give a folder or a file to sync")
        name = _find_name(known, full)
        if name is None:
            name = _new_name(known, full)
            known[name] = FilesSettings(path=str(full))
            _remember(settings.home, name, full)
        chosen[name] = known[name]
    return chosen


def _find_name(sources: Mapping[str, SourceSettings], path: Path) -> str | None:
    for name, source in sources.items():
        if isinstance(source, FilesSettings) and Path(source.path).expanduser().resolve() == path:
            return name
    return None


def _new_name(sources: Mapping[str, SourceSettings], path: Path) -> str:
    folded = unicodedata.normalize("NFKC", path.stem if path.is_file() else path.name).casefold()
    base = re.sub(r"[^\w-]+", "-", folded).strip("-_") or FALLBACK_NAME
    name, count = base, 2
    while name in sources:
        name, count = f"{base}-{count}", count + 1
    return name


def _remember(home: Path, name: str, path: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    # JSON strings are TOML basic strings, whatever the path holds.
    table = (
        f"\n[sources.{json.dumps(name, ensure_ascii=False)}]\n"
        f'kind = "files"\npath = {json.dumps(str(path), ensure_ascii=False)}\n'
    )
    with (home / SETTINGS_FILE).open("a", encoding="utf-8") as file:
        file.write(table)
